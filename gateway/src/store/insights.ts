import type { Beat, BeatBlock } from '../beat.js';
import type { InsightType, SqiClass, StoredInsight } from '../insight.js';
import type { Page, PageQuery, Scope } from './page.js';
import type { SessionProgress } from './sessions.js';

/** The insights, and the beats that they were computed from. */
export interface InsightStore {
  /**
   * Writes a group as one transaction with the ownership check: if a part's session no longer has its owner and epoch,
   * the whole part is dropped and reported as lost. A session that was closed meanwhile takes the part from its last
   * owner, with the arrival of the last data as its end, and is reported as closed: another gateway had taken the owner for
   * dead. The insights of a session and type come in the order of their windows, with increasing `ts`: one whose
   * (session, type, actual_end) or (session, type, ts) exists already is left out of `written`.
   * `progress` is written in the same transaction, and the blocks of beats, without those whose `start` the session has.
   */
  commit(parts: readonly SessionCommit[]): Promise<SessionCommitResult[]>;
  /** Newest `ts` and `actual_end` per type of a session. */
  lastInsights(sessionId: string): Promise<LastInsights>;
  /**
   * All insights of a session, or those whose `actual_end` is `from` or later, ordered by `actual_end`, then `ts`, in
   * batches, without holding all of them in memory.
   */
  sessionInsights(sessionId: string, from?: number): AsyncIterable<StoredInsight[]>;
  /**
   * All beats of a session, or those of the block with `from` and of later ones, in order of time, in batches, without holding
   * all of them in memory.
   */
  sessionBeats(sessionId: string, from?: number): AsyncIterable<Beat[]>;
  /** Statistics of a session's readings, by type, in the order of the types' names. Computed by the store. */
  sessionSummary(sessionId: string): Promise<InsightSummary[]>;
  /**
   * Ordered by (`ts`, an id of the store), with a bound of data time by (`actual_end`, `ts`, id). With a lower bound of the
   * time that orders them: ascending from there on; without: the last ones before the upper bound, also in ascending order.
   */
  insights(query: InsightQuery, signal?: AbortSignal): Promise<Page<StoredInsight>>;
}

export interface SessionCommit {
  readonly sessionId: string;
  readonly gateway: string;
  readonly epoch: number;
  readonly insights: readonly StoredInsight[];
  readonly beats: readonly StoredBlock[];
  readonly progress: SessionProgress | null;
}

/** A block of beats, with the time at which it was committed, ms: its age. */
export interface StoredBlock extends BeatBlock {
  readonly ts: number;
}

/** In the order of the parts of a commit. */
export type SessionCommitResult =
  | { readonly lost: true }
  | { readonly lost: false; readonly written: StoredInsight[]; readonly closed?: true };

export type LastInsights = Partial<Record<InsightType, { readonly ts: number; readonly actualEnd: number }>>;

/** The readings of one type of a session. */
export interface InsightSummary {
  readonly type: InsightType;
  /** Number of readings of each class. */
  readonly readings: Readonly<Record<SqiClass, number>>;
  /** Of the trusted readings alone, which are not `unfit`; null if there are none. */
  readonly trusted: { readonly mean: number; readonly min: number; readonly max: number } | null;
}

export interface InsightQuery extends Scope, PageQuery {
  readonly type: InsightType | null;
  /** Only of this device. */
  readonly deviceId?: string | null;
  /** `ts` from, inclusive, and to, exclusive, ms. */
  readonly since: number | null;
  readonly until: number | null;
  /** `actual_end` from, inclusive, and to, exclusive, ms. With one of them the order is by data time. */
  readonly dataSince?: number | null;
  readonly dataUntil?: number | null;
}
