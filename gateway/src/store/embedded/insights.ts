import { BLOCK_S } from '../../beat.js';
import { INSIGHT_TYPES, type InsightType, type StoredInsight, sqiClass } from '../../insight.js';
import { batches } from '../batches.js';
import { packed, unpacked } from '../beat-pack.js';
import type { InsightStore, LastInsights, SessionCommit } from '../store.js';
import { type ReadingGroup, summaryOf } from '../summary.js';
import type { Database } from './database.js';
import { insightWriter, numberOf } from './insight-rows.js';
import { insightSearch } from './insight-search.js';
import type { Calls, Outcome, Tables } from './kinds.js';
import { Merge, type Span } from './runs.js';

/** Insights of one batch. */
const BATCH = 500;

/** The insights of an embedded store. */
export function embeddedInsights(db: Database): Calls<Omit<InsightStore, 'commit'> & Pick<Tables, 'commitText'>> {
  const commitPart = partCommit(db);
  return {
    commitText: (text) => (JSON.parse(text) as SessionCommit[]).map(commitPart), // From the other thread.
    lastInsights: lastOfType(db),
    sessionInsights: sessionInsights(db),
    sessionBeats: sessionBeats(db),
    sessionSummary: sessionSummary(db),
    insights: insightSearch(db),
  };
}

/** A session's account, and the bounds of its insights. */
interface Owned extends Span {
  readonly accountId: string;
}

/** Finds a session that has insights. */
function sessionSearch(db: Database): (sessionId: string) => Promise<Owned | undefined> {
  const find = db.prepare<Owned>(
    `SELECT accountId, n, id, deviceId, first_ts, last_ts, first_end, last_end FROM sessions
       WHERE id = ? AND last_ts IS NOT NULL`,
  );
  return (sessionId) => db.read(() => find.get(sessionId));
}

/** Reads all insights of a session. */
function sessionInsights(db: Database): InsightStore['sessionInsights'] {
  const find = sessionSearch(db);
  return async function* (sessionId, from = Number.MIN_SAFE_INTEGER) {
    const session = await find(sessionId);
    if (!session) return;
    const byData = { type: null, since: null, until: null, dataSince: from };
    const merge = new Merge(db, [session], { accountId: session.accountId, ...byData }, null);
    for (let found = await merge.next(BATCH); found.length > 0; found = await merge.next(BATCH))
      yield found.map(({ insight }) => insight);
  };
}

/** The blocks of a batch. */
const BLOCKS = 100;
/** The blocks of a session after one. Exported for the test of its index. */
export const BLOCKS_AFTER = `SELECT start, beats FROM beats WHERE session = ? AND start > ? ORDER BY start LIMIT ${BLOCKS}`;

/** Reads all beats of a session. */
function sessionBeats(db: Database): InsightStore['sessionBeats'] {
  const find = db.prepare<{ n: number; accountId: string }>('SELECT n, accountId FROM sessions WHERE id = ?');
  const after = db.prepare<{ start: number; beats: string }>(BLOCKS_AFTER);
  return async function* (sessionId, from = 0) {
    const session = await db.read(() => find.get(sessionId));
    if (!session) return;
    const page = (last: { start: number } | null) =>
      db.read(() => after.all(session.n, last?.start ?? from - 1000 * BLOCK_S));
    for await (const blocks of batches(session.accountId, BLOCKS, page))
      yield blocks.flatMap(({ start, beats }) => unpacked(start, beats));
  };
}

/** The aggregate of a slice of a session's insights of a type, by confidence. Exported for the test of its index. */
export const SUMMARY = `SELECT confidence, count(*) AS readings, sum(value) AS sum, min(value) AS min, max(value) AS max,
    max(ts) AS last
  FROM (SELECT confidence, value, ts FROM insights WHERE session = ? AND type = ? AND ts > ? ORDER BY ts LIMIT 2000)
  GROUP BY confidence`;

type Group = Record<'confidence' | 'readings' | 'sum' | 'min' | 'max' | 'last', number>;

/** Summarizes a session in slices, because an aggregate of days would hold the event loop for a second. */
function sessionSummary(db: Database): InsightStore['sessionSummary'] {
  const find = sessionSearch(db);
  const slice = db.prepare<Group>(SUMMARY);
  return async (id) => {
    const session = await find(id);
    if (!session) return [];
    const groups: ReadingGroup[] = [];
    for (const type of INSIGHT_TYPES) {
      const next = (last: Group[] | null) =>
        db.read((): Group[][] => {
          const after = last ? Math.max(...last.map((group) => group.last)) : -1;
          const found = slice.all(session.n, numberOf(type), after);
          return found.length > 0 ? [found] : [];
        });
      for await (const slices of batches(session.accountId, 1, next))
        groups.push(...slices.flat().map((group) => groupOf(type, group)));
    }
    return summaryOf(groups);
  };
}

function groupOf(type: InsightType, { confidence, readings, sum, min, max }: Group): ReadingGroup {
  const sqi_class = sqiClass(confidence / 1000);
  return { type, sqi_class, readings, sum: sum / 1000, min: min / 1000, max: max / 1000 };
}

/** Writes one part of a commit, within its transaction. */
function partCommit(db: Database): (part: SessionCommit) => Outcome {
  const owned = db.prepare<Owner>(
    `SELECT n, account, endedAt, first_ts, last_ts, first_end, last_end FROM sessions
       WHERE id = ? AND gateway = ? AND epoch = ?`,
  );
  const record = db.prepare(
    `UPDATE sessions SET progress = ifnull(?, progress), endedAt = ?, first_ts = ?, last_ts = ?, first_end = ?, last_end = ?
       WHERE n = ?`,
  );
  const insert = insightWriter(db);
  const addBlock = db.prepare(
    'INSERT INTO beats (session, start, ts, account, beats) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  return ({ sessionId, gateway, epoch, insights, beats, progress }) => {
    const owner = owned.get(sessionId, gateway, epoch);
    if (!owner) return { lost: true };
    const existed: number[] = [];
    const written = insights.filter((insight, i) => {
      const isNew = insert(insight, owner.n, owner.account);
      if (!isNew) existed.push(i);
      return isNew;
    });
    for (const block of beats) addBlock.run(owner.n, block.start, block.ts, owner.account, packed(block));
    const closed = owner.endedAt !== null;
    const endedAt = closed ? (progress?.lastDataAt ?? owner.endedAt) : null;
    const { first_ts, last_ts, first_end, last_end } = boundsOf(owner, written);
    if (progress || written.length > 0)
      record.run(progress && JSON.stringify(progress), endedAt, first_ts, last_ts, first_end, last_end, owner.n);
    return { lost: false, existed, ...(closed && { closed }) };
  };
}

/** The bounds of a session's insights with others. */
function boundsOf({ first_ts, last_ts, first_end, last_end }: Bounds, insights: readonly StoredInsight[]): Bounds {
  if (insights.length === 0) return { first_ts, last_ts, first_end, last_end };
  const [ts, ends] = [insights.map((insight) => insight.ts), insights.map(({ actual_end }) => actual_end)];
  return {
    first_ts: Math.min(first_ts ?? Number.POSITIVE_INFINITY, ...ts),
    last_ts: Math.max(last_ts ?? Number.NEGATIVE_INFINITY, ...ts),
    first_end: Math.min(first_end ?? Number.POSITIVE_INFINITY, ...ends),
    last_end: Math.max(last_end ?? Number.NEGATIVE_INFINITY, ...ends),
  };
}

/** Reads the newest insight of each type: one look-up for each type, however long the session is. */
function lastOfType(db: Database): (sessionId: string) => LastInsights {
  const session = db.prepare<{ n: number }>('SELECT n FROM sessions WHERE id = ?');
  const newest = db.prepare<Pick<StoredInsight, 'ts' | 'actual_end'>>(
    'SELECT ts, actual_end FROM insights WHERE session = ? AND type = ? ORDER BY ts DESC LIMIT 1',
  );
  return (sessionId) => {
    const n = session.get(sessionId)?.n ?? 0;
    const last: LastInsights = {};
    for (const type of INSIGHT_TYPES) {
      const row = newest.get(n, numberOf(type));
      if (row) last[type] = { ts: row.ts, actualEnd: row.actual_end };
    }
    return last;
  };
}

/** The bounds of a session's insights; null without any. */
type Bounds = Readonly<Record<'first_ts' | 'last_ts' | 'first_end' | 'last_end', number | null>>;

interface Owner extends Bounds {
  /** Numbers of the session, and of its account. */
  readonly n: number;
  readonly account: number;
  /** Null while the session is open. */
  readonly endedAt: number | null;
}
