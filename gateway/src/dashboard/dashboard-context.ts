import type { Clock } from '@device-insights/fanout/platform/clock';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { AnyAlgorithm } from '../analysis/algorithm.js';
import { HttpError } from '../errors.js';
import type { Health } from '../health.js';
import type { Load } from '../load.js';
import type { Inspection } from '../peers/inspection.js';
import type { Refusals } from '../refused-devices.js';
import type { Observe } from '../rest/request-notes.js';
import type { RestState } from '../rest/rest-context.js';
import type { Login, Operator, Session, Store } from '../store/store.js';

/** The parts of the gateway that the dashboard uses. */
export interface DashboardOptions {
  readonly store: Store;
  readonly algorithms: readonly Pick<AnyAlgorithm, 'name' | 'slug' | 'version' | 'type' | 'description' | 'everyS'>[];
  readonly health: () => Promise<Health>;
  /** The load of this gateway. */
  readonly load: () => Promise<Load>;
  /** Requests the state of a session from the gateway that owns it. */
  readonly inspect: (session: Session, channel: number | null) => Promise<Inspection | null>;
  /** The last refused connections of an account on this gateway, the newest first. */
  readonly refusals: (accountId: string) => readonly Refusals[];
  /** Id of this gateway in the store. */
  readonly gateway: string;
  readonly observe: Observe;
  /** Number of attempts to sign in, by outcome. */
  readonly signIns: Map<SignIn, number>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly clock: Clock;
}

/** Outcomes of attempts to sign in. */
export const SIGN_INS = ['signed in', 'refused', 'too many'] as const;
export type SignIn = (typeof SIGN_INS)[number];

export interface DashboardState extends RestState {
  /** The signed-in operator; set for all routes that need one. */
  signedIn?: { readonly operator: Operator; readonly login: Login };
}

export type DashboardContext = RouterContext<DashboardState>;
export type DashboardMiddleware = Middleware<DashboardState>;

/** The signed-in operator. Throws 401 if there is none, so that a route without the check of the login is not open. */
export function signedInOf(ctx: { readonly state: DashboardState }): NonNullable<DashboardState['signedIn']> {
  if (!ctx.state.signedIn) throw new HttpError('unauthenticated', 'you are not signed in: sign in again');
  return ctx.state.signedIn;
}

/** The signed-in operator, if its role allows changes. */
export function actorOf(ctx: { readonly state: DashboardState }): Operator {
  const { operator } = signedInOf(ctx);
  if (operator.role === 'operator') return operator;
  throw new HttpError('forbidden', 'a viewer cannot change anything: ask an operator to do this');
}
