import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createCore } from '@device-insights/dsp-wasm';
import { createFanout, type Fanout } from '@device-insights/fanout';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import type { Logger } from 'pino';
import { Engine } from './analysis/engine.js';
import { ALGORITHMS } from './analysis/registry.js';
import { createAnalyses } from './analysis/session-analysis.js';
import { bootstrap } from './bootstrap.js';
import { type Clock, systemClock } from './clock.js';
import type { Config } from './config.js';
import { healthOf } from './health.js';
import { createIngest, type Ingest } from './ingest/ingest.js';
import { KeyRing } from './key-ring.js';
import { createPublisher } from './publisher/group-commit.js';
import { Pulse } from './pulse.js';
import { createRest } from './rest/rest.js';
import { openStore } from './store/open.js';

/** How long the bus may take to bring the health check's message round, ms. */
const BUS_ROUND = 1000;

/** A running service. */
export interface Service {
  /** REST base, such as `http://127.0.0.1:8080`; the sockets are on the same host and port. */
  readonly url: string;
  /** The key made at the first start of an embedded store, to be shown once. */
  readonly newKey: string | null;
  /** Drains: nothing new is accepted, what came in is stored and published, then all is closed. */
  stop(): Promise<void>;
}

/** Starts the whole service in this process: store, bus, signal core, ingest, REST and fan-out on one port. */
export async function startService(config: Config, log: Logger, clock: Clock = systemClock): Promise<Service> {
  const store = await openStore(config, clock);
  const newKey = await bootstrap(store, config.bootstrapApiKey, config.mongodbUri === null, clock.now());
  const bus = createMemoryBus();
  const keys = new KeyRing(store, clock);
  const publisher = createPublisher({ store, bus, clock, log });
  const engine = new Engine(await createCore({ maxSessions: config.maxSessions }), setImmediate);
  const gateway = randomUUID();
  const openAnalysis = createAnalyses(engine);
  const { sessionGraceMs: graceMs } = config;
  const ingest = createIngest({ store, keys, publisher, openAnalysis, clock, log, gateway, graceMs });
  const fanout = createFanout({ bus, keys, log });
  const pulse = new Pulse(
    [() => store.beat(gateway, clock.now()), () => keys.poll(), () => ingest.sweep()],
    clock,
    log,
  );

  let draining = false;
  const refuseWhenDraining = () => {
    if (draining) throw new Error('the service is going down');
  };
  const health = healthOf(
    async () => {
      refuseWhenDraining();
      ingest.check();
      await store.probe(clock.now());
    },
    async () => {
      refuseWhenDraining();
      await bus.probe(BUS_ROUND);
    },
    clock,
  );
  const rest = createRest({ store, keys, algorithms: ALGORITHMS, health, log, clock });
  const server = createServer(rest.callback());
  server.on('upgrade', upgrades(ingest, fanout));
  await pulse.start();
  await listen(server, config);

  return {
    url: addressOf(server, config.host),
    newKey,
    async stop() {
      draining = true;
      server.closeIdleConnections();
      await ingest.drain();
      await publisher.drain();
      await fanout.drain(config.drainMs);
      await close(server);
      await pulse.stop();
      await bus.close();
      await store.close();
    },
  };
}

/** Which part takes a socket. Other paths are no sockets of ours. */
function upgrades(ingest: Ingest, fanout: Fanout) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/stream/ingest') ingest.handleUpgrade(request, socket, head);
    else if (path === '/stream/subscribe') fanout.handleUpgrade(request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  };
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
