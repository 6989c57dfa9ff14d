import type { RequestListener } from 'node:http';
import { pathOf } from '@device-insights/fanout/platform/http-server';
import { registerTotal, registerTotals } from '@device-insights/fanout/platform/operations';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { CATALOGUE } from '../analysis/algorithms.js';
import { createDashboard, isDashboards } from '../dashboard/dashboard.js';
import { type DashboardOptions, SIGN_INS, type SignIn } from '../dashboard/dashboard-context.js';
import type { KeyRing } from '../keys/key-ring.js';
import { requestNotes } from '../rest/request-notes.js';
import { createRest } from '../rest/rest.js';
import type { RestOptions } from '../rest/rest-context.js';
import type { Store } from '../store/store.js';

type Made = 'algorithms' | 'observe' | 'signIns';

/** The parts of the service that answers to HTTP requests need. */
interface WebOptions extends Omit<RestOptions, Made | 'log'>, Omit<DashboardOptions, Made | 'log'> {
  readonly keys: KeyRing;
  /** Whether there is a dashboard. */
  readonly dashboard: boolean;
  readonly registry: Registry;
  readonly log: Logger;
}

/** Answers all HTTP requests of the public port: REST, and the dashboard if there is one. */
export function createWeb(options: WebOptions): RequestListener {
  const { store, keys, registry, clock, log } = options;
  const refused = 'Uses of unknown, revoked and expired API keys';
  registerTotal(registry, 'device_insights_keys_refused_total', refused, () => keys.refused);
  const signIns = new Map<SignIn, number>();
  const attempts = 'Attempts to sign in to the dashboard, by outcome';
  registerTotals(registry, 'device_insights_sign_ins_total', attempts, 'outcome', SIGN_INS, () => signIns);

  const complete = { ...options, algorithms: CATALOGUE, observe: requestNotes(registry, log, clock), signIns };
  const rest = createRest(complete).callback();
  if (!options.dashboard) return rest;
  const dashboard = createDashboard({ ...complete, store: loggedAudit(store, log) }).callback();
  return (request, response) =>
    isDashboards(pathOf(request)) ? dashboard(request, response) : rest(request, response);
}

/** The same store, whose audit entries are also written to the process's log. */
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
