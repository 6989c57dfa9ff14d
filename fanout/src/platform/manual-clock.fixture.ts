import type { Clock, Timer } from './clock.js';

interface Entry {
  at: number;
  readonly period: number;
  readonly run: () => void;
}

/** A clock that stops until it is advanced: for tests, and for recordings with their own time. */
export class ManualClock implements Clock {
  /** Timers use this one, as those of the system do. */
  #monotonic = 0;
  /** Difference of the wall clock to it, ms. */
  #offset: number;
  readonly #entries = new Set<Entry>();

  constructor(now = 0) {
    this.#offset = now;
  }

  now(): number {
    return this.#monotonic + this.#offset;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#monotonic + ms, period: 0, run });
  }

  every(ms: number, run: () => void): Timer {
    return this.#add({ at: this.#monotonic + ms, period: ms, run });
  }

  /** Advances time by `ms`, firing the timers that become due on the way, in order of time. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#due(end); next; next = this.#due(end)) {
      this.#monotonic = Math.max(this.#monotonic, next.at);
      if (next.period > 0) next.at = Math.max(next.at, this.#monotonic) + next.period;
      else this.#entries.delete(next);
      next.run();
    }
    this.#monotonic = end;
  }

  /** Advances time without firing timers, as if the process had stood still; due timers fire at the next `advance`. */
  skip(ms: number): void {
    this.#monotonic += ms;
  }

  /** Sets the wall clock forward, or back if `ms` is negative: no time passes. */
  step(ms: number): void {
    this.#offset += ms;
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
