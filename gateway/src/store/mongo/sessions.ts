import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import { AFTER_ALL } from '../device-order.js';
import { type Session, type SessionQuery, type SessionStore, TAKEOVERS_KEPT } from '../store.js';
import { isAdded, isTimeLimit, type MongoConnection } from './connection.js';
import type { DiagnosticsDocument } from './models/diagnostics.js';
import type { SessionDocument } from './models/sessions.js';
import { after, documentOf, type Order, rowOf } from './rows.js';
import type { Models } from './schemas.js';

/** Wait for a commit that holds a session, before it is ended, ms. */
const HELD_MS = 1000;

/** The sessions of a MongoDB store. */
export function mongoSessions(mongo: MongoConnection, models: Models): SessionStore {
  const { beats, devices, diagnostics, gateways, insights, sessions } = models;
  const hasData = async (session_id: string) =>
    (await insights.exists({ session_id })) !== null || (await beats.exists({ session_id })) !== null;
  /**
   * Changes a session. If its gateway died during a commit, the server would keep the session locked for a minute
   * (transactionLifetimeLimitSeconds).
   */
  const change = async <T>(id: string, write: (limit: { maxTimeMS?: number }) => Promise<T>): Promise<T> => {
    try {
      return await write({ maxTimeMS: HELD_MS });
    } catch (error) {
      if (!isTimeLimit(error)) throw error;
      const held = await sessions.findById(id);
      const owner = held && (await gateways.findById(held.gateway));
      if (owner?.commitSession) await mongo.endCommitOf(owner.commitSession);
      return write({});
    }
  };
  const one = (found: SessionDocument | null): Session | null => found && sessionOf(found);
  return {
    openSession: (session) =>
      isAdded(sessions.create({ ...documentOf(session), takeovers: [], commits: 0 }), 'accountId', 'deviceId'),
    session: async (id) => one(await sessions.findById(id)),
    openSessionOf: async (accountId, deviceId) => one(await sessions.findOne({ accountId, deviceId, status: 'open' })),
    claimSession: async (id, epoch, gateway) => {
      const owned = { _id: id, epoch, status: 'open' } as const;
      const found = await sessions.findOne(owned);
      if (!found) return null;
      const update = { $set: { gateway, epoch: epoch + 1 }, ...takeover(found, gateway) };
      return one(
        await change(id, (limit) => sessions.findOneAndUpdate(owned, update, { returnDocument: 'after', ...limit })),
      );
    },
    closeSession: async (id, epoch, endedAt) => {
      const open = { _id: id, epoch, status: 'open' } as const;
      if (endedAt === null && !(await hasData(id))) {
        const { deletedCount } = await change(id, (limit) => sessions.deleteOne(open, limit));
        if (deletedCount === 1) await diagnostics.deleteOne({ _id: id });
        return deletedCount === 1;
      }
      const update = [{ $set: { status: 'closed', endedAt: endedAt ?? '$startedAt' } }];
      const write = (limit: object) => sessions.updateOne(open, update, { ...limit, updatePipeline: true });
      return (await change(id, write)).modifiedCount === 1;
    },
    putDiagnostics: async ({ sessionId, gateway, epoch, diagnostics: seen, problem }) => {
      const owned = await sessions.findOne({ _id: sessionId, gateway, epoch });
      if (!owned) return;
      const { accountId, deviceId } = owned;
      await diagnostics.updateOne({ _id: sessionId }, { $set: { diagnostics: seen } }, { upsert: true });
      await devices.updateOne({ accountId, deviceId }, { $set: { problem } });
    },
    diagnostics: async (id) => (await diagnostics.findById(id))?.diagnostics ?? null,
    streamingDevices: async ({ accountId, prefix, limit }) => {
      const deviceId = { $gte: prefix ?? '', $lt: `${prefix ?? ''}${AFTER_ALL}` };
      const found = await sessions.aggregate<StreamingDocument>([
        { $match: { accountId, status: 'open', deviceId } },
        { $sort: { deviceId: 1 } },
        { $limit: limit },
        { $lookup: { from: 'diagnostics', localField: '_id', foreignField: '_id', as: 'kept' } },
        { $project: { deviceId: 1, kept: 1 } },
      ]);
      return found.map((each) => ({
        deviceId: each.deviceId,
        sessionId: each._id,
        diagnostics: each.kept[0]?.diagnostics ?? null,
      }));
    },
    sessions: async (query) => {
      const found = await sessions
        .find(sessionFilter(query))
        .sort(NEWEST)
        .limit(query.limit + 1);
      return pageOf('sessions', found, query.limit, ({ startedAt, _id }) => [startedAt, _id], sessionOf);
    },
  };
}

interface StreamingDocument {
  readonly _id: string;
  readonly deviceId: string;
  readonly kept: readonly DiagnosticsDocument[];
}

function takeover({ gateway: from, epoch }: SessionDocument, to: string): object {
  if (from === to) return {};
  return { $push: { takeovers: { $each: [{ gateway: from, epoch: epoch + 1 }], $slice: -TAKEOVERS_KEPT } } };
}

/** The filter of a page of sessions. Exported for the test of its indexes. */
export function sessionFilter(query: SessionQuery) {
  const { accountId, user, status, deviceId, since, until, dataSince, dataUntil, cursor } = query;
  return {
    accountId,
    ...(deviceId ? { deviceId } : {}),
    ...(since || until ? { $and: startedWithin(since, until) } : {}),
    ...(dataSince ? { 'progress.lastInstant': { $gte: dataSince } } : {}),
    ...(dataUntil ? { 'progress.firstInstant': { $lt: dataUntil } } : {}),
    ...(user === null ? {} : { user }),
    ...(status === null ? {} : { status }),
    ...(cursor === null ? {} : after(NEWEST, decodeCursor('sessions', UUID, cursor))),
  };
}

function startedWithin(since: number | null | undefined, until: number | null | undefined) {
  return [...(since ? [{ startedAt: { $gte: since } }] : []), ...(until ? [{ startedAt: { $lt: until } }] : [])];
}

const NEWEST: Order = { startedAt: -1, _id: 1 };

export function sessionOf(document: SessionDocument): Session {
  const { takeovers, commits, ...session } = rowOf(document);
  return session;
}
