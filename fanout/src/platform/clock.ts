/**
 * Time as a parameter: the same code runs live, offline (with a recording, as fast as possible) and in tests, which
 * never sleep.
 */
export interface Clock {
  /** Milliseconds since the epoch, by the wall clock: for times that others see. It may be set forward or back. */
  now(): number;
  /** Milliseconds since an arbitrary time; it is never set: for durations, ages and deadlines. */
  monotonic(): number;
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer;
  /** Calls `run` every `ms` milliseconds. */
  every(ms: number, run: () => void): Timer;
}

export interface Timer {
  /** Stops the timer; harmless if it has fired. */
  cancel(): void;
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
  every(ms, run) {
    const handle = setInterval(run, ms);
    return { cancel: () => clearInterval(handle) };
  },
};
