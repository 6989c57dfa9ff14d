import type { Reading } from '../insight.js';
import type { LastInsights, SessionProgress } from '../store/store.js';

/** A session, as the publisher needs it. */
export interface PublishedSession {
  readonly id: string;
  readonly accountId: string;
  readonly user: string | null;
  readonly gateway: string;
  readonly epoch: number;
  /** The newest published insight of each type, at the opening (empty for a new session). */
  readonly last: LastInsights;
  /**
   * The session's readings wait for this, which never rejects: the insights of the previous owner are published first.
   */
  readonly after?: Promise<void>;
  /** The store gave the session to another owner: queued readings are dropped, and the socket must be closed (4009). */
  onLost(): void;
  /**
   * Another gateway took this one for dead and closed the session: what is queued is still stored and published, but no
   * further data may be received. May be called again.
   */
  onClosed(): void;
}

/**
 * Stores readings, then publishes them. Commits are grouped: a commit starts at once when none is in flight, and
 * readings that arrive during it form the next group. Sets the publication stamps, and guarantees that an insight is
 * stored before it is published.
 */
export interface Publisher {
  /** Starts to accept readings of a session. */
  open(session: PublishedSession): PublishedStream;
  /** False while the queue is full or the store is down: devices are paused until `onRelief`. */
  readonly accepting: boolean;
  /** Readings that are not stored yet. */
  readonly queued: number;
  /** Time by which the stamps are ahead of the wall clock, because it was set back, ms; 0 otherwise. */
  readonly aheadMs: number;
  /** Calls back, once, when `accepting` is true again. */
  onRelief(run: () => void): void;
  /**
   * The insights that another gateway had to publish for an account may be lost: its subscribers are told so before any
   * insights from here.
   */
  declareLoss(accountId: string): void;
  /** Resolves when all queued readings are stored and published (or lost). */
  drain(): Promise<void>;
}

export interface PublishedStream {
  publish(reading: Reading): void;
  /** Records progress with the next commit (only the newest is kept). */
  record(progress: SessionProgress): void;
  /** Resolves when everything so far is stored and published, or the session is lost. */
  flushed(): Promise<void>;
  /** No more readings follow; forgets the session once flushed. */
  close(): void;
}
