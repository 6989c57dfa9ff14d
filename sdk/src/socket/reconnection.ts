import type { Clock } from '../clock.js';

/** Close codes of RFC 6455 (7.4.1) after which the same connection would end the same way. */
const FINAL: ReadonlySet<number> = new Set([1000, 1002, 1003, 1007, 1008, 1009, 1010]);

/**
 * Whether a client reconnects after this close code: after restarts, overload and lost connections, never after a
 * refusal (4000 to 4999).
 */
export function mayReconnect(code: number): boolean {
  return !FINAL.has(code) && !(code >= 4000 && code <= 4999);
}

/** A connection that ended permanently, with its close code. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';

  constructor(
    /** The close code. */
    readonly code: number,
    reason: string,
  ) {
    super(`the connection is closed (${code}): ${reason || 'no reason given'}`);
  }
}

/** Waits between attempts: uniform between 0 and a bound that doubles with each failure. */
export interface BackoffOptions {
  /** Longest first wait, ms. Default 500. */
  readonly baseMs?: number;
  /** Longest wait of all, ms. Default 30,000. */
  readonly maxMs?: number;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
}

/** Exponential backoff with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015). */
export class Backoff {
  #failures = 0;
  readonly #options: BackoffOptions;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  /** Wait before the next attempt, ms. */
  next(): number {
    const { baseMs = 500, maxMs = 30_000, random = Math.random } = this.#options;
    return random() * Math.min(maxMs, baseMs * 2 ** this.#failures++);
  }

  /** The attempt succeeded: the next wait is short again. */
  reset(): void {
    this.#failures = 0;
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener('abort', done);
  });
}
