import { randomUUID } from 'node:crypto';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { type ErasedReadings, pagesOf, type Session, type SessionQuery, type Store } from '../store/store.js';

/** The store to erase from, and the clock that decides. */
interface ErasureContext {
  readonly store: Store;
  readonly clock: Clock;
}

/** Rows deleted at a time: insights occupy the embedded store's only writer for about 20 ms. */
const BATCH = 500;
const PAGE = 100;
/** Time between revoking and deleting keys, ms. Every gateway polls for revoked keys once a second, and a deleted key is no longer listed. */
const HEARD_MS = 5000;

/** Numbers of erased sessions and insights. */
interface Erased {
  readonly sessions: number;
  readonly insights: number;
}

/**
 * Erases a session with its insights and beats. An open session is first taken from its gateway and closed; one that was closed for a
 * gateway that only seemed dead may get some meanwhile, which are erased too.
 */
export async function eraseSession(context: ErasureContext, session: Session): Promise<Erased> {
  if (session.status === 'open') await close(context, session);
  let insights = 0;
  do {
    insights += await eraseReadings(context, { sessionId: session.id });
    if (await context.store.eraseSession(session.id)) return { sessions: 1, insights };
  } while ((await context.store.session(session.id))?.status === 'closed');
  return { sessions: 0, insights };
}

/**
 * Revokes the keys of an account, or of one of its users. After every gateway has closed their sockets, erases their sessions,
 * insights and keys.
 */
export async function eraseHolder(
  context: ErasureContext,
  accountId: string,
  user: string | null,
): Promise<Erased & { readonly keys: number }> {
  const { store, clock } = context;
  for (const key of await store.keys(accountId))
    if ((user === null || key.user === user) && key.revokedAt === null) await store.revokeKey(key.id, clock.now());
  await pause(clock, HEARD_MS);
  const erased = await eraseListed(context, { accountId, user, status: null }, () => true);
  return { ...erased, keys: await inBatches(clock, (most) => store.eraseKeys(accountId, user, most)) };
}

/**
 * Erases an account and all that it has; its keys are revoked first. Null if sessions were opened meanwhile with a new key. What
 * an interrupted call leaves, the next one erases.
 */
export async function eraseAccount(
  context: ErasureContext,
  id: string,
): Promise<(Erased & { readonly keys: number }) | null> {
  const erased = await eraseHolder(context, id, null);
  let isUnused = true;
  await inBatches(context.clock, async (most) => {
    const count = await context.store.eraseAccount(id, most);
    isUnused = count !== null;
    return count ?? 0;
  });
  return isUnused ? erased : null;
}

/** Erases the sessions that ended before an instant, and the insights and beats that longer sessions stored before it. */
export async function eraseBefore(context: ErasureContext, before: number): Promise<Erased> {
  let erased: Erased = { sessions: 0, insights: 0 };
  for (const { id: accountId } of await context.store.accounts()) {
    erased = sum(erased, { sessions: 0, insights: await eraseReadings(context, { accountId, before }) });
    const ended = ({ endedAt }: Session) => endedAt !== null && endedAt < before;
    erased = sum(erased, await eraseListed(context, { accountId, user: null, status: 'closed', until: before }, ended));
  }
  return erased;
}

async function eraseListed(
  context: ErasureContext,
  query: Omit<SessionQuery, 'limit' | 'cursor'>,
  wanted: (session: Session) => boolean,
): Promise<Erased> {
  let erased: Erased = { sessions: 0, insights: 0 };
  for await (const sessions of pagesOf((cursor) => context.store.sessions({ ...query, limit: PAGE, cursor })))
    for (const session of sessions) if (wanted(session)) erased = sum(erased, await eraseSession(context, session));
  return erased;
}

/** Takes the session from its gateway, which notices at its next commit or when it polls for take-overs. */
async function close({ store }: ErasureContext, { id, epoch, startedAt, progress }: Session): Promise<void> {
  const taken = await store.claimSession(id, epoch, randomUUID());
  if (taken) await store.closeSession(id, taken.epoch, progress.lastDataAt ?? startedAt);
}

/** Erases insights, and first the beats that they were computed from; the number of insights. */
async function eraseReadings({ store, clock }: ErasureContext, which: ErasedReadings): Promise<number> {
  await inBatches(clock, (most) => store.eraseReadings('beats', which, most));
  return inBatches(clock, (most) => store.eraseReadings('insights', which, most));
}

/** Pauses after each batch for as long as the batch took, so that other writers get their turn. */
async function inBatches(clock: Clock, erase: (most: number) => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const start = clock.monotonic();
    const count = await erase(BATCH);
    total += count;
    if (count < BATCH) return total;
    await pause(clock, clock.monotonic() - start);
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

function sum(one: Erased, other: Erased): Erased {
  return { sessions: one.sessions + other.sessions, insights: one.insights + other.insights };
}
