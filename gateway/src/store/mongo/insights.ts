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
import { after, type Order } from './rows.js';
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
    lastInsights: (sessionId) => lastOf(models, sessionId),
    sessionInsights: async function* (session_id, from) {
      const page = (last: InsightDocument | null) => {
        const begin = from === undefined ? {} : { actual_end: { $gte: from } };
        const place = last ? after(IN_SESSION, [last.actual_end, last.ts, last._id]) : begin;
        return mongo.run(() =>
          insights
            .find({ session_id, ...place })
            .sort(IN_SESSION)
            .limit(BATCH),
        );
      };
      const accountId = await mongo.run(() => accountOf(session_id));
      for await (const found of batches(accountId, BATCH, page)) yield found.map(insightOf);
    },
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
    sessionSummary: async (sessionId) => summaryOf(await groupsOf(models, sessionId)),
    insights: async (query) => {
      const found = insights
        .find(insightFilter(query))
        .sort(insightSort(query))
        .limit(query.limit + 1);
      return insightPageOf(await found, query);
    },
  };
}

const IN_SESSION: Order = { actual_end: 1, ts: 1, _id: 1 };

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
export function insightSort(query: InsightQuery): Order {
  const { byData, forward } = orderOf(query);
  const sign = forward ? 1 : -1;
  return byData ? { actual_end: sign, ts: sign, _id: sign } : { ts: sign, _id: sign };
}

function beyondCursor(query: InsightQuery) {
  const place = placeOf(query, '[0-9a-f]{24}');
  if (!place) return [];
  const { actual_end, ts, id } = place;
  const position = [ts, new Types.ObjectId(id)];
  return [after(insightSort(query), orderOf(query).byData ? [actual_end, ...position] : position)];
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
