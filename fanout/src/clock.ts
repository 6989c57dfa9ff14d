/** Time as a parameter: the same code runs live, offline (a recording, as fast as it can) and in tests, which never sleep. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now. */
  after(ms: number, run: () => void): Timer;
  /** Calls `run` every `ms` milliseconds. */
  every(ms: number, run: () => void): Timer;
}

export interface Timer {
  /** Stops the timer; harmless when it has fired. */
  cancel(): void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
  every(ms, run) {
    const handle = setInterval(run, ms);
    return { cancel: () => clearInterval(handle) };
  },
};
