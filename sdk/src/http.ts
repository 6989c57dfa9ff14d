import { apiError, ConnectionError } from './api-error.js';
import { type Clock, systemClock } from './clock.js';
import { Backoff, type BackoffOptions, pause } from './reconnection.js';

export interface HttpOptions {
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
  /** How long an attempt may take, its body included, ms. Default 30,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first. Default 2. */
  readonly retries?: number;
  /** Waits between attempts. */
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
}

/** Statuses after which the same request may well succeed. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * A `fetch` for idempotent requests (a POST carries an Idempotency-Key): tries again after a lost connection, a timeout and a passing failure
 * of the server, with exponential backoff and full jitter, and throws where the answer is not a success.
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

/** One attempt, its body included, so that a torn body is tried again as well. */
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
