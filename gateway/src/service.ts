import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createCore } from '@device-insights/dsp-wasm';
import { type Clock, systemClock } from '@device-insights/fanout/process/clock';
import { addressOf, createHttpServer, listen, pathOf, stopReuse } from '@device-insights/fanout/process/http-server';
import {
  operations,
  processMetrics,
  registerDrops,
  registerLevel,
  registerTotal,
  registerTotals,
} from '@device-insights/fanout/process/operations';
import { VERSION } from '@device-insights/fanout/process/version';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { revokeReplaced } from './admin/keys.js';
import { CoreLoad } from './analysis/core-load.js';
import { registerAnalysisMetrics } from './analysis/metrics.js';
import { ALGORITHMS } from './analysis/registry.js';
import { createAnalyses } from './analysis/session-analysis.js';
import { ClockWatch } from './clock-watch.js';
import type { Config } from './config.js';
import { createDashboard, isDashboards } from './dashboard/dashboard.js';
import type { SignIn } from './dashboard/dashboard-context.js';
import { forgetFormerGateways } from './erasure/clock-jump.js';
import { keepFor } from './erasure/retention.js';
import { assertHealthy, healthOf } from './health.js';
import { createIngest } from './ingest/ingest.js';
import { registerIngestMetrics } from './ingest/metrics.js';
import { Inspector } from './inspector.js';
import { firstKey, provideKey } from './keys/first-key.js';
import { KeyRing } from './keys/key-ring.js';
import { openLiveFeed } from './live-feed.js';
import { loadOf } from './load.js';
import { firstOperator } from './operators/operator.js';
import { PeriodicTasks } from './periodic-tasks.js';
import { createPublisher } from './publisher/group-commit.js';
import { observedStore, registerPublisherMetrics } from './publisher/metrics.js';
import { requestNotes } from './rest/request-notes.js';
import { createRest } from './rest/rest.js';
import { shutDown } from './shutdown.js';
import { SplitFeed } from './split-feed.js';
import { openStore } from './store/open.js';
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
  /** Address of `/metrics` and `/healthz`; null if they are disabled. */
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
export async function startService(
  config: Config,
  log: Logger,
  show: (line: string) => void,
  clock: Clock = systemClock,
): Promise<Service> {
  const gateway = randomUUID();
  log.info({ version: VERSION, node: process.version, gateway }, 'the gateway is starting');
  const store = await openStore(config, clock);
  if (config.bootstrapApiKey !== null && !(await provideKey(store, config.bootstrapApiKey, clock.now())))
    log.warn({}, 'BOOTSTRAP_API_KEY was revoked or has expired: it opens nothing');
  const keys = new KeyRing(store, clock, log);
  await keys.poll(); // Keys that were revoked before concern nobody here.
  const registry = processMetrics();
  const feed = await openLiveFeed(config, keys, registry, log);
  const publisher = createPublisher({ store: observedStore(store, registry), bus: feed.bus, clock, log });
  registerPublisherMetrics(registry, publisher);
  const core = await createCore({ maxSessions: config.maxSessions });
  const load = new CoreLoad(core);
  registerAnalysisMetrics(registry, load);
  const openAnalysis = createAnalyses(load);
  const { sessionGraceMs: graceMs, maxSessions, maxAccountSessions } = config;
  const room = { maxSessions, maxAccountSessions };
  const ingest = createIngest({
    store,
    keys: keys.ofDevices,
    publisher,
    openAnalysis,
    clock,
    log,
    gateway,
    graceMs,
    room,
  });
  registerIngestMetrics(registry, ingest);
  const split = new SplitFeed(store, clock, gateway, (text) => log.error({}, text));
  const clocks = new ClockWatch({ store, publisher, clock, log });
  registerClockMetric(registry, clocks);
  const beat = () => store.beat(gateway, clock.now());
  const neighbours = feed.shared ? [] : [() => split.look()];
  const replaced = () => revokeReplaced(store, clock.now());
  const look = [() => clocks.look(), ...neighbours];
  const tasks = new PeriodicTasks([beat, () => keys.poll(), replaced, () => ingest.sweep(), ...look], clock, log);

  let draining = false;
  const trial = healthOf(
    {
      ingest: [
        { fault: 'the store does not work', try: () => store.probe(clock.now()) },
        { fault: 'devices are paused', try: () => ingest.check() },
      ],
      subscribe: [
        { fault: 'several gateways use the same store: set REDIS_URL', try: () => split.check() },
        ...feed.needs,
      ],
    },
    clock,
    log,
  );
  const watch = clock.every(HEALTH_MS, () => void trial()); // Logs changes even if nobody asks for the health.
  const health = async () => (draining ? { ok: false, ingest: false, subscribe: false, reason: GOING_DOWN } : trial());
  const upgrades = new Map([['/stream/ingest', ingest.handleUpgrade.bind(ingest)]]);
  if (feed.fanout) upgrades.set('/stream/subscribe', feed.fanout.handleUpgrade.bind(feed.fanout));
  const sockets = [...upgrades.keys()];
  const observe = requestNotes(registry, log, clock);
  const rest = createRest({ store, keys, algorithms: ALGORITHMS, sockets, health, observe, log, clock });
  const busyness = loadOf({ ingest, publisher, core: load, fanout: feed.fanout, maxSessions, clock });
  const here = (session: string, channel: number | null) => ingest.inspect(session, channel);
  const inspector = new Inspector({ bus: feed.bus, gateway, here, clock, log });
  const inspect = inspector.look.bind(inspector);
  const signIns = new Map<SignIn, number>();
  registerAccessMetrics(registry, keys, signIns);
  const dashboard = config.dashboard
    ? createDashboard({
        store: loggedAudit(store, log),
        algorithms: ALGORITHMS,
        health,
        load: busyness.look,
        inspect,
        gateway,
        observe,
        signIns,
        log,
        clock,
      })
    : null;
  const dashboardAnswer = dashboard?.callback();
  const answer = rest.callback();
  const handle: RequestListener = (request, response) =>
    dashboardAnswer && isDashboards(pathOf(request)) ? dashboardAnswer(request, response) : answer(request, response);
  const server = createHttpServer(handle, log, { upgrades });
  registerDrops(registry, server);
  if (server.maxConnections < maxSessions) log.warn({ most: server.maxConnections, maxSessions }, FEW_DESCRIPTORS);
  const isWell = async () => assertHealthy(await health());
  const metrics = config.metricsPort === null ? null : operations(registry, isWell, log);
  store.examine().catch((err: unknown) => log.error({ err }, 'the data are damaged, or could not be examined'));
  forgetFormerGateways(store, clock.now()).catch((err: unknown) =>
    log.warn({ err }, 'the heartbeats of former gateways could not be deleted'),
  );
  await tasks.start();
  const { retentionDays } = config;
  const retention = retentionDays === null ? null : keepFor(retentionDays, store, clock, log);
  void inspector.listen();
  await listen(server, config.host, config.port, 'PORT');
  if (metrics) await listen(metrics, config.host, config.metricsPort ?? 0, 'METRICS_PORT');
  await provideAccess(config, store, clock, show); // After the ports are open, so that a start that fails issues no key.
  const url = addressOf(server, config.host);

  return {
    url,
    dashboardUrl: config.dashboard ? `${url}/dashboard` : null,
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

/** Makes sure that a new store can be used: shows the first key and the first operator's password, where it makes them. */
async function provideAccess(config: Config, store: Store, clock: Clock, show: (line: string) => void): Promise<void> {
  const { bootstrapApiKey, mongodbUri, dashboard, dashboardPassword } = config;
  const makesKey = bootstrapApiKey === null && mongodbUri === null;
  const newKey = makesKey ? await firstKey(store, clock.now()) : null;
  if (newKey) show(`API key of the account default, shown only this once: ${newKey}`);
  const makesOperator = dashboard && (mongodbUri === null || dashboardPassword !== null);
  const operator = makesOperator ? await firstOperator(store, dashboardPassword, clock.now()) : null;
  if (operator?.password)
    show(`sign in as ${operator.name} with the password, shown only this once: ${operator.password}`);
}

function registerClockMetric(registry: Registry, clocks: ClockWatch): void {
  const help = "Time by which the clock is behind another gateway's clock, or behind the stamps of insights";
  registerLevel(registry, 'device_insights_clock_behind_seconds', help, () => clocks.behindMs / 1000);
}

/** Registers the keys that were refused, and the attempts to sign in by outcome. */
function registerAccessMetrics(registry: Registry, keys: KeyRing, signIns: ReadonlyMap<SignIn, number>): void {
  const refused = 'Times that an API key was refused as unknown, revoked or expired';
  registerTotal(registry, 'device_insights_keys_refused_total', refused, () => keys.refused);
  const attempts = 'Attempts to sign in to the dashboard, by outcome';
  registerTotals(registry, 'device_insights_sign_ins_total', attempts, 'outcome', () => signIns);
}

/** The same store; what comes into its audit log is in the process's log too. */
function loggedAudit(store: Store, log: Pick<Logger, 'info'>): Store {
  return {
    ...store,
    audit(entry, keep) {
      const { actor, action, accountId, subject } = entry;
      log.info({ actor, action, accountId, subject }, 'audit');
      return store.audit(entry, keep);
    },
  };
}
