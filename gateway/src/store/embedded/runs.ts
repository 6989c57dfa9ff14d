import { INSIGHT_TYPES } from '../../insight.js';
import { ownTurn } from '../batches.js';
import { type InsightPlace, orderOf } from '../insight-order.js';
import type { InsightQuery } from '../store.js';
import type { Database } from './database.js';
import { COLUMNS, type InsightValues, insightReader, type Located, numberOf } from './insight-rows.js';

/** A session with insights, and their bounds. */
export interface Span {
  readonly n: number;
  readonly id: string;
  readonly deviceId: string;
  readonly first_ts: number;
  readonly last_ts: number;
  readonly first_end: number;
  readonly last_end: number;
}

/** The part of a query that applies within sessions. */
export type RunQuery = Pick<InsightQuery, 'accountId' | 'type' | 'since' | 'until' | 'dataSince' | 'dataUntil'>;

/** Insights read at once: about 2 ms of the event loop. */
const BATCH = 500;

/**
 * The insights of one session and type, from `low` to before `high` in `ts`. Both `ts` and `actual_end` increase along
 * it, so that it is in the order of either.
 */
interface Run {
  readonly session: Span;
  readonly type: number;
  low: number;
  high: number;
  /** The next insights, in the order of the query. */
  rows: Located[];
  /** Position of the first of them that was not taken. */
  at: number;
}

const RANGE = 'session = ? AND type = ? AND ts >= ? AND ts < ?';
const RUN = `SELECT ${COLUMNS} FROM insights i WHERE ${RANGE} ORDER BY ts`;
/** The statements for a part of a run. Exported for the test of their index. */
export const RUNS = {
  forward: `${RUN} LIMIT ?`,
  backward: `${RUN} DESC LIMIT ?`,
  from: 'SELECT ts, actual_end FROM insights WHERE session = ? AND type = ? AND ts >= ? ORDER BY ts LIMIT 1',
} as const;

/**
 * The insights of some sessions in the order of a query. A session is read only once the merge has come to its bounds.
 * Accounts take turns, a batch each.
 */
export class Merge {
  readonly #sessions: Span[];
  readonly #read: ReturnType<typeof insightReader>;
  readonly #runs: Run[] = [];
  readonly #isForward: boolean;
  readonly #isByData: boolean;

  /** @param place after which it begins, in the order of the query; null for its beginning */
  constructor(
    private readonly db: Database,
    sessions: readonly Span[],
    private readonly query: RunQuery,
    private readonly place: InsightPlace | null,
  ) {
    this.#read = insightReader(db);
    const { forward, byData } = orderOf(query);
    [this.#isForward, this.#isByData] = [forward, byData];
    this.#sessions = sessions.toSorted((a, b) => this.#sign * (this.#edgeOf(b) - this.#edgeOf(a))); // The first one last.
  }

  /** The next insights, at most `most`; fewer at the end. */
  async next(most: number, signal?: AbortSignal): Promise<Located[]> {
    const taken: Located[] = [];
    while (taken.length < most && !signal?.aborted) {
      const run = this.#first();
      const session = this.#sessions.at(-1);
      if (session && (!run || !this.#isBefore(run, session))) await this.#open(session);
      else if (!run) break;
      else {
        taken.push(run.rows[run.at++] as Located);
        if (run.at === run.rows.length) await this.#fill(run);
      }
    }
    return taken;
  }

  get #sign(): 1 | -1 {
    return this.#isForward ? 1 : -1;
  }

  /** The time at which the merge comes to a session. */
  #edgeOf({ first_ts, last_ts, first_end, last_end }: Span): number {
    if (this.#isByData) return this.#isForward ? first_end : last_end;
    return this.#isForward ? first_ts : last_ts;
  }

  /** Whether the next insight of a run comes before all of a session that is not open yet. */
  #isBefore({ rows, at }: Run, session: Span): boolean {
    const { insight } = rows[at] as Located;
    return this.#sign * ((this.#isByData ? insight.actual_end : insight.ts) - this.#edgeOf(session)) < 0;
  }

  /** The run whose next insight is the next one of all. */
  #first(): Run | null {
    let first: Run | null = null;
    for (const run of this.#runs)
      if (!first || this.#precedes(run.rows[run.at] as Located, first.rows[first.at] as Located)) first = run;
    return first;
  }

  #precedes(a: Located, b: Located): boolean {
    return this.#sign * this.#compare(a, b) < 0;
  }

  #compare(a: Located, b: Located): number {
    const byData = this.#isByData ? a.insight.actual_end - b.insight.actual_end : 0;
    return byData || a.insight.ts - b.insight.ts || a.id - b.id;
  }

  async #open(session: Span): Promise<void> {
    this.#sessions.pop();
    await ownTurn(this.query.accountId);
    for (const type of this.query.type === null ? INSIGHT_TYPES : [this.query.type]) {
      const run = { session, type: numberOf(type), low: session.first_ts, high: session.last_ts + 1, rows: [], at: 0 };
      await this.db.read(() => this.#narrow(run));
      this.#runs.push(run);
      await this.#fill(run, false);
    }
  }

  /** Reads the next batch of a run, or drops the run at its end. */
  async #fill(run: Run, inOwnTurn = true): Promise<void> {
    if (inOwnTurn) await ownTurn(this.query.accountId);
    const { session, type, low, high } = run;
    const sql = this.#isForward ? RUNS.forward : RUNS.backward;
    const values = [session.n, type, low, high, BATCH];
    run.at = 0;
    run.rows = await this.db.read(() =>
      this.db.lists<InsightValues>({ sql, values }).map((row) => this.#read(row, session.id, session.deviceId)),
    );
    const last = run.rows.at(-1);
    if (last && this.#isForward) run.low = last.insight.ts + 1;
    else if (last) run.high = last.insight.ts;
    else this.#runs.splice(this.#runs.indexOf(run), 1);
    const { actual_end = 0, ts = 0, id = '' } = this.place ?? {};
    const place = { insight: { actual_end, ts }, id: Number(id) } as Located;
    if (this.place) run.rows = run.rows.filter((row) => this.#precedes(place, row));
    if (last && run.rows.length === 0) await this.#fill(run);
  }

  /** Limits a run to the query's bounds, and to the place where it begins. */
  #narrow(run: Run): void {
    const { since, until, dataSince = null, dataUntil = null } = this.query;
    const [byData, forward] = [this.#isByData, this.#isForward];
    const low = (ts: number) => {
      run.low = Math.max(run.low, ts);
    };
    const high = (ts: number) => {
      run.high = Math.min(run.high, ts);
    };
    if (since !== null) low(since);
    if (until !== null) high(until);
    if (dataSince !== null) low(this.#find(run, (end) => end >= dataSince));
    if (dataUntil !== null) high(this.#find(run, (end) => end >= dataUntil));
    if (!this.place) return;
    const { actual_end, ts } = this.place;
    if (byData && forward) low(this.#find(run, (end) => end >= actual_end));
    else if (byData) high(this.#find(run, (end) => end > actual_end));
    else if (forward) low(ts);
    else high(ts + 1);
  }

  /** The first `ts` of a run whose insights have reached a data time: some 30 look-ups for a day. */
  #find({ session, type, low, high }: Run, hasReached: (actualEnd: number) => boolean): number {
    if (hasReached(session.first_end)) return low;
    if (!hasReached(session.last_end)) return high;
    let [least, most] = [low, high];
    while (least < most) {
      const middle = Math.floor((least + most) / 2);
      const row = this.db.get<{ ts: number; actual_end: number }>(RUNS.from, session.n, type, middle);
      if (!row || hasReached(row.actual_end)) most = middle;
      else least = row.ts + 1;
    }
    return least;
  }
}
