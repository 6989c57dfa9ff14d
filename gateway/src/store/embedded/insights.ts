import { INSIGHT_TYPES, type InsightType, type StoredInsight } from '../../insight.js';
import { batches } from '../batches.js';
import type { LastInsights, SessionCommit, SessionCommitResult, Store } from '../store.js';
import { type ReadingGroup, summaryOf } from '../summary.js';
import type { Database } from './database.js';
import { insightSearch } from './insight-search.js';

type Insights = Pick<Store, 'commit' | 'lastInsights' | 'sessionInsights' | 'sessionSummary' | 'insights'>;

/** Rows read at once: about 2 ms of the event loop. */
const BATCH = 500;
/** Data time of the readings that are aggregated at once, ms: about 2 ms of the event loop. */
const SLICE_MS = 600_000;

/** The insights of an embedded store. */
export function embeddedInsights(db: Database): Insights {
  const commitPart = partCommit(db);
  const last = lastOfType(db);
  const ofSession = sessionInsights(db);
  return {
    commit: (parts) => db.write(() => parts.map(commitPart)),
    lastInsights: (sessionId) => db.read(() => last(sessionId)),
    sessionInsights: ofSession,
    sessionSummary: sessionSummary(db),
    insights: insightSearch(db),
  };
}

const SESSION = 'i.session = (SELECT n FROM sessions WHERE id = ?)';

/** The insights of one session, as lists of values. */
const VALUES = `SELECT id, type, value, unit, ts, confidence, sqi_class, actual_start, actual_end, coverage, e2e_latency_ms,
    algorithm FROM insights i`;

/**
 * The statements for a batch of a session's insights. Each finds the session's number again: once the session is erased,
 * the number may be that of another one. Exported for the test of their index.
 */
export const OF_SESSION = {
  first: `${VALUES} WHERE ${SESSION} AND actual_end >= ? ORDER BY actual_end, ts, id LIMIT ?`,
  after: `${VALUES} WHERE ${SESSION} AND (actual_end, ts, id) > (?, ?, ?) ORDER BY actual_end, ts, id LIMIT ?`,
} as const;

/** The owner of a session. */
interface Owned {
  readonly account_id: string;
  readonly device_id: string;
}

/** Stands for the owner of a session that does not exist. */
const NOBODYS: Owned = { account_id: '', device_id: '' };

/** Reads all insights of a session. Lists of values take half as long to read as objects with the session's columns. */
function sessionInsights(db: Database): Store['sessionInsights'] {
  const session = db.prepare<Owned>('SELECT account_id, device_id FROM sessions WHERE id = ?');
  const first = db.prepareLists<InsightValues>(OF_SESSION.first);
  const after = db.prepareLists<InsightValues>(OF_SESSION.after);
  return async function* (session_id, from = Number.MIN_SAFE_INTEGER) {
    const { account_id, device_id } = (await db.read(() => session.get(session_id))) ?? NOBODYS;
    const page = (last: InsightValues | null) =>
      db.read(() =>
        last ? after.all(session_id, last[8], last[4], last[0], BATCH) : first.all(session_id, from, BATCH),
      );
    for await (const rows of batches(account_id, BATCH, page))
      yield rows.map((row) => insightFrom(row, session_id, device_id));
  };
}

/**
 * The aggregate of a slice of a session's insights, and the statement that finds its beginning. Exported for the test of
 * their index.
 */
export const SUMMARY = {
  begin: `SELECT min(actual_end) AS at FROM insights i WHERE ${SESSION} AND actual_end >= ?`,
  slice: `SELECT type, sqi_class, count(*) AS readings, sum(value) AS sum, min(value) AS min, max(value) AS max
    FROM insights i WHERE ${SESSION} AND actual_end >= ? AND actual_end < ? GROUP BY type, sqi_class`,
} as const;

/** The groups of a slice of a session, and the data time at which the next slice begins. */
interface Slice {
  readonly groups: readonly ReadingGroup[];
  readonly end: number;
}

/** Summarizes a session in slices, because an aggregate of days would hold the event loop for a second. */
function sessionSummary(db: Database): Store['sessionSummary'] {
  const session = db.prepare<Owned>('SELECT account_id, device_id FROM sessions WHERE id = ?');
  const begin = db.prepare<{ at: number | null }>(SUMMARY.begin);
  const slice = db.prepare<ReadingGroup>(SUMMARY.slice);
  return async (id) => {
    const { account_id } = (await db.read(() => session.get(id))) ?? NOBODYS;
    const next = (last: Slice | null) =>
      db.read((): Slice[] => {
        const at = begin.get(id, last?.end ?? Number.MIN_SAFE_INTEGER)?.at ?? null;
        return at === null ? [] : [{ groups: slice.all(id, at, at + SLICE_MS), end: at + SLICE_MS }];
      });
    const groups: ReadingGroup[] = [];
    for await (const slices of batches(account_id, 1, next)) groups.push(...slices.flatMap((each) => each.groups));
    return summaryOf(groups);
  };
}

/** Writes one part of a commit, within its transaction. */
function partCommit(db: Database): (part: SessionCommit) => SessionCommitResult {
  const owned = db.prepare<Owner>(
    'SELECT n, device, account_id, user, ended_at FROM sessions WHERE id = ? AND gateway = ? AND epoch = ?',
  );
  const record = db.prepare('UPDATE sessions SET progress = ?, ended_at = ? WHERE n = ?');
  const insert = insightInsert(db);
  return (part) => {
    const owner = owned.get(part.sessionId, part.gateway, part.epoch);
    if (!owner) return { lost: true };
    const closed = owner.ended_at !== null;
    const endedAt = closed ? (part.progress?.lastDataAt ?? owner.ended_at) : null;
    if (part.progress) record.run(JSON.stringify(part.progress), endedAt, owner.n);
    const written = part.insights.filter((insight) => insert(insight, owner));
    return { lost: false, written, ...(closed && { closed }) };
  };
}

/** Adds an insight; returns false if there is already one with its window or time. */
function insightInsert(db: Database): (insight: StoredInsight, owner: Owner) => boolean {
  const insert = db.prepare(
    `INSERT INTO insights (session, device, account_id, user, type, value, unit, ts, confidence, sqi_class,
       actual_start, actual_end, coverage, e2e_latency_ms, algorithm)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  return (i, owner) =>
    insert.run(
      ...[owner.n, owner.device, owner.account_id, owner.user, i.type, i.value, i.unit, i.ts, i.confidence],
      ...[i.sqi_class, i.actual_start, i.actual_end, i.coverage, i.e2e_latency_ms, i.algorithm],
    ) === 1;
}

/**
 * Reads the newest insight of each type: one index look-up for each type, however long the session is. Readings of a
 * type are published in the order of their windows, so the newest `ts` is that of the newest window.
 */
function lastOfType(db: Database): (sessionId: string) => LastInsights {
  const newest = db.prepare<{ ts: number; actual_end: number }>(
    `SELECT ts, actual_end FROM insights i WHERE ${SESSION} AND type = ? ORDER BY ts DESC LIMIT 1`,
  );
  return (sessionId) => {
    const last: LastInsights = {};
    for (const type of INSIGHT_TYPES) {
      const row = newest.get(sessionId, type);
      if (row) last[type] = { ts: row.ts, actualEnd: row.actual_end };
    }
    return last;
  };
}

interface Owner {
  /** Number of the session, and of its device. */
  readonly n: number;
  readonly device: number;
  readonly account_id: string;
  readonly user: string | null;
  /** Null while the session is open. */
  readonly ended_at: number | null;
}

/** The columns of `VALUES`. */
type InsightValues = readonly [
  ...[id: number, type: InsightType, value: number, unit: string, ts: number, confidence: number],
  ...[sqi_class: StoredInsight['sqi_class'], actual_start: number, actual_end: number, coverage: number],
  ...[e2e_latency_ms: number, algorithm: string],
];

function insightFrom(row: InsightValues, session_id: string, device_id: string): StoredInsight {
  const [, type, value, unit, ts, confidence, sqi_class, actual_start, actual_end, coverage, e2e_latency_ms] = row;
  return {
    type,
    value,
    unit,
    ts,
    session_id,
    device_id,
    confidence,
    sqi_class,
    actual_start,
    actual_end,
    coverage,
    e2e_latency_ms,
    algorithm: row[11],
  };
}
