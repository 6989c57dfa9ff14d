import { type SessionCommit, type Store, StoreRefused, StoreUnavailable } from '../store/store.js';

/** The real store, whose commits a test can observe, hold up and let fail. */
export class Gate {
  readonly groups: (readonly SessionCommit[])[] = [];
  down = false;
  /** The error of commits while the store is down. */
  failure: Error = new StoreUnavailable('down');
  /** Whether commits are done but their answers are lost. */
  deaf = false;
  /** Whether groups of several parts are refused, and the store is down after the first part alone. */
  refuseGroups = false;
  #alone = 0;
  #held: Promise<void> | null = null;

  constructor(readonly store: Store) {}

  /** Holds the commits from now on; returns the function that releases them. */
  hold(): () => void {
    let release = () => {};
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      this.#held = null;
      release();
    };
  }

  async commit(parts: readonly SessionCommit[]) {
    this.groups.push(parts);
    if (this.down) throw this.failure;
    if (this.refuseGroups && parts.length > 1) throw new StoreRefused('one of them');
    if (this.refuseGroups && this.#alone++ > 0) throw this.failure;
    await this.#held;
    const results = await this.store.commit(parts);
    if (this.deaf) throw this.failure;
    return results;
  }
}
