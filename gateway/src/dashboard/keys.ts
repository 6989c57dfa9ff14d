import type Router from '@koa/router';
import { issueKey, labelKey, revokeKey, rotateKey } from '../admin/keys.js';
import { keyShown } from '../admin/shown.js';
import { HttpError } from '../errors.js';
import { keyRow, newKey } from '../keys/key.js';
import { endLiveKeys } from '../operators/operator.js';
import { jsonBody } from '../rest/body.js';
import { pathId } from '../rest/permission.js';
import { readQuery } from '../rest/query.js';
import { valid } from '../rest/violations.js';
import type { Key, KeyStore } from '../store/store.js';
import { accountOf } from './accounts.js';
import {
  actorOf,
  type DashboardContext,
  type DashboardOptions,
  type DashboardState,
  signedInOf,
} from './dashboard-context.js';
import { performed } from './performed.js';
import type { LiveKey } from './rows.js';
import { keyQuery, labelling, newKey as newKeyBody, rotation } from './schemas.js';

/** Lifetime of a key of the dashboard's own pages, ms; they renew it before it expires. */
const LIVE_MS = 600_000;
/** Keys that one operator can have for its pages: another one ends the oldest. */
const LIVE_KEYS = 10;
/** Time after the expiry of such a key at which it is deleted, ms. */
const FORGOTTEN_MS = 3_600_000;

/** Routes of keys. Keys are issued and revoked only here and on the command line. */
export function keyRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, clock } = options;

  router.get('/dashboard/api/accounts/:account/keys', async (ctx) => {
    const { id: accountId } = await accountOf(ctx, store);
    const { user = null, limit, cursor = null } = readQuery(ctx, keyQuery);
    const { rows, next } = await store.keyPage({ accountId, user, limit, cursor });
    ctx.body = { rows: rows.map(keyShown), next };
  });

  router.post('/dashboard/api/accounts/:account/keys', jsonBody, async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await accountOf(ctx, store);
    const { user, expires, permissions, label } = valid(newKeyBody, ctx.state.body);
    const wanted = { user: user ?? undefined, expires: expires ?? undefined, permissions, label };
    ctx.body = await performed(actor, options, (context) => issueKey(context, id, wanted));
    ctx.status = 201;
  });

  router.post('/dashboard/api/keys/:key/label', jsonBody, async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await keyOf(ctx, store);
    const { label } = valid(labelling, ctx.state.body);
    ctx.body = await performed(actor, options, (context) => labelKey(context, id, label));
  });

  router.post('/dashboard/api/keys/:key/revoke', async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await keyOf(ctx, store);
    ctx.body = await performed(actor, options, (context) => revokeKey(context, id));
  });

  router.post('/dashboard/api/keys/:key/rotate', jsonBody, async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await keyOf(ctx, store);
    const { overlap } = valid(rotation, ctx.state.body);
    ctx.body = await performed(actor, options, (context) => rotateKey(context, id, overlap));
    ctx.status = 201;
  });

  router.post('/dashboard/api/accounts/:account/live-key', async (ctx) => {
    const { operator, login } = signedInOf(ctx);
    const { id } = await accountOf(ctx, store);
    const key = newKey();
    const now = clock.now();
    await store.forgetSubscribeKeys(now - FORGOTTEN_MS);
    const expiresAt = Math.min(now + LIVE_MS, login.expiresAt);
    const fields = { accountId: id, createdAt: now, expiresAt, label: operator.id };
    await store.addKey(keyRow(key, { ...fields, permissions: ['read'], subscribeOnly: true }));
    await endLiveKeys(store, operator.id, now, LIVE_KEYS);
    await ctx.state.authenticate?.(); // A login that ended meanwhile did not end this key.
    ctx.body = { key, lasts_ms: expiresAt - now } satisfies LiveKey;
    ctx.status = 201;
  });
}

async function keyOf(ctx: DashboardContext, store: KeyStore): Promise<Key> {
  const key = await store.key(pathId(ctx.params.key, 'key'));
  if (key && !key.subscribeOnly) return key;
  throw new HttpError('not_found', 'there is no key with this id: reload the list of keys');
}
