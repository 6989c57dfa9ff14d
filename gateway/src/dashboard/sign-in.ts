import { clientAddress } from '@device-insights/fanout/platform/client-address';
import { countOne } from '@device-insights/fanout/platform/count';
import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import { setPassword } from '../operators/operator.js';
import { isPassword } from '../operators/password.js';
import { jsonBodyUpTo } from '../rest/body.js';
import { clientLeft } from '../rest/rest-context.js';
import { valid } from '../rest/violations.js';
import { type Operator, SIGN_IN_REFUSED, SIGNED_IN } from '../store/store.js';
import { Attempts, addressOf, networkOf } from './attempts.js';
import { CheckQueue, CheckRefused } from './check-queue.js';
import { type DashboardContext, type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { begin, end } from './login.js';
import { me } from './rows.js';
import { newPassword, signIn } from './schemas.js';

/** Maximum length of the body of a sign-in, bytes: name and password, with each character written as `\\u1234`. */
const SIGN_IN_BYTES = 8192;
const WRONG = 'the name or the password is wrong: check both; "admin operator reset NAME" sets a new password';

/** Routes for signing in and out. */
export function signInRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock, log, signIns } = options;
  const attempts = new Attempts(clock);
  let restored: Promise<void> | null = null;
  const restore = async () => {
    for (const { actor, subject } of await store.signIns()) attempts.know(subject, actor);
  };
  /** Strangers do not delay operators at addresses from which these have signed in. */
  const [known, strangers] = [new CheckQueue(), new CheckQueue()];

  /** The operator with this name, if the password is right; null otherwise. */
  const checked = async (ctx: DashboardContext, name: string, password: string): Promise<Operator | null> => {
    const address = clientAddress(ctx.req);
    const network = networkOf(address);
    const check = async () => {
      const found = await store.operatorNamed(name);
      refuseEarly(attempts.begin(address, name));
      const isRight = await isPassword(password, found?.password ?? null);
      if (isRight) attempts.succeeded(address, name);
      return { found, isRight };
    };
    try {
      restored ??= restore().catch((error: unknown) => {
        restored = null;
        throw error;
      });
      await restored;
      refuseEarly(attempts.waitOf(address));
      const queue = attempts.isKnown(address, name) ? known : strangers;
      const failures = () => attempts.failuresOf(network);
      const client = { address: addressOf(address), failures, since: attempts.sinceOf(network) };
      const { found, isRight } = await queue.run(client, check, clientLeft(ctx));
      if (found && isRight) return found;
      countOne(signIns, 'refused');
      log.warn({ address, operator: name }, 'a sign-in to the dashboard was refused');
      // A name that nobody has may be a password.
      const actor = found ? name : 'an unknown name';
      await store.audit({ at: clock.now(), actor, action: SIGN_IN_REFUSED, accountId: null, subject: address });
      return null;
    } catch (error) {
      const refusal = error instanceof CheckRefused ? tooMany(1) : error;
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
    ctx.body = me(operator, login.expiresAt);
  });

  router.post('/dashboard/api/password', jsonBodyUpTo(SIGN_IN_BYTES), async (ctx) => {
    const { id, name } = signedInOf(ctx).operator;
    const { current, password } = valid(newPassword, ctx.state.body);
    if (!(await checked(ctx, name, current))) throw new HttpError('forbidden', 'the current password is wrong');
    const operator = await setPassword(store, id, password, clock.now());
    if (!operator) throw new HttpError('unauthenticated', 'you are not an operator any more');
    const login = await begin(ctx, options, operator);
    await store.audit({ at: clock.now(), actor: name, action: 'password changed', accountId: null, subject: name });
    ctx.body = me(operator, login.expiresAt);
  });

  router.post('/dashboard/api/sign-out', async (ctx) => {
    await end(ctx, options, signedInOf(ctx).login);
    ctx.status = 204;
  });

  router.get('/dashboard/api/me', (ctx) => {
    const { operator, login } = signedInOf(ctx);
    ctx.body = me(operator, login.expiresAt);
  });
}

function refuseEarly(waitMs: number): void {
  if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000));
}

function tooMany(seconds: number): HttpError {
  const detail = `too many attempts: try again in ${seconds} s`;
  return new HttpError('too_many_attempts', detail, { 'Retry-After': String(seconds) });
}
