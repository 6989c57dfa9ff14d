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
/** Maximum number of sockets of one account that wait at a time: after a restart, all devices of a gateway (MAX_SESSIONS) reconnect. */
const MOST_JOINING = 2048;
const TOO_MANY_JOINING = `more than ${MOST_JOINING} devices of this account are connecting at the same time; try again`;

/** Counts of what each account has at a time. */
class AccountCounts {
  readonly #counts = new Map<string, number>();

  of(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }

  add(accountId: string, change: number): void {
    const count = this.of(accountId) + change;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
  }
}

/**
 * The sessions on this gateway, of all accounts and of each. Those in their grace period and those that are closing count
 * too; one with several channels of a modality counts as several.
 */
export class SessionQuota {
  readonly #limits: SessionLimits;
  #taken = 0;
  readonly #ofAccount = new AccountCounts();

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /** Throws `CloseError` if one more session would exceed a limit. */
  refuseIfFull({ accountId, channels }: Wanted): void {
    const { maxSessions, maxAccountSessions } = this.#limits;
    const added = setCount(channels);
    if (this.#taken + added > maxSessions) throw new CloseError('overloaded', TOO_MANY_SESSIONS);
    if (this.#ofAccount.of(accountId) + added > maxAccountSessions)
      throw new CloseError('overloaded', TOO_MANY_OF_ACCOUNT);
  }

  take({ accountId, channels }: Wanted): void {
    this.#taken += setCount(channels);
    this.#ofAccount.add(accountId, setCount(channels));
  }

  free({ accountId, channels }: Wanted): void {
    this.#taken -= setCount(channels);
    this.#ofAccount.add(accountId, -setCount(channels));
  }
}

/**
 * Limits the sockets of each account whose key is good and which wait to join a session: joining takes writes to the
 * store, one device's connections join one after the other, and no account may keep the devices of others waiting for long.
 */
export class JoinLimiter {
  readonly #joining = new AccountCounts();

  /** Runs `join` for a socket of this account; rejects with `CloseError` if too many of its sockets wait. */
  async run(accountId: string, join: () => Promise<void>): Promise<void> {
    if (this.#joining.of(accountId) >= MOST_JOINING) throw new CloseError('overloaded', TOO_MANY_JOINING);
    this.#joining.add(accountId, 1);
    try {
      await join();
    } finally {
      this.#joining.add(accountId, -1);
    }
  }
}
