/** Time as a parameter, so that tests can advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now, never for Infinity; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** The longest time for a timer of the runtime, ms (24 days): it runs those for longer times at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    if (ms > LONGEST_MS) return () => {};
    const handle = setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};
