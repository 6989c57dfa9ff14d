import type { RequestListener } from 'node:http';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { pathOf } from '@device-insights/fanout/platform/http-server';
import { registerTotal, registerTotals } from '@device-insights/fanout/platform/operations';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { CATALOGUE } from '../analysis/algorithms.js';
import { createDashboard, isDashboards } from '../dashboard/dashboard.js';
import { type DashboardOptions, SIGN_INS, type SignIn } from '../dashboard/dashboard-context.js';
import type { Health } from '../health.js';
import type { KeyRing } from '../keys/key-ring.js';
import { requestNotes } from '../rest/request-notes.js';
import { createRest } from '../rest/rest.js';
import type { Store } from '../store/store.js';
import type { TakeUpload } from '../upload.js';

/** What the answers to HTTP requests need of the rest of the service. */
interface WebOptions extends Pick<DashboardOptions, 'load' | 'inspect' | 'gateway' | 'refusals'> {
  readonly store: Store;
  readonly keys: KeyRing;
  /** Paths of the WebSockets that are served on the same port. */
  readonly sockets: readonly string[];
  readonly health: () => Promise<Health>;
  readonly upload: TakeUpload;
  /** Whether there is a dashboard. */
  readonly dashboard: boolean;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers all HTTP requests of the public port: REST, and the dashboard if there is one. */
export function createWeb(options: WebOptions): RequestListener {
  const { store, keys, sockets, health, upload, registry, clock, log } = options;
  const refused = 'Uses of unknown, revoked and expired API keys';
  registerTotal(registry, 'device_insights_keys_refused_total', refused, () => keys.refused);
  const signIns = new Map<SignIn, number>();
  const attempts = 'Attempts to sign in to the dashboard, by outcome';
  registerTotals(registry, 'device_insights_sign_ins_total', attempts, 'outcome', SIGN_INS, () => signIns);

  const common = { algorithms: CATALOGUE, health, observe: requestNotes(registry, log, clock), clock, log };
  const rest = createRest({ ...common, store, keys, sockets, upload }).callback();
  if (!options.dashboard) return rest;
  const { load, inspect, gateway, refusals } = options;
  const audited = loggedAudit(store, log);
  const dashboard = createDashboard({
    ...common,
    store: audited,
    load,
    inspect,
    gateway,
    refusals,
    signIns,
  }).callback();
  return (request, response) =>
    isDashboards(pathOf(request)) ? dashboard(request, response) : rest(request, response);
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
