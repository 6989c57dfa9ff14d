import { type SessionCommit, type Store, StoreUnavailable } from '../store/store.js';

/** The real store, whose commits the test sees, holds up and lets fail. */
export class Gate {
  readonly groups: (readonly SessionCommit[])[] = [];
  down = false;
  #held: Promise<void> | null = null;

  constructor(readonly store: Store) {}

  /** Holds the commits from now on; returns the way to let them go. */
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
    if (this.down) throw new StoreUnavailable('down');
    await this.#held;
    return this.store.commit(parts);
  }
}
