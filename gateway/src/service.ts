import { randomUUID } from 'node:crypto';
import { createCore } from '@device-insights/dsp-wasm';
import { type Clock, systemClock } from '@device-insights/fanout/platform/clock';
import { addressOf, createHttpServer, listen, stopReuse } from '@device-insights/fanout/platform/http-server';
import {
  operations,
  processMetrics,
  registerDrops,
  registerLevel,
  registerParts,
  registerTotals,
} from '@device-insights/fanout/platform/operations';
import { COMMIT, VERSION } from '@device-insights/fanout/platform/version';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { CoreLoad } from './analysis/core-load.js';
import { registerAnalysisMetrics } from './analysis/metrics.js';
import type { Config } from './config.js';
import { keepFor, RETENTION_RUNS, type RetentionRun } from './erasure/retention.js';
import { assertHealthy, healthOf } from './health.js';
import { Ingest } from './ingest/ingest.js';
import { registerIngestMetrics } from './ingest/metrics.js';
import { provideKey } from './keys/first-key.js';
import { KeyRing } from './keys/key-ring.js';
import { openLiveFeed } from './live-feed.js';
import { loadOf } from './load.js';
import { ClockWatch, type ClockWatchOptions } from './peers/clock-watch.js';
import { Heartbeat } from './peers/heartbeat.js';
import { Heartbeats, KEPT_MS, refuseOthers } from './peers/heartbeats.js';
import { Inspector } from './peers/inspector.js';
import { PeriodicTasks } from './periodic-tasks.js';
import { observedStore, registerPublisherMetrics } from './publisher/metrics.js';
import { Publisher } from './publisher/publisher.js';
import { provideAccess } from './service/first-access.js';
import { createWeb } from './service/web.js';
import { shutDown } from './shutdown.js';
import { registerDisk } from './store/embedded/metrics.js';
import { VERSION as SCHEMA_VERSION } from './store/embedded/schema.js';
import { startStore } from './store/open.js';
import type { Store } from './store/store.js';

/** Interval at which the health is checked and its changes are logged, ms. */
const HEALTH_MS = 1000;
const FEW_DESCRIPTORS =
  'the descriptor limit of the process allows fewer connections than MAX_SESSIONS: raise the limit (ulimit -n)';
const GOING_DOWN = 'the service is shutting down';

/** A running service. */
export interface Service {
  /** REST base, such as `http://127.0.0.1:8080`; the sockets are on the same host and port. */
  readonly url: string;
  /** Address of the dashboard; null if it is disabled. */
  readonly dashboardUrl: string | null;
  /** Address of `/metrics`, `/healthz`, `/readyz` and `/livez`; null if they are disabled. */
  readonly metricsUrl: string | null;
  /**
   * Drains: after `shutdownDelayMs`, in which everything is served but the health check fails, stores and publishes the
   * received data, then closes everything.
   */
  stop(): Promise<void>;
}

/**
 * Starts the whole service in this process: store, bus, signal core, ingest, REST and fan-out on one port.
 *
 * @param show shows a line with a new secret to the operator; called as soon as the secret is stored, since it cannot be
 *   shown later
 */
export async function startService(config: Config, log: Logger, show: (line: string) => void): Promise<Service> {
  const clock = systemClock;
  const gateway = randomUUID();
  log.info(
    { version: VERSION, commit: COMMIT, schema: SCHEMA_VERSION, node: process.version, gateway },
    'the gateway is starting',
  );
  const store = await startStore(config, clock);
  const keys = await openKeys(config, store, clock, log);
  const registry = processMetrics(`${SCHEMA_VERSION}`);
  const feed = await openLiveFeed(config, keys, registry, log);
  const heartbeat = new Heartbeat(store, gateway, clock);
  const heartbeats = new Heartbeats(store, clock);
  const { bus } = feed;
  const publisher = new Publisher({ store: observedStore(store, registry), bus, clock, log });
  registerPublisherMetrics(registry, publisher);
  const core = new CoreLoad(await createCore({ maxSessions: config.maxSessions }).catch(withoutMemory));
  registerAnalysisMetrics(registry, core);
  const ingest = new Ingest({
    ...{ store, publisher, core, clock, log, gateway, heartbeat, heartbeats },
    keys: keys.ofDevices,
    graceMs: config.sessionGraceMs,
    limits: config,
  });
  registerIngestMetrics(registry, ingest);

  const clocks = watchClocks({ heartbeats, store, gateway, publisher, clock, log }, registry);
  const beat = () => heartbeat.beat();
  const tasks = new PeriodicTasks([beat, () => keys.poll(), () => ingest.sweep(), () => clocks.look()], clock, log);

  const alone = {
    name: 'peers',
    fault: 'the live insights of other gateways are missing',
    try: () => refuseOthers(heartbeats, gateway),
  };
  let draining = false;
  const trial = healthOf(
    {
      ingest: [
        { name: 'store', fault: 'the store does not work', try: () => store.probe(clock.now()) },
        { name: 'ingest', fault: 'devices are paused', try: () => ingest.check() },
        { name: 'clock', fault: 'the clock of this gateway is wrong', try: () => clocks.check() },
      ],
      subscribe: [...feed.needs, ...(feed.shared ? [] : [alone])],
    },
    clock,
    log,
  );
  const watch = clock.every(HEALTH_MS, () => void trial()); // Logs changes even if nobody asks for the health.
  const health = async () =>
    draining ? { ok: false, ingest: false, subscribe: false, reason: GOING_DOWN } : (await trial()).health;
  registerParts(registry, async () => (await trial()).parts);

  const upgrades = new Map([['/stream/ingest', ingest.handleUpgrade.bind(ingest)]]);
  if (feed.fanout) upgrades.set('/stream/subscribe', feed.fanout.handleUpgrade.bind(feed.fanout));
  const busyness = loadOf({ ingest, publisher, core, fanout: feed.fanout, maxSessions: config.maxSessions, clock });
  const here = (session: string, channel: number | null) => ingest.inspect(session, channel);
  const isPeer = clocks.knows.bind(clocks);
  const inspector = new Inspector({ bus, gateway, here, isPeer, clock, log });
  const { dashboard } = config;
  const web = createWeb({
    ...{ store, keys, health, dashboard, gateway, registry, clock, log },
    sockets: [...upgrades.keys()],
    upload: ingest.upload,
    load: busyness.look,
    inspect: inspector.look.bind(inspector),
    refusals: ingest.refused.of.bind(ingest.refused),
  });
  const server = createHttpServer(web, log, { upgrades });
  registerDrops(registry, server);
  if (config.mongodbUri === null) registerDisk(registry, config.dataDir);
  if (server.maxConnections < config.maxSessions)
    log.warn({ most: server.maxConnections, maxSessions: config.maxSessions }, FEW_DESCRIPTORS);
  const checks = {
    health: async () => assertHealthy(await health(), 'ok'),
    ready: async () => assertHealthy(await health(), 'ingest'),
  };
  const metrics = config.metricsPort === null ? null : operations(registry, checks, log);

  store
    .forgetGateways(clock.now() - KEPT_MS)
    .catch((err: unknown) => log.warn({ err }, 'the heartbeats of former gateways could not be deleted'));
  await tasks.start();
  const { retentionDays } = config;
  const differenceMs = () => clocks.differenceMs;
  const runs = new Map<RetentionRun, number>();
  const looks = 'Runs of the retention (RETENTION_DAYS), by outcome';
  registerTotals(registry, 'device_insights_retention_runs_total', looks, 'outcome', RETENTION_RUNS, () => runs);
  const retention =
    retentionDays === null ? null : keepFor({ days: retentionDays, store, clock, log, differenceMs, runs });
  void inspector.listen();
  await listen(server, config.host, config.port, 'PORT');
  if (metrics) await listen(metrics, config.metricsHost, config.metricsPort ?? 0, 'METRICS_PORT');
  await provideAccess(config, store, clock, show); // After the ports are open, so that a start that fails issues no key.
  const url = addressOf(server, config.host);

  return {
    url,
    dashboardUrl: dashboard ? `${url}/dashboard` : null,
    metricsUrl: metrics && addressOf(metrics, config.host),
    async stop() {
      draining = true;
      stopReuse(server);
      await new Promise<void>((resolve) => clock.after(config.shutdownDelayMs, resolve));
      watch.cancel();
      retention?.cancel();
      busyness.close();
      inspector.close();
      const open = { server, metrics, ingest, publisher, feed, tasks, beat, store };
      await shutDown(open, config.drainMs, clock, log);
    },
  };
}

/** The keys of the store, that of the configuration among them; earlier revocations are not announced here. */
async function openKeys(config: Config, store: Store, clock: Clock, log: Logger): Promise<KeyRing> {
  if (config.bootstrapApiKey !== null && !(await provideKey(store, config.bootstrapApiKey, clock.now())))
    log.warn({}, 'BOOTSTRAP_API_KEY was revoked or has expired: it no longer works');
  const keys = new KeyRing(store, clock, log);
  await keys.poll();
  return keys;
}

function watchClocks(options: ClockWatchOptions, registry: Registry): ClockWatch {
  const clocks = new ClockWatch(options);
  const help = "Time by which the clock is behind another gateway's clock, or behind the stamps of insights";
  registerLevel(registry, 'device_insights_clock_behind_seconds', help, () => clocks.behindMs / 1000);
  const off =
    "Time by which the clock is ahead of most clocks, the store's among them; negative if it is behind, 0 if it agrees";
  registerLevel(registry, 'device_insights_clock_error_seconds', off, () => clocks.errorMs / 1000);
  return clocks;
}

function withoutMemory(cause: unknown): never {
  if (!(cause instanceof RangeError)) throw cause;
  const advice =
    'lower MAX_SESSIONS, or allow the process 32 GB of address space (ulimit -v, LimitAS), of which little is used';
  throw new Error(`the memory of the signal core cannot be allocated (${cause.message}): ${advice}`, { cause });
}
