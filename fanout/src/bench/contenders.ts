import { fileURLToPath } from 'node:url';
import { freePort } from '../bus/redis/redis-server.fixture.js';
import { openPort, type Running, saidPort, startServer } from './processes.js';

/**
 * A server that can be measured: how it is started, and how the load generator's subscribers and publisher reach it.
 */
export interface Contender {
  readonly name: string;
  start(): Promise<Running>;
  /** The load generator's flags; subscribers are spread over the channels. */
  flags(port: number, channels: number): readonly string[];
}

/** The key for a channel's five digits. */
export const BENCH_KEY = `svc_${'0'.repeat(22)}`;
const REDIS_CHANNEL = 'di:live:00000';
const SERVER = fileURLToPath(new URL('server.js', import.meta.url));
const NODE = fileURLToPath(new URL('../main.js', import.meta.url));

const http = (scheme: string, port: number, path: string) => `${scheme}://127.0.0.1:${port}${path}`;
const subscriber = (port: number) => ['-url', http('ws', port, `/stream/subscribe?api_key=${BENCH_KEY}{c}`)];
const publisher = (port: number) => ['-pub-url', http('ws', port, '/pub')];
const READY = ['-ready', 'subscribed'];

/** A server of `server.ts`, which has its own input for published messages; `node` are flags of Node. */
export function ours(name: string, node: readonly string[] = []): Contender {
  return {
    name,
    start: () => startServer(process.execPath, [...node, SERVER, name], saidPort('')),
    flags: (port, channels) => [
      ...subscriber(port),
      ...READY,
      ...publisher(port),
      ...['-pub-prefix', '{c}', '-channels', `${channels}`],
    ],
  };
}

/** The minimum that a server can do; one channel. */
export function floor(loadgen: string): Contender {
  return {
    name: 'floor',
    start: () => startFloor(loadgen, []),
    flags: (port) => [...subscriber(port), ...publisher(port)],
  };
}

/** A stand-alone node as deployed, supplied by Redis as gateways supply it. */
export function standalone(redisUrl: string): Contender {
  const env = { REDIS_URL: redisUrl, METRICS_PORT: '', LOG_LEVEL: 'warn' };
  const envelope = ['-pub-prefix', '1 bench {seq} - [200]\n'];
  return {
    name: 'standalone',
    async start() {
      const port = await freePort();
      return startServer(process.execPath, [NODE], openPort(port), { ...env, PORT: `${port}` });
    },
    flags: (port) => [...subscriber(port), ...READY, ...redis(redisUrl), '-pub', 'spublish', ...envelope],
  };
}

export function floorFromRedis(loadgen: string, redisUrl: string): Contender {
  return {
    name: 'redis floor',
    start: () => startFloor(loadgen, ['-redis', new URL(redisUrl).host, '-channel', REDIS_CHANNEL]),
    flags: (port) => [...subscriber(port), ...redis(redisUrl), '-pub', 'redis'],
  };
}

function redis(url: string): string[] {
  return ['-pub-url', `tcp://${new URL(url).host}`, '-pub-channel', REDIS_CHANNEL];
}

/** With write(2), as Node writes. */
async function startFloor(loadgen: string, from: readonly string[]): Promise<Running> {
  const port = await freePort();
  return startServer(loadgen, ['floor', '-listen', `127.0.0.1:${port}`, '-write', ...from], openPort(port));
}
