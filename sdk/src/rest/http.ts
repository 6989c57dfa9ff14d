import { type Clock, systemClock } from '../clock.js';
import { Backoff, type BackoffOptions, pause } from '../socket/reconnection.js';
import { apiError, ConnectionError } from './api-error.js';

/** Settings of requests. */
export interface HttpOptions {
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
  /** Longest time for an attempt, including its body, ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first. Default 2. */
  readonly retries?: number;
  /** Waits between attempts, of sockets as well. */
  readonly backoff?: BackoffOptions;
  /** Time and timers. Default: the system's. */
  readonly clock?: Clock;
}

/** Statuses after which the same request may succeed. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * A `fetch` for idempotent requests (a POST carries an Idempotency-Key): retries after a lost connection, a timeout and
 * a temporary failure of the server, with exponential backoff and full jitter, and throws if the answer is not a
 * success.
 *
 * @throws ApiError (see its subclasses), ConnectionError, or the reason of the request's own signal
 */
export function retryingFetch(options: HttpOptions): (request: Request) => Promise<Response> {
  const { retries = 2, clock = systemClock } = options;
  return async (request) => {
    const backoff = new Backoff(options.backoff);
    for (let attempt = 0; ; attempt++) {
      const outcome = await attemptOnce(request.clone(), options);
      if (outcome instanceof Response && outcome.ok) return outcome;
      request.signal.throwIfAborted();
      const passing = !(outcome instanceof Response) || PASSING.has(outcome.status);
      if (!passing || attempt >= retries) throw outcome instanceof Response ? await apiError(outcome) : outcome;
      await pause(clock, backoff.next(), request.signal);
      request.signal.throwIfAborted();
    }
  };
}

/** One attempt, including its body, so that an incomplete body is retried as well. */
async function attemptOnce(request: Request, options: HttpOptions): Promise<Response | ConnectionError> {
  const { timeoutMs = 30_000, clock = systemClock, fetch: run = globalThis.fetch } = options;
  const attempt = new AbortController();
  const abandon = () => attempt.abort(request.signal.reason);
  let why = 'the service cannot be reached';
  const cancel = clock.after(timeoutMs, () => {
    why = `no answer within ${timeoutMs} ms`;
    attempt.abort();
  });
  request.signal.addEventListener('abort', abandon);
  try {
    return await whole(await run(request, { signal: attempt.signal }));
  } catch (cause) {
    return new ConnectionError(`${request.method} ${request.url}: ${why}`, { cause });
  } finally {
    cancel();
    request.signal.removeEventListener('abort', abandon);
  }
}

/** The response with its body in memory. */
async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  return new Response(body.byteLength > 0 ? body : null, response);
}
