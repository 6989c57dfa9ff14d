import { clientAddress } from '@device-insights/fanout/platform/client-address';
import { countOne } from '@device-insights/fanout/platform/count';
import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import { isoTime } from '../instant.js';
import { endLiveKeys } from '../operators/operator.js';
import { hashPassword, isPassword } from '../operators/password.js';
import { Queue, QueueFull } from '../queue.js';
import { jsonBodyUpTo } from '../rest/body.js';
import { clientLeft } from '../rest/client-left.js';
import { valid } from '../rest/violations.js';
import { type Operator, SIGN_IN_REFUSED, SIGNED_IN } from '../store/store.js';
import { Attempts, networkOf, type Standing } from './attempts.js';
import { type DashboardContext, type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { begin, end } from './login.js';
import { type Me, newPassword, signIn } from './schemas.js';

/** Maximum length of the body of a sign-in, bytes: name and password, with each character written as `\\u1234`. */
const SIGN_IN_BYTES = 8192;
const WRONG = 'the name or the password is wrong: check both; "admin operator reset NAME" sets a new password';

/**
 * Passwords are checked one at a time for each standing of the client, as each check occupies a thread that file and DNS
 * operations also need. So strangers hold up neither the known clients nor those that have not failed; networks take turns.
 */
const LINE = { atOnce: 1, waiting: 1000, waitingEach: 4 };

/** Routes for signing in and out. */
export function signInRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock, log, signIns } = options;
  const attempts = new Attempts(clock);
  const lines: Record<Standing, Queue> = { known: new Queue(LINE), new: new Queue(LINE), failed: new Queue(LINE) };

  /** The operator with this name, if the password is right; null otherwise. */
  const checked = async (ctx: DashboardContext, name: string, password: string): Promise<Operator | null> => {
    const address = clientAddress(ctx.req);
    const check = async () => {
      const found = await store.operatorNamed(name);
      refuseEarly(attempts.begin(address, name));
      const isRight = await isPassword(password, found?.password ?? null);
      if (isRight) attempts.succeeded(address, name);
      return { found, isRight };
    };
    try {
      refuseEarly(attempts.waitOf(address, name));
      const line = lines[attempts.standingOf(address, name)];
      const { found, isRight } = await line.run(networkOf(address), check, clientLeft(ctx));
      if (found && isRight) return found;
      countOne(signIns, 'refused');
      log.warn({ address, operator: name }, 'a sign-in to the dashboard was refused');
      // A name that nobody has may be a password.
      const actor = found ? name : 'an unknown name';
      await store.audit({ at: clock.now(), actor, action: SIGN_IN_REFUSED, accountId: null, subject: address });
      return null;
    } catch (error) {
      const refusal = error instanceof QueueFull ? tooMany(1) : error;
      if (refusal instanceof HttpError && refusal.code === 'too_many_attempts') countOne(signIns, 'too many');
      throw refusal;
    }
  };

  router.post('/dashboard/api/sign-in', jsonBodyUpTo(SIGN_IN_BYTES), async (ctx) => {
    const { name, password } = valid(signIn, ctx.state.body);
    const operator = await checked(ctx, name, password);
    if (!operator) throw new HttpError('unauthenticated', WRONG);
    const address = clientAddress(ctx.req);
    countOne(signIns, 'signed in');
    const login = await begin(ctx, options, operator);
    log.info({ address, operator: name }, 'signed in to the dashboard');
    await store.audit({ at: clock.now(), actor: name, action: SIGNED_IN, accountId: null, subject: address });
    ctx.body = meOf(operator, login.expiresAt);
  });

  router.post('/dashboard/api/password', jsonBodyUpTo(SIGN_IN_BYTES), async (ctx) => {
    const { id, name } = signedInOf(ctx).operator;
    const { current, password } = valid(newPassword, ctx.state.body);
    if (!(await checked(ctx, name, current))) throw new HttpError('forbidden', 'the current password is wrong');
    const operator = await store.setOperatorPassword(id, await hashPassword(password));
    if (!operator) throw new HttpError('unauthenticated', 'you are not an operator any more');
    await endLiveKeys(store, id, clock.now());
    const login = await begin(ctx, options, operator);
    await store.audit({ at: clock.now(), actor: name, action: 'password changed', accountId: null, subject: name });
    ctx.body = meOf(operator, login.expiresAt);
  });

  router.post('/dashboard/api/sign-out', async (ctx) => {
    await end(ctx, options, signedInOf(ctx).login);
    ctx.status = 204;
  });

  router.get('/dashboard/api/me', (ctx) => {
    const { operator, login } = signedInOf(ctx);
    ctx.body = meOf(operator, login.expiresAt);
  });
}

function refuseEarly(waitMs: number): void {
  if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000));
}

function tooMany(seconds: number): HttpError {
  const detail = `too many attempts: try again in ${seconds} s`;
  return new HttpError('too_many_attempts', detail, { 'Retry-After': String(seconds) });
}

function meOf({ name, role }: Operator, expiresAt: number): Me {
  return { name, role, expires_at: isoTime(expiresAt) };
}
