/** Close codes after which the same connection would end the same way: those of RFC 6455 (7.4.1), and refusals. */
const FINAL = /^(100[023789]|1010|4\d{3})$/;

/** Whether a client reconnects after this close code: after restarts, overload and lost connections, never after a refusal (4000 to 4999). */
export function mayReconnect(code: number): boolean {
  return !FINAL.test(String(code));
}

/** A connection that ended permanently, with its close code. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';

  constructor(
    /** The close code. */
    readonly code: number,
    reason: string,
  ) {
    super(`the connection is closed (${code})${reason && `: ${reason}`}`);
  }
}

/** Waits between attempts: uniform between 0 and a bound that doubles with each failure. */
export interface BackoffOptions {
  /** Maximum first wait, ms. Default 500. */
  readonly baseMs?: number;
  /** Maximum of all waits, ms. Default 30,000. */
  readonly maxMs?: number;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
}

/**
 * Wait before the next attempt, ms, after a number of failures since the last success: exponential backoff with full
 * jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015).
 */
export function backoffMs(
  failures: number,
  { baseMs = 500, maxMs = 30_000, random = Math.random }: BackoffOptions = {},
): number {
  return random() * Math.min(maxMs, baseMs * 2 ** failures);
}
