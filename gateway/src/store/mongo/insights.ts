import { Types } from 'mongoose';
import { BLOCK_S } from '../../beat.js';
import { INSIGHT_TYPES, type StoredInsight } from '../../insight.js';
import { batches } from '../batches.js';
import { unpacked } from '../beat-pack.js';
import { pageOf } from '../cursor.js';
import { cursorAt, cursorKind, orderOf, placeOf } from '../insight-order.js';
import type { InsightQuery, InsightStore, LastInsights, Page } from '../store.js';
import { type ReadingGroup, summaryOf } from '../summary.js';
import { mongoCommit } from './commit.js';
import type { MongoConnection } from './connection.js';
import type { BeatsDocument } from './models/beats.js';
import type { InsightDocument } from './models/insights.js';
import type { Models } from './schemas.js';

/** Documents of one read. */
const BATCH = 500;
const BLOCKS = 100;

/** The insights of a MongoDB store. */
export function mongoInsights(mongo: MongoConnection, models: Models): InsightStore {
  const { beats, insights, sessions } = models;
  const accountOf = async (sessionId: string) =>
    (await sessions.findById(sessionId, { accountId: 1 }))?.accountId ?? '';
  return {
    commit: (parts) => mongoCommit(mongo, models, parts),
    lastInsights: (sessionId) => mongo.run(() => lastOf(models, sessionId)),
    sessionInsights: (sessionId, from) =>
      insightsOf(
        () => mongo.run(() => accountOf(sessionId)),
        (last) =>
          mongo.run(() =>
            insights
              .find({ session_id: sessionId, ...(last ? afterInSession(last) : from === undefined ? {} : since(from)) })
              .sort({ actual_end: 1, ts: 1, _id: 1 })
              .limit(BATCH),
          ),
      ),
    sessionBeats: async function* (session_id, from = 0) {
      const page = (last: BeatsDocument | null) =>
        mongo.run(() =>
          beats
            .find({ session_id, start: { $gt: last?.start ?? from - 1000 * BLOCK_S } })
            .sort({ start: 1 })
            .limit(BLOCKS),
        );
      for await (const blocks of batches(await mongo.run(() => accountOf(session_id)), BLOCKS, page))
        yield blocks.flatMap((block) => unpacked(block.start, block.beats));
    },
    sessionSummary: (sessionId) => mongo.run(async () => summaryOf(await groupsOf(models, sessionId))),
    insights: async (query) => {
      const found = insights
        .find(insightFilter(query))
        .sort(insightSort(query))
        .limit(query.limit + 1);
      return insightPageOf(await mongo.run(() => found), query);
    },
  };
}

function since(from: number) {
  return { actual_end: { $gte: from } };
}

async function* insightsOf(
  accountOf: () => Promise<string>,
  page: (last: InsightDocument | null) => Promise<InsightDocument[]>,
): AsyncGenerator<StoredInsight[]> {
  for await (const found of batches(await accountOf(), BATCH, page)) yield found.map(insightOf);
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
    const newest = await insights.findOne({ session_id: sessionId, type }).sort({ ts: -1 });
    if (newest) last[type] = { ts: newest.ts, actualEnd: newest.actual_end };
  }
  return last;
}

function groupsOf({ insights }: Models, session_id: string): Promise<ReadingGroup[]> {
  const value = '$value';
  return insights.aggregate<ReadingGroup>([
    { $match: { session_id } },
    {
      $group: {
        _id: { type: '$type', sqi_class: '$sqi_class' },
        readings: { $sum: 1 },
        ...{ sum: { $sum: value }, min: { $min: value }, max: { $max: value } },
      },
    },
    { $project: { _id: 0, type: '$_id.type', sqi_class: '$_id.sqi_class', readings: 1, sum: 1, min: 1, max: 1 } },
  ]);
}

/** The filter of a page of insights. Exported for the test of its indexes. */
export function insightFilter(query: InsightQuery) {
  const { accountId, user, deviceId, type, since, until, dataSince = null, dataUntil = null } = query;
  const bounds = [
    ...(since === null ? [] : [{ ts: { $gte: since } }]),
    ...(until === null ? [] : [{ ts: { $lt: until } }]),
    ...(dataSince === null ? [] : [{ actual_end: { $gte: dataSince } }]),
    ...(dataUntil === null ? [] : [{ actual_end: { $lt: dataUntil } }]),
    ...beyondCursor(query),
  ];
  return {
    accountId,
    ...(user === null ? {} : { user }),
    ...(deviceId ? { device_id: deviceId } : {}),
    ...(type === null ? {} : { type }),
    ...(bounds.length === 0 ? {} : { $and: bounds }),
  };
}

/** The order of a page of insights. Exported for the test of its indexes. */
export function insightSort(query: InsightQuery): Record<string, 1 | -1> {
  const { byData, forward } = orderOf(query);
  const sign = forward ? 1 : -1;
  return byData ? { actual_end: sign, ts: sign, _id: sign } : { ts: sign, _id: sign };
}

function beyondCursor(query: InsightQuery) {
  const place = placeOf(query, '[0-9a-f]{24}');
  if (!place) return [];
  const { actual_end, ts, id } = place;
  const { byData, forward } = orderOf(query);
  const [beyond, from] = forward ? ['$gt', '$gte'] : ['$lt', '$lte'];
  const same = byData ? { actual_end } : {};
  const rest = [
    { ...same, ts: { [beyond]: ts } },
    { ...same, ts, _id: { [beyond]: new Types.ObjectId(id) } },
  ];
  if (!byData) return [{ ts: { [from]: ts } }, { $or: rest }];
  return [{ actual_end: { [from]: actual_end } }, { $or: [{ actual_end: { [beyond]: actual_end } }, ...rest] }];
}

function insightPageOf(found: InsightDocument[], query: InsightQuery): Page<StoredInsight> {
  const order = orderOf(query);
  const at = ({ actual_end, ts, _id }: InsightDocument) => cursorAt(order, { actual_end, ts, id: _id.toHexString() });
  const page = pageOf(cursorKind(order), found, query.limit, at, insightOf);
  if (!order.forward) page.rows.reverse();
  return page;
}

function insightOf({ _id, accountId, user, ...insight }: InsightDocument): StoredInsight {
  return insight;
}
