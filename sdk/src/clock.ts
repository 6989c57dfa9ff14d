import { LONGEST_MS } from './limits.js';
/** Time as a parameter, so that tests can advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now, never for Infinity; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const handle = ms > LONGEST_MS ? undefined : setTimeout(run, ms);
    return () => clearTimeout(handle);
  },
};

/** Calls `run` when the signal aborts, or now if it has, until the returned function is called. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted) run();
  signal?.addEventListener('abort', run);
  return () => signal?.removeEventListener('abort', run);
}

/** Resolves after `ms`, or at once when the signal aborts. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop: (() => void)[] = [];
  await new Promise<void>((resolve) => {
    stop = [onAbort(signal, resolve), clock.after(ms, resolve)];
  });
  for (const each of stop) each();
}

/**
 * React Native's signals have no reason, and no `throwIfAborted`.
 *
 * @throws the signal's reason, if it has aborted
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason ?? Object.assign(new Error('aborted'), { name: 'AbortError' });
}
