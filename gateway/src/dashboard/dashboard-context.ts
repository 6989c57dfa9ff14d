import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Algorithm } from '../analysis/algorithm.js';
import type { Clock } from '../clock.js';
import { HttpError } from '../errors.js';
import type { Health } from '../health.js';
import type { Inspection } from '../inspection.js';
import type { Observe } from '../rest/request-notes.js';
import type { RestState } from '../rest/rest-context.js';
import type { Login, Operator, Session, Store } from '../store/store.js';
import type { Load } from './schemas.js';

/** What the dashboard needs of the rest of the gateway. */
export interface DashboardOptions {
  readonly store: Store;
  readonly algorithms: readonly Pick<Algorithm, 'name' | 'slug' | 'version' | 'type' | 'description'>[];
  readonly health: () => Promise<Health>;
  /** What this gateway is busy with. */
  readonly load: () => Promise<Load>;
  /** Asks the gateway that has a session what it knows of it now. */
  readonly inspect: (session: Session, channel: number | null) => Promise<Inspection | null>;
  /** This process, as the store knows it. */
  readonly gateway: string;
  readonly observe: Observe;
  /** How often somebody signed in, or could not. */
  readonly signIns: Map<SignIn, number>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly clock: Clock;
}

/** What came of an attempt to sign in. */
export type SignIn = 'signed in' | 'refused' | 'too many';

export interface DashboardState extends RestState {
  /** Who is signed in; set for all that needs it. */
  signedIn?: { readonly operator: Operator; readonly login: Login };
}

export type DashboardContext = RouterContext<DashboardState>;
export type DashboardMiddleware = Middleware<DashboardState>;

/** Who is signed in. Fails closed: a handler that is reached by nobody answers 401. */
export function signedInOf(ctx: { readonly state: DashboardState }): NonNullable<DashboardState['signedIn']> {
  if (!ctx.state.signedIn) throw new HttpError('unauthenticated', 'you are not signed in, or no longer: sign in again');
  return ctx.state.signedIn;
}

/** Who does something that changes things: an operator that may. */
export function actorOf(ctx: { readonly state: DashboardState }): Operator {
  const { operator } = signedInOf(ctx);
  if (operator.role === 'operator') return operator;
  throw new HttpError('forbidden', 'your role only looks: ask an operator to do this');
}
