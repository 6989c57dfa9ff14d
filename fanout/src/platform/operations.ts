import type { Server, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createHttpServer, pathOf } from './http-server.js';
import type { Log } from './log.js';
import { messageOf } from './message-of.js';
import { COMMIT, VERSION } from './version.js';

/** Operators and load balancers are few; this many descriptors are reserved for them. */
const MOST_CONNECTIONS = 64;

/** Prefix of the names of the service's metrics. */
const PREFIX = 'device_insights_';
/** Sums that Prometheus makes itself, under names that it keeps for counters. */
const SUMS = ['handles', 'requests', 'resources'].map((what) => `${PREFIX}nodejs_active_${what}_total`);

/**
 * A registry with the process's own metrics, and which release it runs.
 * @param schema version of the store's schema; empty for a process without a store
 */
export function processMetrics(schema = ''): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: PREFIX });
  for (const name of SUMS) registry.removeSingleMetric(name);
  new Gauge({
    name: 'device_insights_build_info',
    help: 'Always 1; the labels say which release runs',
    labelNames: ['version', 'commit', 'schema', 'node'],
    registers: [registry],
  }).set({ version: VERSION, commit: COMMIT, schema, node: process.version }, 1);
  return registry;
}

/** Registers a total that is counted elsewhere. */
export function registerTotal(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Registers totals that are counted elsewhere, one a value of `label`; each of `values` is there from the start, as 0. */
export function registerTotals<Value extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  values: readonly Value[],
  read: () => Iterable<readonly [value: Value, total: number]>,
): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const value of values) this.inc({ [label]: value }, 0);
      for (const [value, total] of read()) this.inc({ [label]: value }, total);
    },
  });
}

/** Registers a quantity that is known elsewhere. */
export function registerLevel(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}

/** Registers the connections that a server has closed at once because it had too many. */
export function registerDrops(registry: Registry, server: Server): void {
  let drops = 0;
  server.on('drop', () => {
    drops += 1;
  });
  const help = 'Connections that were closed at once, because the process has as many as its descriptor limit allows';
  registerTotal(registry, 'device_insights_connections_dropped_total', help, () => drops);
}

/** Registers which parts of the process work, as of its health check. */
export function registerParts(registry: Registry, read: () => Promise<ReadonlyMap<string, string | null>>): void {
  new Gauge({
    name: 'device_insights_part_works',
    help: 'Whether a part of the process works: 1 or 0',
    labelNames: ['part'],
    registers: [registry],
    async collect() {
      for (const [part, fault] of await read()) this.set({ part }, fault === null ? 1 : 0);
    },
  });
}

/** The checks of the operations port; each rejects with the cause if it fails. */
export interface Checks {
  /** Whether all parts work: for people and alerts. */
  health(): Promise<void>;
  /** Whether it can do its own job, whatever the others do: for load balancers. */
  ready(): Promise<void>;
}

/**
 * For operators and load balancers, on a separate port: `/metrics` for Prometheus, and `/healthz`, `/readyz` and `/livez`
 * (whether the process runs at all: for those that would restart it), 200 or 503 with the reason.
 */
export function operations(registry: Registry, checks: Checks, log: Pick<Log, 'warn' | 'error'>): Server {
  const tries = new Map([
    ['/healthz', checks.health],
    ['/readyz', checks.ready],
    ['/livez', async () => undefined],
  ]);
  const handle = async (path: string, response: ServerResponse) => {
    const check = tries.get(path);
    if (path === '/metrics') {
      const text = await registry.metrics();
      response.setHeader('Content-Type', registry.contentType).end(text);
    } else if (check) {
      const fault = await check().then(() => null, messageOf);
      response.writeHead(fault === null ? 200 : 503, { 'Content-Type': 'text/plain' }).end(`${fault ?? 'ok'}\n`);
    } else {
      response.writeHead(404).end();
    }
  };
  return createHttpServer(
    (request, response) => {
      handle(pathOf(request), response).catch((err: unknown) => {
        log.error({ err }, 'a response of the operations port failed');
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    },
    log,
    { most: MOST_CONNECTIONS },
  );
}
