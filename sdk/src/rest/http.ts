import { type Clock, systemClock } from '../clock.js';
import { Backoff, type BackoffOptions, pause } from '../socket/reconnection.js';
import { ConnectionError, ForeignAnswer, isPassing, refusal } from './api-error.js';

/** Settings of requests. */
export interface HttpOptions {
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
  /**
   * Longest time until an answer begins, and then without a part of it, ms; Infinity for no limit. Default 30,000. An
   * answer that goes on coming over a slow line is not given up; a signal can limit the whole call.
   */
  readonly timeoutMs?: number;
  /** Attempts after the first; none if the service wants more than 30 s before it (`Retry-After`). Default 2. */
  readonly retries?: number;
  /** Waits between attempts, of sockets as well. */
  readonly backoff?: BackoffOptions;
  /** Time and timers. Default: the system's. */
  readonly clock?: Clock;
}

/** Longest wait that the service may want before another attempt, ms. */
const LONGEST_WAIT_MS = 30_000;

/**
 * A `fetch` for idempotent requests (a POST carries an Idempotency-Key): retries after a lost connection, a timeout and
 * a temporary failure of the server, with exponential backoff and full jitter after the time that `Retry-After` gives,
 * and throws if the answer is not a success.
 *
 * @throws ApiError (see its subclasses), ConnectionError, or the reason of the request's own signal
 */
export function retryingFetch(options: HttpOptions): (request: Request) => Promise<Response> {
  const { retries = 2, clock = systemClock } = options;
  return async (request) => {
    const backoff = new Backoff(options.backoff);
    for (let attempt = 0; ; attempt++) {
      request.signal.throwIfAborted();
      const outcome = await attemptOnce(request.clone(), options);
      if (outcome instanceof Response && outcome.ok) return outcome;
      request.signal.throwIfAborted();
      const wanted = outcome instanceof Response ? wantedWait(outcome) : 0;
      if (wanted > LONGEST_WAIT_MS || attempt >= retries)
        throw outcome instanceof Response ? await refusal(request, outcome) : outcome;
      await pause(clock, wanted + backoff.next(), request.signal);
    }
  };
}

/**
 * Time before another attempt, ms: `Retry-After` in seconds (a date there counts as none); Infinity after a refusal that
 * has no such header. A create that is still running elsewhere is a refusal (409) that has one.
 */
function wantedWait({ status, headers }: Response): number {
  const after = headers.get('retry-after');
  if (after === null && !isPassing(status)) return Number.POSITIVE_INFINITY;
  return 1000 * Number(/^\d+$/.exec(after ?? '')?.[0] ?? 0);
}

/**
 * The response, if it is JSON or has no content (204).
 *
 * @throws ForeignAnswer
 */
export function expectJson(response: Response, request: Request): Response {
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204 || (response.body && /\bjson\b/.test(type))) return response;
  throw new ForeignAnswer(request, response);
}

/**
 * One attempt, including its body, so that an incomplete body is retried as well. A redirect is not followed: it would
 * make a GET of a create, and the key would not be sent to the other address, nor would a WebSocket follow.
 */
async function attemptOnce(request: Request, options: HttpOptions): Promise<Response | ConnectionError> {
  const { timeoutMs = 30_000, clock = systemClock, fetch: run = globalThis.fetch } = options;
  const attempt = new AbortController();
  const abandon = () => attempt.abort(request.signal.reason);
  let why = 'the service cannot be reached';
  const limit = (late: string) =>
    clock.after(timeoutMs, () => {
      why = late;
      attempt.abort();
    });
  let cancel = limit(`no answer within ${timeoutMs} ms`);
  const goesOn = () => {
    cancel();
    cancel = limit(`the answer stopped for ${timeoutMs} ms`);
  };
  request.signal.addEventListener('abort', abandon);
  try {
    return await whole(await run(request, { signal: attempt.signal, redirect: 'manual' }), goesOn);
  } catch (cause) {
    return new ConnectionError(`${request.method} ${request.url}: ${why}`, { cause });
  } finally {
    cancel();
    request.signal.removeEventListener('abort', abandon);
  }
}

/** The response with its body in memory; calls `goesOn` for its beginning and for each part of its body. */
async function whole(response: Response, goesOn: () => void): Promise<Response> {
  goesOn();
  if (response.status === 0) return response; // What a browser shows of a redirect.
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  if (!reader)
    parts.push(new Uint8Array(await response.arrayBuffer())); // Where a fetch has no streams: React Native.
  else
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      goesOn();
      parts.push(part.value);
    }
  const body = new Blob(parts);
  return new Response(body.size > 0 ? body : null, response);
}
