import type { Clock } from './clock.js';

/** What the close codes say (ingest protocol, section 6; RFC 6455, 7.4.1): these are final. */
const FINAL: Readonly<Record<number, string>> = {
  1000: 'closed normally',
  1002: 'protocol error',
  1003: 'unsupported data',
  1007: 'malformed text',
  1008: 'policy violation',
  1009: 'a frame was larger than the service takes',
  1010: 'an extension is missing',
  4000: 'bad request',
  4001: 'authentication failed: the API key is missing, invalid or revoked',
  4003: 'the device model belongs to another account',
  4004: 'there is no such device model',
  4009: 'a newer connection of the same device took over',
};

/** Whether a client comes back after this close code: after restarts, overload and lost connections, never after a refusal. */
export function mayReconnect(code: number): boolean {
  return !(code in FINAL) && !(code >= 4000 && code <= 4999);
}

/** A connection that ended for good, with the close code that said so. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';

  constructor(
    readonly code: number,
    reason: string,
  ) {
    super(`the service closed the connection (${code}): ${reason || FINAL[code] || 'no reason given'}`);
  }
}

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
  readonly #options: Required<BackoffOptions>;

  constructor(options: BackoffOptions = {}) {
    this.#options = { baseMs: 500, maxMs: 30_000, random: Math.random, ...options };
  }

  /** How long to wait before the next attempt, ms. */
  next(): number {
    const { baseMs, maxMs, random } = this.#options;
    return random() * Math.min(maxMs, baseMs * 2 ** this.#failures++);
  }

  /** The attempt worked: the next wait is short again. */
  reset(): void {
    this.#failures = 0;
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
