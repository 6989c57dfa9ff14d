import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { AnyAlgorithm } from '../analysis/algorithm.js';
import { HttpError } from '../errors.js';
import type { Health } from '../health.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { Key, Store } from '../store/store.js';
import type { TakeUpload } from '../upload.js';
import type { Observe } from './request-notes.js';

/** The parts of the gateway that the REST interface needs. */
export interface RestOptions {
  readonly store: Store;
  /** Finds the key of a hash, unless it is unknown or revoked; called on every request. */
  readonly keys: Pick<KeyRing, 'key'>;
  /** All algorithms of the service; an account's entitlement selects from them. */
  readonly algorithms: readonly Pick<AnyAlgorithm, 'id' | 'name' | 'slug' | 'description' | 'type' | 'everyS'>[];
  /** Paths of the WebSockets that are served on the same port. */
  readonly sockets: readonly string[];
  readonly health: () => Promise<Health>;
  /** Takes the body of an upload as the frames of a device. */
  readonly upload: TakeUpload;
  readonly observe: Observe;
  readonly log: Pick<Log, 'error' | 'warn'>;
  readonly clock: Clock;
}

/** The values that earlier steps of the pipeline pass to later ones. */
export interface RestState {
  requestId: string;
  /** The key of the request; set for all paths that need one. */
  key?: Key;
  /** Looks up the key, or the operator's login, again: throws 401 if it is no longer valid. Set on routes that need one. */
  authenticate?: () => Promise<void>;
  /** The body as text, and parsed; set by `jsonBody`. */
  bodyText?: string;
  body?: unknown;
  /** The SHA-256 of a body that the handler read, in hex. */
  bodyHash?: string;
}

export type RestContext = RouterContext<RestState>;
export type RestMiddleware = Middleware<RestState>;
/** A step of a route, whose path has parameters. */
export type RestStep = (ctx: RestContext, next: () => Promise<unknown>) => unknown;

/** The key of the request. Fails closed: a handler that is reached without a key answers 401. */
export function keyOf(ctx: { readonly state: RestState }): Key {
  if (!ctx.state.key) throw unauthenticated('this path needs an API key: send "Authorization: Bearer svc_…"');
  return ctx.state.key;
}

/** A 401 with the authentication scheme, as RFC 9110 (11.6.1) requires. */
export function unauthenticated(detail: string): HttpError {
  return new HttpError('unauthenticated', detail, { 'WWW-Authenticate': 'Bearer' });
}

/** A signal that is aborted when the client leaves: nobody waits for the rest of the work of its request. */
export function clientLeft({ req, res }: Pick<RestContext, 'req' | 'res'>): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new HttpError('validation_failed', 'the client left before the answer'));
  if (req.socket.destroyed) leave();
  res.once('close', leave);
  return left.signal;
}
