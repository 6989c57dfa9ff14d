import type { Clock, Timer } from './clock.js';

interface Entry {
  at: number;
  readonly period: number;
  readonly run: () => void;
}

/** A clock that stands still until it is moved: for tests, and for recordings whose time is their own. */
export class ManualClock implements Clock {
  #now: number;
  readonly #entries = new Set<Entry>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#now + ms, period: 0, run });
  }

  every(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#now + ms, period: ms, run });
  }

  /** Moves time on by `ms`, firing what falls due on the way, in order of time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#due(end); next; next = this.#due(end)) {
      this.#now = Math.max(this.#now, next.at);
      if (next.period > 0) next.at = Math.max(next.at, this.#now) + next.period;
      else this.#entries.delete(next);
      next.run();
    }
    this.#now = end;
  }

  /** Moves time on without firing anything, as if the process had stood still; what fell due fires at the next `advance`. */
  skip(ms: number): void {
    this.#now += ms;
  }

  #add(entry: Entry): Timer {
    this.#entries.add(entry);
    return { cancel: () => this.#entries.delete(entry) };
  }

  #due(end: number): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries) if (entry.at <= end && (!first || entry.at < first.at)) first = entry;
    return first;
  }
}
