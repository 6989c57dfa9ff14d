import type Router from '@koa/router';
import { createAccount, entitleAccount } from '../admin/accounts.js';
import { HttpError } from '../errors.js';
import { jsonBody } from '../rest/body.js';
import { pathId } from '../rest/permission.js';
import { readQuery } from '../rest/query.js';
import { valid } from '../rest/violations.js';
import type { Account, AccountStore } from '../store/store.js';
import {
  actorOf,
  type DashboardContext,
  type DashboardOptions,
  type DashboardState,
  signedInOf,
} from './dashboard-context.js';
import { performed } from './performed.js';
import { accountRow, algorithmRow, userRow } from './rows.js';
import { entitlement, newAccount, pageQuery } from './schemas.js';

/** Routes of accounts, their algorithms, and their users. */
export function accountRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, algorithms } = options;

  router.get('/dashboard/api/accounts', async (ctx) => {
    signedInOf(ctx);
    ctx.body = (await store.accounts()).map(accountRow);
  });

  router.post('/dashboard/api/accounts', jsonBody, async (ctx) => {
    const { name } = valid(newAccount, ctx.state.body);
    await performed(actorOf(ctx), options, (context) => createAccount(context, name));
    const made = await store.accountNamed(name);
    ctx.status = 201;
    ctx.body = made && accountRow(made);
  });

  router.put('/dashboard/api/accounts/:account/algorithms', jsonBody, async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await accountOf(ctx, store);
    const { algorithms: slugs } = valid(entitlement, ctx.state.body);
    await performed(actor, options, (context) => entitleAccount(context, id, slugs?.join(',') ?? 'all'));
    ctx.body = accountRow(await accountOf(ctx, store));
  });

  router.get('/dashboard/api/accounts/:account/users', async (ctx) => {
    const { id: accountId } = await accountOf(ctx, store);
    const { limit, cursor = null } = readQuery(ctx, pageQuery);
    const { rows, next } = await store.users({ accountId, limit, cursor });
    ctx.body = { rows: rows.map(userRow), next };
  });

  router.get('/dashboard/api/algorithms', (ctx) => {
    signedInOf(ctx);
    ctx.body = algorithms.map(algorithmRow);
  });
}

/** The account in the path, for who is signed in. */
export async function accountOf(ctx: DashboardContext, store: AccountStore): Promise<Account> {
  signedInOf(ctx);
  const account = await store.account(pathId(ctx.params.account, 'account'));
  if (account) return account;
  throw new HttpError('not_found', 'there is no account with this id: choose another account');
}
