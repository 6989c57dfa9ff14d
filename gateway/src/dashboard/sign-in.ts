import { clientAddress } from '@device-insights/fanout/platform/client-address';
import { countOne } from '@device-insights/fanout/platform/count';
import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import { isoTime } from '../instant.js';
import { isPassword } from '../operators/password.js';
import { Queue, QueueFull } from '../queue.js';
import { jsonBodyUpTo } from '../rest/body.js';
import { clientLeft } from '../rest/client-left.js';
import { valid } from '../rest/violations.js';
import { type Operator, SIGNED_IN } from '../store/store.js';
import { Attempts, networkOf, type Standing } from './attempts.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { begin, end } from './login.js';
import { type Me, signIn } from './schemas.js';

/** Maximum length of the body of a sign-in, bytes: name and password, with each character written as `\\u1234`. */
const SIGN_IN_BYTES = 8192;
const WRONG = 'the name or the password is wrong: check both; "admin operator reset NAME" sets a new password';

/**
 * Passwords are checked one at a time for each standing of the client, as each check occupies a thread that file and DNS
 * operations also need. So strangers hold up neither the known clients nor those that have not failed; networks take turns.
 */
const LINE = { atOnce: 1, waiting: 32, waitingEach: 4 };

/** Routes for signing in and out. */
export function signInRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock, log, signIns } = options;
  const attempts = new Attempts(clock);
  const lines: Record<Standing, Queue> = { known: new Queue(LINE), new: new Queue(LINE), failed: new Queue(LINE) };

  const checkInTurn = async <T>(address: string, name: string, check: () => Promise<T>, left: AbortSignal): Promise<T> => {
    refuseEarly(attempts.waitOf(address, name));
    try {
      return await lines[attempts.standingOf(address, name)].run(networkOf(address), check, left);
    } catch (error) {
      throw error instanceof QueueFull ? tooMany(1) : error;
    }
  };

  router.post('/dashboard/api/sign-in', jsonBodyUpTo(SIGN_IN_BYTES), async (ctx) => {
    const { name, password } = valid(signIn, ctx.state.body);
    const address = clientAddress(ctx.req);
    const check = async (): Promise<Operator | null> => {
      const found = await store.operatorNamed(name);
      refuseEarly(attempts.begin(address, name));
      return (await isPassword(password, found?.password ?? null)) ? found : null;
    };
    const operator = await checkInTurn(address, name, check, clientLeft(ctx)).catch((error: unknown) => {
      if (error instanceof HttpError && error.code === 'too_many_attempts') countOne(signIns, 'too many');
      throw error;
    });
    if (!operator) {
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
