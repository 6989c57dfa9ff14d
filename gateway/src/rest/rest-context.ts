import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Algorithm } from '../analysis/algorithm.js';
import type { Clock } from '../clock.js';
import { HttpError } from '../errors.js';
import type { Health } from '../health.js';
import type { KeyRing } from '../key-ring.js';
import type { Key, Store } from '../store/store.js';

/** What the REST interface needs of the rest of the gateway. */
export interface RestOptions {
  readonly store: Store;
  /** Finds the key of a hash, unless it is unknown or revoked; asked on every request. */
  readonly keys: Pick<KeyRing, 'key'>;
  /** All that the service can run; an account's entitlement picks from them. */
  readonly algorithms: readonly Pick<Algorithm, 'id' | 'name' | 'slug' | 'description'>[];
  readonly health: () => Promise<Health>;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly clock: Clock;
}

/** What the steps of the pipeline leave for those after them. */
export interface RestState {
  requestId: string;
  /** The key that the request came with; set for all that needs one. */
  key?: Key;
  /** The body as it came, and what it says; set by `jsonBody`. */
  bodyText?: string;
  body?: unknown;
}

export type RestContext = RouterContext<RestState>;
export type RestMiddleware = Middleware<RestState>;

/** The key of the request. Fails closed: a handler that is reached without one answers 401. */
export function keyOf(ctx: { readonly state: RestState }): Key {
  if (!ctx.state.key) throw unauthenticated('this needs an API key: send "Authorization: Bearer svc_…"');
  return ctx.state.key;
}

/** 401 as RFC 9110 (11.6.1) wants it, with the scheme to use. */
export function unauthenticated(detail: string): HttpError {
  return new HttpError('unauthenticated', detail, { 'WWW-Authenticate': 'Bearer' });
}
