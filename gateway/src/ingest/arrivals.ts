import { CloseError } from '../errors.js';

/** Most sockets of one account that wait at a time: after a restart, all devices of a gateway (MAX_SESSIONS) reconnect. */
const MOST = 2048;
const TOO_MANY = `more than ${MOST} devices of this account are connecting at the same time; try again`;

/**
 * The sockets whose key is good, and which wait to join a session. They are limited for each account: joining takes
 * writes to the store, one device's connections join one after the other, and no account may keep the devices of others
 * waiting for long.
 */
export class Arrivals {
  readonly #ofAccount = new Map<string, number>();

  /** Runs `join` for a socket of this account; rejects with `CloseError` if too many of its sockets wait. */
  async admit(accountId: string, join: () => Promise<void>): Promise<void> {
    if ((this.#ofAccount.get(accountId) ?? 0) >= MOST) throw new CloseError('overloaded', TOO_MANY);
    this.#count(accountId, 1);
    try {
      await join();
    } finally {
      this.#count(accountId, -1);
    }
  }

  #count(accountId: string, change: number): void {
    const count = (this.#ofAccount.get(accountId) ?? 0) + change;
    if (count > 0) this.#ofAccount.set(accountId, count);
    else this.#ofAccount.delete(accountId);
  }
}
