import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Bus } from './bus/bus.js';
import { createRedisBus } from './bus/redis.js';
import type { NodeConfig } from './config.js';
import { createFanout, type Fanout, type Log } from './fanout.js';
import { registerFanoutMetrics } from './metrics.js';
import { MirroredKeys } from './mirrored-keys.js';

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
  const server = await listen((_request, response) => response.writeHead(404).end(), config.host, config.port);
  server.on('upgrade', (request, socket, head) => upgrade(fanout, request, socket, head));
  let draining = false;
  const isHealthy = async () => !draining && (await serves(bus, keys)) && !draining;
  const metrics =
    config.metricsPort === undefined
      ? undefined
      : await listen(operations(fanout, isHealthy), config.host, config.metricsPort);
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

/** Whether a subscriber would be served now: the bus brings a canary round, and keys can be checked. */
async function serves(bus: Bus, keys: MirroredKeys): Promise<boolean> {
  return Promise.all([bus.probe(PROBE_LIMIT_MS), keys.probe()]).then(
    () => true,
    () => false,
  );
}

/** For operators and balancers: /metrics, and /healthz, which is 503 while draining and while nobody could be served. */
function operations(fanout: Fanout, isHealthy: () => Promise<boolean>): RequestListener {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerFanoutMetrics(registry, fanout);
  return (request, response) => {
    if (request.url === '/metrics') {
      void registry.metrics().then((text) => response.setHeader('Content-Type', registry.contentType).end(text));
    } else if (request.url === '/healthz') {
      void isHealthy().then((ok) => response.writeHead(ok ? 200 : 503).end(ok ? 'ok\n' : 'not ok\n'));
    } else {
      response.writeHead(404).end();
    }
  };
}

async function listen(handler: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer(handler);
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
