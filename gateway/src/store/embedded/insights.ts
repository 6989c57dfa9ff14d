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
function sessionOf(db: Database, sessionId: string): Promise<Owned | undefined> {
  const find = `SELECT accountId, n, id, deviceId, first_ts, last_ts, first_end, last_end FROM sessions
    WHERE id = ? AND last_ts IS NOT NULL`;
  return db.read(() => db.get<Owned>(find, sessionId));
}

/** Reads all insights of a session. */
function sessionInsights(db: Database): InsightStore['sessionInsights'] {
  return async function* (sessionId, from = Number.MIN_SAFE_INTEGER) {
    const session = await sessionOf(db, sessionId);
    if (!session) return;
    const byData = { type: null, since: null, until: null, dataSince: from };
    const merge = new Merge(db, [session], { accountId: session.accountId, ...byData }, null);
    for (let found = await merge.next(BATCH); found.length > 0; found = await merge.next(BATCH))
      yield found.map(({ insight }) => insight);
  };
}

interface Block {
  readonly start: number;
  readonly beats: string;
}

/** The blocks of a batch. */
const BLOCKS = 100;
/** The blocks of a session after one. Exported for the test of its index. */
export const BLOCKS_AFTER = `SELECT start, beats FROM beats WHERE session = ? AND start > ? ORDER BY start LIMIT ${BLOCKS}`;

/** Reads all beats of a session. */
function sessionBeats(db: Database): InsightStore['sessionBeats'] {
  return async function* (sessionId, from = 0) {
    const find = 'SELECT n, accountId FROM sessions WHERE id = ?';
    const session = await db.read(() => db.get<Pick<Owned, 'n' | 'accountId'>>(find, sessionId));
    if (!session) return;
    const page = (last: Block | null) =>
      db.read(() => db.all<Block>(BLOCKS_AFTER, session.n, last?.start ?? from - 1000 * BLOCK_S));
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
  return async (id) => {
    const session = await sessionOf(db, id);
    if (!session) return [];
    const groups: ReadingGroup[] = [];
    for (const type of INSIGHT_TYPES) {
      const next = (last: Group[] | null) =>
        db.read((): Group[][] => {
          const after = last ? Math.max(...last.map((group) => group.last)) : -1;
          const found = db.all<Group>(SUMMARY, session.n, numberOf(type), after);
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
  const owned = `SELECT n, account, endedAt, first_ts, last_ts, first_end, last_end FROM sessions
    WHERE id = ? AND gateway = ? AND epoch = ?`;
  const record = `UPDATE sessions
    SET progress = ifnull(?, progress), endedAt = ?, first_ts = ?, last_ts = ?, first_end = ?, last_end = ? WHERE n = ?`;
  const addBlock =
    'INSERT INTO beats (session, start, ts, account, beats) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
  const insert = insightWriter(db);
  return ({ sessionId, gateway, epoch, insights, beats, progress }) => {
    const owner = db.get<Owner>(owned, sessionId, gateway, epoch);
    if (!owner) return { lost: true };
    const existed: number[] = [];
    const written = insights.filter((insight, i) => {
      const isNew = insert(insight, owner.n, owner.account);
      if (!isNew) existed.push(i);
      return isNew;
    });
    for (const block of beats) db.run(addBlock, owner.n, block.start, block.ts, owner.account, packed(block));
    const closed = owner.endedAt !== null;
    const endedAt = closed ? (progress?.lastDataAt ?? owner.endedAt) : null;
    const { first_ts, last_ts, first_end, last_end } = boundsOf(owner, written);
    if (progress || written.length > 0)
      db.run(record, progress && JSON.stringify(progress), endedAt, first_ts, last_ts, first_end, last_end, owner.n);
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
  const newest = `SELECT ts, actual_end AS actualEnd FROM insights
    WHERE session = (SELECT n FROM sessions WHERE id = ?) AND type = ? ORDER BY ts DESC LIMIT 1`;
  return (sessionId) => {
    const found = INSIGHT_TYPES.map((type) => [type, db.get(newest, sessionId, numberOf(type))]);
    return Object.fromEntries(found.filter(([, last]) => last !== undefined));
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
