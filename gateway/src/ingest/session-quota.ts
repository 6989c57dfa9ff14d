import { setCount } from '../analysis/channel.js';
import { CloseError } from '../errors.js';
import type { Session } from '../store/store.js';

/** Limits of the sessions that this gateway serves. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** Maximum number of sessions of one account. */
  readonly maxAccountSessions: number;
  /** Maximum number of sessions that one account opens in a day. */
  readonly maxDailySessions: number;
}

type Wanted = Pick<Session, 'accountId' | 'channels'>;

export const TOO_MANY_SESSIONS = 'this gateway has reached its session limit (MAX_SESSIONS); try again';
const TOO_MANY_OF_ACCOUNT =
  'this account has reached its session limit on this gateway (MAX_ACCOUNT_SESSIONS); try again';

/**
 * The sessions on this gateway, of all accounts and of each. Those in their grace period and those that are closing count
 * too; one with several channels of a modality counts as several.
 */
export class SessionQuota {
  #taken = 0;
  readonly #ofAccount = new Map<string, number>();

  constructor(private readonly limits: SessionLimits) {}

  /** Throws `CloseError` if one more session would exceed a limit. */
  refuseIfFull({ accountId, channels }: Wanted): void {
    const { maxSessions, maxAccountSessions } = this.limits;
    const added = setCount(channels);
    if (this.#taken + added > maxSessions) throw new CloseError('overloaded', TOO_MANY_SESSIONS);
    if ((this.#ofAccount.get(accountId) ?? 0) + added > maxAccountSessions)
      throw new CloseError('overloaded', TOO_MANY_OF_ACCOUNT);
  }

  take({ accountId, channels }: Wanted): void {
    this.#add(accountId, setCount(channels));
  }

  free({ accountId, channels }: Wanted): void {
    this.#add(accountId, -setCount(channels));
  }

  #add(accountId: string, change: number): void {
    this.#taken += change;
    const count = (this.#ofAccount.get(accountId) ?? 0) + change;
    if (count > 0) this.#ofAccount.set(accountId, count);
    else this.#ofAccount.delete(accountId);
  }
}
