import type { Core } from '@device-insights/dsp-wasm';

/** A signal core and its cost: measured around its calls, live and offline. */
export class CoreLoad {
  #coreMs = 0;
  #sessionSeconds = 0;

  constructor(readonly core: Core) {}

  /** Time spent in the core, seconds. */
  get coreSeconds(): number {
    return this.#coreMs / 1000;
  }

  /** Data time analysed, summed over the sessions, seconds. */
  get sessionSeconds(): number {
    return this.#sessionSeconds;
  }

  /** Runs a call of the core and counts its time. */
  time<T>(call: () => T): T {
    const start = performance.now();
    const result = call();
    this.#coreMs += performance.now() - start;
    return result;
  }

  /** Counts the progress of a session's data time from one instant to another, seconds; losses are not counted. */
  passed(from: number, to: number): void {
    if (to > from && to - from < LOSS_S) this.#sessionSeconds += to - from;
  }
}

/** A longer step of data time than this contains no data, seconds. */
const LOSS_S = 10;
