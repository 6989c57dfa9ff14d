import type { ClientSession, mongo as driver } from 'mongoose';
import type { StoredInsight } from '../../insight.js';
import { packed } from '../beat-pack.js';
import { type SessionCommit, type SessionCommitResult, StoreRefused } from '../store.js';
import { isDuplicate, type MongoConnection } from './connection.js';
import type { BeatsDocument } from './models/beats.js';
import type { InsightDocument } from './models/insights.js';
import type { SessionDocument } from './models/sessions.js';
import type { Models } from './schemas.js';

type Owner = Pick<SessionDocument, '_id' | 'accountId' | 'user' | 'gateway' | 'epoch' | 'status'>;

/**
 * Commits a group as one transaction. It first assumes that no insight exists already, as is normal; if a unique index
 * shows otherwise, the transaction is undone and runs again with a check.
 */
export async function mongoCommit(
  mongo: MongoConnection,
  models: Models,
  parts: readonly SessionCommit[],
): Promise<SessionCommitResult[]> {
  if (parts.length === 0) return [];
  try {
    return await mongo.commit((session) => write(models, parts, session, false));
  } catch (error) {
    if (!(error instanceof StoreRefused && isDuplicate(error.cause))) throw error;
    return mongo.commit((session) => write(models, parts, session, true));
  }
}

async function write(
  models: Models,
  parts: readonly SessionCommit[],
  session: ClientSession,
  look: boolean,
): Promise<SessionCommitResult[]> {
  const owners = await ownersOf(models, parts, session);
  const owned = parts.filter((part) => owners.has(part));
  if (owned.length === 0) return parts.map(() => ({ lost: true }));
  // Written, and so locked, before the insights are read: nobody else can add to these sessions meanwhile.
  await models.sessions.bulkWrite(
    owned.map((part) => recording(part, owners.get(part))),
    { session },
  );
  const taken = new Set(look ? (await alreadyThere(models, owned, session)).flatMap(identities) : []);
  const results: SessionCommitResult[] = [];
  const documents: Omit<InsightDocument, '_id'>[] = [];
  for (const part of parts) {
    const owner = owners.get(part);
    const written = part.insights.filter((insight) => owner && isNew(insight, taken));
    results.push(owner ? { lost: false, written, ...(isClosed(owner) && { closed: true }) } : { lost: true });
    if (owner) for (const i of written) documents.push({ ...i, accountId: owner.accountId, user: owner.user });
  }
  if (documents.length > 0) await models.insights.insertMany(documents, { session, lean: true });
  const blocks = owned.flatMap((part) => blocksOf(part, owners.get(part)));
  if (blocks.length > 0) await models.beats.bulkWrite(blocks, { session });
  return results;
}

/** The sessions of the parts that the committing gateway still owns. */
async function ownersOf(
  { sessions }: Models,
  parts: readonly SessionCommit[],
  session: ClientSession,
): Promise<Map<SessionCommit, Owner>> {
  const found = await sessions
    .find({ _id: { $in: parts.map((part) => part.sessionId) } })
    .select({ accountId: 1, user: 1, gateway: 1, epoch: 1, status: 1 })
    .session(session);
  const byId = new Map(found.map((owner) => [owner._id, owner]));
  const owners = new Map<SessionCommit, Owner>();
  for (const part of parts) {
    const owner = byId.get(part.sessionId);
    if (owner?.gateway === part.gateway && owner.epoch === part.epoch) owners.set(part, owner);
  }
  return owners;
}

function isClosed({ status }: Owner): boolean {
  return status === 'closed';
}

function recording(
  { sessionId, progress }: SessionCommit,
  owner?: Owner,
): driver.AnyBulkWriteOperation<SessionDocument> {
  const end = owner && isClosed(owner) && progress?.lastDataAt ? { endedAt: progress.lastDataAt } : {};
  const update = { $inc: { commits: 1 }, ...(progress ? { $set: { progress, ...end } } : {}) };
  return { updateOne: { filter: { _id: sessionId }, update } };
}

/** Adds the blocks of beats that the session does not have. */
function blocksOf({ sessionId, beats }: SessionCommit, owner?: Owner): driver.AnyBulkWriteOperation<BeatsDocument>[] {
  return beats.map((block) => ({
    updateOne: {
      filter: { session_id: sessionId, start: block.start },
      update: { $setOnInsert: { accountId: owner?.accountId ?? '', ts: block.ts, beats: packed(block) } },
      upsert: true,
    },
  }));
}

/** The windows and times of these parts that the store already has. */
function alreadyThere({ insights }: Models, parts: readonly SessionCommit[], session: ClientSession) {
  const same = parts.flatMap((part) =>
    part.insights.flatMap(({ session_id, type, actual_end, ts }) => [
      { session_id, type, actual_end },
      { session_id, type, ts },
    ]),
  );
  return insights.find({ $or: same }).session(session);
}

/** The keys that must be unique among insights. */
function identities({ session_id, type, actual_end, ts }: StoredInsight): string[] {
  return [`${session_id} ${type} window ${actual_end}`, `${session_id} ${type} moment ${ts}`];
}

function isNew(insight: StoredInsight, taken: Set<string>): boolean {
  const own = identities(insight);
  if (own.some((identity) => taken.has(identity))) return false;
  for (const identity of own) taken.add(identity);
  return true;
}
