import { BlockList, isIP } from 'node:net';
import { countOne } from '@device-insights/fanout/process/count';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { HttpError } from '../errors.js';
import { isoTime } from '../instant.js';
import { isPassword } from '../operators/password.js';
import { QueueFull } from '../queue.js';
import { jsonBody } from '../rest/body.js';
import { valid } from '../rest/violations.js';
import { type Operator, SIGNED_IN } from '../store/store.js';
import { Attempts } from './attempts.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { begin, end } from './login.js';
import { type Me, signIn } from './schemas.js';

const WRONG = 'the name or the password is wrong: check both; "admin operator reset NAME" sets a new password';

/** Addresses of this machine and of private networks (RFC 1918, RFC 4193), whose `X-Forwarded-For` is trusted. */
const NEAR = new BlockList();
for (const [net, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  NEAR.addSubnet(net, prefix, 'ipv4');
NEAR.addAddress('::1', 'ipv6');
NEAR.addSubnet('fc00::', 7, 'ipv6');

/** Routes for signing in and out. */
export function signInRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock, log, signIns } = options;
  const attempts = new Attempts(clock);

  router.post('/dashboard/api/sign-in', jsonBody, async (ctx) => {
    const { name, password } = valid(signIn, ctx.state.body);
    const address = addressOf(ctx);
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

/** The client's address: that of its socket, or the one that the nearest proxy reports. */
function addressOf({ req }: Pick<Context, 'req'>): string {
  const peer = plain(req.socket.remoteAddress ?? '');
  const forwarded = String(req.headers['x-forwarded-for'] ?? '');
  const last = plain(forwarded.slice(forwarded.lastIndexOf(',') + 1).trim());
  return isNear(peer) && isIP(last) > 0 ? last : peer;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function isNear(address: string): boolean {
  const family = isIP(address);
  return family > 0 && NEAR.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
