import { clientAddress } from '@device-insights/fanout/platform/client-address';
import { countOne } from '@device-insights/fanout/platform/count';
import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import { isoTime } from '../instant.js';
import { isPassword } from '../operators/password.js';
import { QueueFull } from '../queue.js';
import { jsonBodyUpTo } from '../rest/body.js';
import { valid } from '../rest/violations.js';
import { type Operator, SIGNED_IN } from '../store/store.js';
import { Attempts } from './attempts.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { begin, end } from './login.js';
import { type Me, signIn } from './schemas.js';

/** Maximum length of the body of a sign-in, bytes: name and password, with each character written as `\\u1234`. */
const SIGN_IN_BYTES = 8192;
const WRONG = 'the name or the password is wrong: check both; "admin operator reset NAME" sets a new password';

/** Routes for signing in and out. */
export function signInRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock, log, signIns } = options;
  const attempts = new Attempts(clock);

  router.post('/dashboard/api/sign-in', jsonBodyUpTo(SIGN_IN_BYTES), async (ctx) => {
    const { name, password } = valid(signIn, ctx.state.body);
    const address = clientAddress(ctx.req);
    const wait = attempts.begin(address, name);
    if (wait > 0) {
      countOne(signIns, 'too many');
      throw tooMany(Math.ceil(wait / 1000));
    }
    const operator = await store.operatorNamed(name);
    if (!(await isRight(password, operator)) || !operator) {
      countOne(signIns, 'refused');
      log.warn({ address, operator: name }, 'a sign-in to the dashboard was refused');
      throw new HttpError('unauthenticated', WRONG);
    }
    attempts.succeeded(address, name);
    countOne(signIns, 'signed in');
    const login = await begin(ctx, options, operator);
    log.info({ address, operator: name }, 'signed in to the dashboard');
    await store.audit({ at: clock.now(), actor: name, action: SIGNED_IN, accountId: null, subject: address });
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

async function isRight(password: string, operator: Operator | null): Promise<boolean> {
  try {
    return await isPassword(password, operator?.password ?? null);
  } catch (error) {
    if (error instanceof QueueFull) throw tooMany(1);
    throw error;
  }
}

function tooMany(seconds: number): HttpError {
  const detail = `too many attempts: try again in ${seconds} s`;
  return new HttpError('too_many_attempts', detail, { 'Retry-After': String(seconds) });
}

function meOf({ name, role }: Operator, expiresAt: number): Me {
  return { name, role, expires_at: isoTime(expiresAt) };
}
