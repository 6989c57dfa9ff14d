import { randomUUID } from 'node:crypto';
import { isoTime } from '../instant.js';
import type { Account } from '../store/store.js';
import { type AdminContext, note } from './context.js';
import { chosen, Refusal } from './refusal.js';

/** Creates an account, entitled to all algorithms. */
export async function createAccount(context: AdminContext, name: string): Promise<object> {
  const account = {
    id: randomUUID(),
    name: chosen('the name', name),
    algorithms: null,
    createdAt: context.clock.now(),
  };
  const made = await context.store.createAccount(account);
  if (!made) throw new Refusal(`there is already an account named ${JSON.stringify(name)}`);
  await note(context, 'account created', made.id, made.name);
  return shown(context, made);
}

export async function listAccounts(context: AdminContext): Promise<object[]> {
  return (await context.store.accounts()).map((account) => shown(context, account));
}

/** Sets the algorithms that an account's later sessions run: `all`, or slugs separated by commas. */
export async function entitleAccount(context: AdminContext, named: string, algorithms: string): Promise<object> {
  const slugs = algorithms === 'all' ? null : slugsOf(context, algorithms);
  const { id } = await accountOf(context, named);
  const account = found(id, await context.store.entitle(id, slugs));
  await note(context, 'account entitled', id, `${account.name}: ${slugs?.join(', ') ?? 'all algorithms'}`);
  return shown(context, account);
}

/** Finds an account by its id or its name. */
export async function accountOf({ store }: AdminContext, named: string): Promise<Account> {
  return found(named, (await store.account(named)) ?? (await store.accountNamed(named)));
}

function found(named: string, account: Account | null): Account {
  if (!account)
    throw new Refusal(`there is no account with the id or name ${JSON.stringify(named)}: see "admin account list"`);
  return account;
}

function slugsOf({ algorithms }: AdminContext, text: string): string[] {
  const named = new Set(text.split(',').map((slug) => slug.trim()));
  const known = algorithms.map(({ slug }) => slug);
  for (const slug of named) {
    if (known.includes(slug)) continue;
    throw new Refusal(`there is no algorithm ${JSON.stringify(slug)}: give all, or one or more of ${known.join(',')}`);
  }
  return known.filter((slug) => named.has(slug));
}

function shown({ algorithms }: AdminContext, { id, name, algorithms: slugs, createdAt }: Account): object {
  const entitled = algorithms.map(({ slug }) => slug).filter((slug) => slugs?.includes(slug) ?? true);
  return { id, name, algorithms: entitled, created_at: isoTime(createdAt) };
}
