import { setCount } from '../analysis/channel.js';
import { CloseError } from '../errors.js';
import type { Session } from '../store/store.js';

/** Limits of the sessions that this gateway serves. */
export interface RoomLimits {
  readonly maxSessions: number;
  /** Most sessions of one account. */
  readonly maxAccountSessions: number;
  /** Most sessions that one account opens in a day. */
  readonly maxDailySessions: number;
}

type Place = Pick<Session, 'accountId' | 'channels'>;

export const NO_ROOM = 'this gateway has reached its session limit (MAX_SESSIONS); try again';
const NO_ROOM_FOR_ACCOUNT =
  'this account has reached its session limit on this gateway (MAX_ACCOUNT_SESSIONS); try again';

/**
 * The room for sessions on this gateway. Those in their grace period and those that are closing take room too; one with
 * several channels of a modality takes that of several.
 */
export class Room {
  readonly #limits: RoomLimits;
  #taken = 0;
  readonly #ofAccount = new Map<string, number>();

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Throws `CloseError` if a session finds no room. */
  refuseIfFull({ accountId, channels }: Place): void {
    const { maxSessions, maxAccountSessions } = this.#limits;
    const added = setCount(channels);
    if (this.#taken + added > maxSessions) throw new CloseError('overloaded', NO_ROOM);
    if ((this.#ofAccount.get(accountId) ?? 0) + added > maxAccountSessions)
      throw new CloseError('overloaded', NO_ROOM_FOR_ACCOUNT);
  }

  take({ accountId, channels }: Place): void {
    this.#count(accountId, setCount(channels));
  }

  free({ accountId, channels }: Place): void {
    this.#count(accountId, -setCount(channels));
  }

  #count(accountId: string, change: number): void {
    this.#taken += change;
    const count = (this.#ofAccount.get(accountId) ?? 0) + change;
    if (count > 0) this.#ofAccount.set(accountId, count);
    else this.#ofAccount.delete(accountId);
  }
}
