import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { HttpError } from '../errors.js';
import { endLiveKeys } from '../operators/operator.js';
import type { Login, Operator } from '../store/store.js';
import type { DashboardMiddleware, DashboardOptions } from './dashboard-context.js';

/** Lifetime of a login, ms. */
const LASTS_MS = 12 * 3_600_000;
const COOKIE = 'di_dashboard';
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;
const SAFE = ['GET', 'HEAD'];
const SIGN_IN = '/dashboard/api/sign-in';

/** Creates a login of an operator, and sets its token as a cookie. */
export async function begin(ctx: Context, { store, clock }: DashboardOptions, operator: Operator): Promise<Login> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const createdAt = clock.now();
  const { id: operatorId, revision } = operator;
  const login = { hash: hashOf(token), operatorId, revision, createdAt, expiresAt: createdAt + LASTS_MS };
  await store.addLogin(login);
  setCookie(ctx, token, LASTS_MS);
  return login;
}

/** Ends a login, in the store and in its browser; the operator's live pages elsewhere get other keys. */
export async function end(
  ctx: Context,
  { store, clock }: DashboardOptions,
  { hash, operatorId }: Login,
): Promise<void> {
  await store.endLogin(hash);
  await endLiveKeys(store, operatorId, clock.now());
  setCookie(ctx, '', 0);
}

/**
 * Requires a login for the dashboard's interface, and for requests that change anything also that they come from the dashboard's own
 * pages: a foreign page can neither set the header nor forge its origin.
 */
export function requireLogin({ store, clock }: DashboardOptions): DashboardMiddleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/dashboard/api/')) return next();
    ctx.set('Cache-Control', 'no-store');
    if (!SAFE.includes(ctx.method)) refuseForeign(ctx);
    if (ctx.path === SIGN_IN) return next();
    const token = ctx.cookies.get(COOKIE) ?? '';
    ctx.state.authenticate = async () => {
      const found = TOKEN.test(token) ? await store.login(hashOf(token)) : null;
      if (!found || found.login.expiresAt <= clock.now()) {
        throw new HttpError('unauthenticated', 'you are not signed in: sign in again');
      }
      ctx.state.signedIn = found;
    };
    await ctx.state.authenticate();
    return next();
  };
}

function refuseForeign(ctx: Context): void {
  if (ctx.get('X-Dashboard') === '1' && originHost(ctx.get('Origin')) === ctx.get('Host')) return;
  throw new HttpError(
    'forbidden',
    "only the dashboard's own pages can make this request: open /dashboard of this service; a proxy must pass the header Host unchanged",
  );
}

function originHost(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

function setCookie(ctx: Context, token: string, maxAge: number): void {
  const secure = isSecure(ctx);
  const attributes = ['Path=/dashboard', 'HttpOnly', 'SameSite=Strict', `Max-Age=${Math.floor(maxAge / 1000)}`];
  ctx.append('Set-Cookie', [`${COOKIE}=${token}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; '));
}

/** Whether the browser uses TLS, by a proxy's header. A client that forges the header only affects its own cookie. */
function isSecure(ctx: Context): boolean {
  return ctx.get('X-Forwarded-Proto').split(',', 1)[0]?.trim() === 'https' || ctx.get('Origin').startsWith('https:');
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
