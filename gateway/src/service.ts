import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createCore } from '@device-insights/dsp-wasm';
import type { Fanout } from '@device-insights/fanout';
import { operations, processMetrics } from '@device-insights/fanout/operations';
import type { Logger } from 'pino';
import { CoreLoad } from './analysis/core-load.js';
import { registerAnalysisMetrics } from './analysis/metrics.js';
import { ALGORITHMS } from './analysis/registry.js';
import { createAnalyses } from './analysis/session-analysis.js';
import { bootstrap } from './bootstrap.js';
import { type Clock, systemClock } from './clock.js';
import type { Config } from './config.js';
import { within } from './deadline.js';
import { assertHealthy, healthOf } from './health.js';
import { addressOf, close, listen } from './http-server.js';
import { createIngest, type Ingest } from './ingest/ingest.js';
import { KeyRing } from './key-ring.js';
import { openLiveFeed } from './live-feed.js';
import { createPublisher } from './publisher/group-commit.js';
import { Pulse } from './pulse.js';
import { refuseUnparsable } from './rest/client-error.js';
import { createRest } from './rest/rest.js';
import { SplitFeed } from './split-feed.js';
import { openStore } from './store/open.js';

/** A stop takes no longer than this, whatever does not answer, ms: whoever sends SIGTERM waits 10 s. */
const STOP_MS = 8000;
/** Of which this is left for the sockets and files once the store has had its chance, ms. */
const CLOSING_MS = 3000;
const GOING_DOWN = 'the service is going down';

/** A running service. */
export interface Service {
  /** REST base, such as `http://127.0.0.1:8080`; the sockets are on the same host and port. */
  readonly url: string;
  /** The key made at the first start of an embedded store, to be shown once. */
  readonly newKey: string | null;
  /** Where `/metrics` and `/healthz` are; null where they are not asked for. */
  readonly metricsUrl: string | null;
  /** Drains: nothing new is accepted, what came in is stored and published, then all is closed. */
  stop(): Promise<void>;
}

/** Starts the whole service in this process: store, bus, signal core, ingest, REST and fan-out on one port. */
export async function startService(config: Config, log: Logger, clock: Clock = systemClock): Promise<Service> {
  const gateway = randomUUID();
  const store = await openStore(config, clock);
  const newKey = await bootstrap(store, config.bootstrapApiKey, config.mongodbUri === null, clock.now());
  const keys = new KeyRing(store, clock, log);
  const registry = processMetrics();
  const feed = await openLiveFeed(config, store, keys, registry, log);
  const publisher = createPublisher({ store, bus: feed.bus, clock, log });
  const core = await createCore({ maxSessions: config.maxSessions });
  const load = new CoreLoad(core);
  registerAnalysisMetrics(registry, load);
  const openAnalysis = createAnalyses(load);
  const { sessionGraceMs: graceMs } = config;
  const ingest = createIngest({ store, keys, publisher, openAnalysis, clock, log, gateway, graceMs });
  const split = new SplitFeed(store, clock, gateway, (text) => log.error({}, text));
  const beat = () => store.beat(gateway, clock.now());
  const watch = feed.shared ? [] : [() => split.look()];
  const pulse = new Pulse([beat, () => keys.poll(), () => ingest.sweep(), ...watch], clock, log);

  let draining = false;
  const trial = healthOf(
    async () => {
      ingest.check();
      await store.probe(clock.now());
    },
    async () => {
      split.check();
      await feed.check();
    },
    clock,
  );
  const health = async () => (draining ? { ok: false, ingest: false, subscribe: false, reason: GOING_DOWN } : trial());
  const server = createServer(createRest({ store, keys, algorithms: ALGORITHMS, health, log, clock }).callback());
  server.on('clientError', refuseUnparsable);
  server.on('upgrade', upgrades(ingest, feed.fanout));
  const metrics = config.metricsPort === null ? null : operations(registry, async () => assertHealthy(await health()));
  await pulse.start();
  await listen(server, config.host, config.port);
  if (metrics) await listen(metrics, config.host, config.metricsPort ?? 0);

  return {
    url: addressOf(server, config.host),
    newKey,
    metricsUrl: metrics && addressOf(metrics, config.host),
    async stop() {
      draining = true;
      const end = clock.now() + STOP_MS;
      const left = (reserve: number) => Math.max(0, end - reserve - clock.now());
      server.closeIdleConnections();
      await ingest.drain();
      if (!(await within(left(CLOSING_MS), publisher.drain(), clock)))
        log.error({ readings: publisher.queued }, 'the store took no more before the end: what was left is dropped');
      const window = Math.min(config.drainMs, left(CLOSING_MS / 2));
      await within(left(CLOSING_MS / 2), feed.fanout?.drain(window) ?? Promise.resolve(), clock);
      const closed = close(server)
        .then(() => metrics && close(metrics))
        .then(() => pulse.stop())
        .then(() => feed.close())
        .then(() => store.close());
      if (!(await within(left(0), closed, clock))) log.warn({}, 'not everything could be closed before the end');
    },
  };
}

/** Which part takes a socket. Other paths are no sockets of ours. */
function upgrades(ingest: Ingest, fanout: Fanout | null) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/stream/ingest') ingest.handleUpgrade(request, socket, head);
    else if (path === '/stream/subscribe' && fanout) fanout.handleUpgrade(request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  };
}
