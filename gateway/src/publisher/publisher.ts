import type { Reading } from '../insight.js';
import type { LastInsights, SessionProgress } from '../store/store.js';

/** A session as the publisher sees it. */
export interface PublishedSession {
  readonly id: string;
  readonly accountId: string;
  readonly user: string | null;
  readonly gateway: string;
  readonly epoch: number;
  /** Newest published per type, at the opening (empty for a new session). */
  readonly last: LastInsights;
  /** The store gave the session to another owner: what was queued is dropped, the socket is to be closed (4009). */
  onLost(): void;
}

/**
 * Stores readings, then publishes them: group commit (a commit starts at once when none is in flight, what comes
 * meanwhile is the next group), stamps of publication, and the order stored-then-published.
 */
export interface Publisher {
  /** Begins to take readings of a session. */
  open(session: PublishedSession): PublishedStream;
  /** False while the queue is full or the store is down: readers of devices pause until `onRelief`. */
  readonly accepting: boolean;
  /** Readings that are not stored yet. */
  readonly queued: number;
  /** Calls back, once, when `accepting` is true again. */
  onRelief(run: () => void): void;
  /** Resolves when all that was queued is stored and published (or lost). */
  drain(): Promise<void>;
}

export interface PublishedStream {
  /** Readings that wait to be stored. A back-fill makes them faster than they are published. */
  readonly length: number;
  publish(reading: Reading): void;
  /** Records progress with the next commit (only the newest is kept). */
  record(progress: SessionProgress): void;
  /** Resolves when everything so far is stored and published, or the session is lost. */
  flushed(): Promise<void>;
  /** No more readings; forget the session once flushed. */
  close(): void;
}
