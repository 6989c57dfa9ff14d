import { Types } from 'mongoose';
import { INSIGHT_TYPES, type StoredInsight } from '../../insight.js';
import { batches } from '../batches.js';
import { decodeCursor, pageOf } from '../cursor.js';
import type { InsightQuery, LastInsights, Page, Store } from '../store.js';
import { mongoCommit } from './commit.js';
import type { MongoConnection } from './connection.js';
import type { InsightDocument, Models } from './schemas.js';

type Insights = Pick<Store, 'commit' | 'lastInsights' | 'sessionInsights' | 'insights'>;

/** Documents of one read. */
const BATCH = 500;

/** The insights of a MongoDB store. */
export function mongoInsights(mongo: MongoConnection, models: Models): Insights {
  const { insights } = models;
  return {
    commit: (parts) => mongoCommit(mongo, models, parts),
    lastInsights: (sessionId) => mongo.run(() => lastOf(models, sessionId)),
    sessionInsights: (sessionId, from) =>
      insightsOf((last) =>
        mongo.run(() =>
          insights
            .find({ session_id: sessionId, ...(last ? afterInSession(last) : from === undefined ? {} : since(from)) })
            .sort({ actual_end: 1, ts: 1, _id: 1 })
            .limit(BATCH)
            .lean<InsightDocument[]>(),
        ),
      ),
    insights: async (query) => {
      const direction = query.since === null ? -1 : 1;
      const found = insights
        .find(insightFilter(query))
        .sort({ ts: direction, _id: direction })
        .limit(query.limit + 1);
      return insightPageOf(await mongo.run(() => found.lean<InsightDocument[]>()), query);
    },
  };
}

function since(from: number) {
  return { actual_end: { $gte: from } };
}

async function* insightsOf(
  page: (last: InsightDocument | null) => Promise<InsightDocument[]>,
): AsyncGenerator<StoredInsight[]> {
  for await (const found of batches(BATCH, page)) yield found.map(insightOf);
}

function afterInSession({ actual_end, ts, _id }: InsightDocument) {
  const later = [
    { actual_end: { $gt: actual_end } },
    { actual_end, ts: { $gt: ts } },
    { actual_end, ts, _id: { $gt: _id } },
  ];
  return { actual_end: { $gte: actual_end }, $or: later };
}

/**
 * One index look-up for each type, however long the session is. Readings of a type are published in the order of their
 * windows, so the newest `ts` is that of the newest window.
 */
async function lastOf({ insights }: Models, sessionId: string): Promise<LastInsights> {
  const last: LastInsights = {};
  for (const type of INSIGHT_TYPES) {
    const newest = await insights.findOne({ session_id: sessionId, type }).sort({ ts: -1 }).lean<InsightDocument>();
    if (newest) last[type] = { ts: newest.ts, actualEnd: newest.actual_end };
  }
  return last;
}

/** The filter of a page of insights. Exported for the test of its indexes. */
export function insightFilter({ accountId, user, deviceId, type, since, until, cursor }: InsightQuery) {
  const bounds = [
    ...(since === null ? [] : [{ ts: { $gte: since } }]),
    ...(until === null ? [] : [{ ts: { $lt: until } }]),
    ...(cursor === null ? [] : beyond(cursor, since === null ? '$lt' : '$gt')),
  ];
  return {
    accountId,
    ...(user === null ? {} : { user }),
    ...(deviceId ? { device_id: deviceId } : {}),
    ...(type === null ? {} : { type }),
    ...(bounds.length === 0 ? {} : { $and: bounds }),
  };
}

function beyond(cursor: string, operator: '$lt' | '$gt') {
  const [ts, id] = decodeCursor('insights', /^[0-9a-f]{24}$/, cursor);
  const inclusive = operator === '$lt' ? '$lte' : '$gte';
  const rest = [{ ts: { [operator]: ts } }, { ts, _id: { [operator]: new Types.ObjectId(id) } }];
  return [{ ts: { [inclusive]: ts } }, { $or: rest }];
}

function insightPageOf(found: InsightDocument[], { limit, since }: InsightQuery): Page<StoredInsight> {
  const page = pageOf('insights', found, limit, ({ ts, _id }) => [ts, _id.toHexString()], insightOf);
  if (since === null) page.rows.reverse();
  return page;
}

function insightOf({ _id, accountId, user, ...insight }: InsightDocument): StoredInsight {
  return insight;
}
