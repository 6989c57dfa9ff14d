import { type Clock, onAbort, pause, systemClock, throwIfAborted } from '../clock.js';
import { hasForm } from '../json.js';
import { LONGEST_WAIT_MS } from '../limits.js';
import { type BackoffOptions, backoffMs } from '../socket/reconnection.js';
import { ConnectionError, ForeignAnswer, type HttpAnswer, type HttpRequest, isPassing, refusal } from './api-error.js';
import { linkedCursor } from './page.js';

/** Settings of requests. */
export interface HttpOptions {
  /** Called with an address and its settings. Default: the runtime's. */
  readonly fetch?: typeof fetch;
  /**
   * Maximum time until an answer begins, and then without a part of it, ms; Infinity for no limit. Default 30,000. An
   * answer that goes on coming over a slow line is not given up; a signal can limit the whole call.
   */
  readonly timeoutMs?: number;
  /**
   * Maximum number of bytes of an answer, after decompression; a longer one is given up with a ConnectionError. Default 64 MiB. All
   * insights of a session (`sessions.insights`) are one answer: 64 MiB are about 20 hours of readings.
   */
  readonly maxResponseBytes?: number;
  /** Attempts after the first; none if the service wants more than 30 s before it (`Retry-After`). Default 2. */
  readonly retries?: number;
  /** Waits between attempts, of sockets as well. */
  readonly backoff?: BackoffOptions;
  /** Time and timers. Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Sends a request: retries after a lost connection, a timeout and a temporary failure of the server, with exponential
 * backoff and full jitter after the time that `Retry-After` gives.
 *
 * @returns the JSON of the answer, undefined if it has no content (204), and the cursor of another page
 * @throws ApiError, ConnectionError, or the reason of the request's signal
 */
export async function send(
  request: HttpRequest,
  options: HttpOptions,
): Promise<{ data: unknown; next: string | null }> {
  const { retries = 2, clock = systemClock } = options;
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(request.signal);
    const outcome = await attemptOnce(request, options);
    const failed = outcome instanceof ConnectionError;
    if (!failed && outcome.status >= 200 && outcome.status < 300) return contentOf(request, outcome);
    throwIfAborted(request.signal);
    const wanted = failed ? 0 : wantedWait(outcome);
    if (wanted > LONGEST_WAIT_MS || attempt >= retries) throw failed ? outcome : refusal(request, outcome);
    await pause(clock, wanted + backoffMs(attempt, options.backoff), request.signal);
  }
}

/**
 * Time before another attempt, ms: `Retry-After` in seconds (a date there counts as none); Infinity after a refusal that
 * has no such header. A create that is still running elsewhere is a refusal (409) that has one.
 */
function wantedWait({ status, headers }: HttpAnswer): number {
  const after = headers.get('retry-after');
  return after === null && !isPassing(status) ? Infinity : 1000 * (Number(after) || 0);
}

/** @throws ForeignAnswer if the content is not JSON of the expected form, or the next page's cursor cannot be decoded */
function contentOf(request: HttpRequest, answer: HttpAnswer): { data: unknown; next: string | null } {
  const { status, headers, text } = answer;
  try {
    const data = status === 204 ? undefined : JSON.parse(text);
    if (hasForm(data, request.form)) return { data, next: linkedCursor(headers) };
  } catch {}
  throw new ForeignAnswer(request, answer);
}

/**
 * One attempt, including its body, so that an incomplete body is retried as well. A redirect is not followed: it would
 * make a GET of a create, and the key would not be sent to the other address, nor would a WebSocket follow.
 */
async function attemptOnce(
  { method, url, headers, body, signal }: HttpRequest,
  options: HttpOptions,
): Promise<HttpAnswer | ConnectionError> {
  const {
    timeoutMs = 30_000,
    maxResponseBytes = 2 ** 26,
    clock = systemClock,
    fetch: run = globalThis.fetch,
  } = options;
  const attempt = new AbortController();
  let why = 'the service cannot be reached';
  let left = maxResponseBytes;
  let cancel = () => {};
  /** Notes that a part of the answer has come, and limits the wait for the next one. */
  const took = (bytes: number, late = 'the answer stopped for') => {
    cancel();
    left -= bytes;
    if (left < 0) {
      why = `the answer has more than ${maxResponseBytes} bytes (maxResponseBytes)`;
      throw new RangeError(why);
    }
    cancel = clock.after(timeoutMs, () => {
      why = `${late} ${timeoutMs} ms`;
      attempt.abort();
    });
  };
  const forget = onAbort(signal, () => attempt.abort());
  took(0, 'no answer within');
  try {
    const response = await run(url, {
      method,
      headers,
      body,
      signal: attempt.signal,
      redirect: 'manual',
    } as RequestInit);
    return { status: response.status, headers: response.headers, text: await textOf(response, took) };
  } catch (cause) {
    const error = new ConnectionError(`${method} ${url}: ${why}`, { cause });
    if (left < 0) throw error; // Another attempt would give the same.
    return error;
  } finally {
    cancel();
    forget();
    attempt.abort(); // Stops what still comes of an answer that is too long.
  }
}

/** The text of a body; calls `took` for its beginning and for each part of it. */
async function textOf(response: Response, took: (bytes: number) => void): Promise<string> {
  took(0);
  // React Native has no streams, and jsdom no decoder.
  const reader = globalThis.TextDecoder && response.body?.getReader();
  if (!reader) {
    const whole = await response.text();
    took(whole.length);
    return whole;
  }
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    took(value.length);
    text += decoder.decode(value, { stream: true });
  }
}
