import type { Session, SessionStore } from '../store/store.js';
import type { NoticeFields } from './notices.js';

/** Data times of two sessions of a device may overlap by this much, ms: clocks are set, and sessions taken over. */
const OVERLAP_MS = 10_000;
/** Sessions of a device that are compared with a new one: more may overlap with a back-fill of months. */
const MOST_STORED = 200;

/** Finds a closed session of the same device whose data come again in a session. */
export class AlreadyStored {
  /** Null before they were asked for. */
  #closed: Promise<readonly Session[]> | null = null;
  #isDone = false;

  constructor(
    readonly store: Pick<SessionStore, 'sessions'>,
    readonly row: Session,
  ) {}

  /** Whether nothing can be found any more: it was found, or the device has no closed session of that time. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** What `already_stored` says of a session with data from `first` to `last`, ms; null if it repeats none, or that was found before. */
  async find(first: number, last: number): Promise<NoticeFields | null> {
    if (this.#isDone || last - first <= OVERLAP_MS) return null;
    this.#closed ??= this.#closedSince(first + OVERLAP_MS);
    const closed = await this.#closed.catch(() => {
      this.#closed = null; // Asked for again.
      return null;
    });
    const same = closed?.find((session) => overlapMs(session, first, last) > OVERLAP_MS);
    if (closed?.length === 0) this.#isDone = true;
    if (!same || this.#isDone) return null;
    this.#isDone = true;
    const detail = `the closed session ${same.id} of this device has data of the same time: if these are the same data, their readings are stored twice`;
    return { detail, session_id: same.id };
  }

  /** The closed sessions of the device with data at or after a time, ms. Rejects as the store does. */
  async #closedSince(dataSince: number): Promise<readonly Session[]> {
    const { accountId, user, deviceId } = this.row;
    const filter = { accountId, user, deviceId, status: 'closed', dataSince } as const;
    return (await this.store.sessions({ ...filter, limit: MOST_STORED, cursor: null })).rows;
  }
}

/** How much of the time from `first` to `last` a session's data cover, ms. */
function overlapMs({ progress: { firstInstant, lastInstant } }: Session, first: number, last: number): number {
  return Math.min(lastInstant ?? Number.NEGATIVE_INFINITY, last) - Math.max(firstInstant ?? 0, first);
}
