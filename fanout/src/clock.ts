/** Time as a parameter, so that tests never sleep; the gateway's clock fits. */
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
