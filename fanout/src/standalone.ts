import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRedisBus } from './bus/redis.js';
import type { NodeConfig } from './config.js';
import { createFanout, type Fanout, type Log } from './fanout.js';
import { registerFanoutMetrics } from './metrics.js';
import { MirroredKeys } from './mirrored-keys.js';
import { operations, processMetrics } from './operations.js';

/** A fan-out node that stands alone: no store, nothing on disk. */
export interface StandaloneNode {
  readonly port: number;
  readonly metricsPort: number | undefined;
  /** Drains and closes everything; resolves once no socket is left. */
  stop(): Promise<void>;
}

const PROBE_LIMIT_MS = 2000;

/** Starts a node, also where Redis cannot be reached yet: it refuses with 1013 until it can. */
export async function startNode(config: NodeConfig, log: Log): Promise<StandaloneNode> {
  const bus = await createRedisBus({ url: config.redisUrl, log, serves: true });
  const keys = new MirroredKeys({ url: config.redisUrl, log });
  await keys.start();
  const { maxLagMs, maxBufferedBytes, flushMs } = config;
  const fanout = createFanout({ bus, keys, log, maxLagMs, maxBufferedBytes, flushMs });
  const server = await listen(
    createServer((_request, response) => response.writeHead(404).end()),
    config.host,
    config.port,
  );
  server.on('upgrade', (request, socket, head) => upgrade(fanout, request, socket, head));
  let draining = false;
  /** Whether a subscriber would be served now: the bus brings a canary round, and keys can be checked. */
  const health = async () => {
    await Promise.all([bus.probe(PROBE_LIMIT_MS), keys.probe()]);
    if (draining) throw new Error('the node is going down');
  };
  const registry = processMetrics();
  registerFanoutMetrics(registry, fanout);
  const metrics =
    config.metricsPort === undefined
      ? undefined
      : await listen(operations(registry, health), config.host, config.metricsPort);
  return {
    port: portOf(server),
    metricsPort: metrics && portOf(metrics),
    stop: async () => {
      draining = true;
      await fanout.drain(config.drainMs);
      for (const it of [server, metrics]) it?.close();
      keys.close();
      await bus.close();
    },
  };
}

function upgrade(fanout: Fanout, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (request.url?.split('?')[0] === '/stream/subscribe') fanout.handleUpgrade(request, socket, head);
  else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
}

async function listen(server: Server, host: string, port: number): Promise<Server> {
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
