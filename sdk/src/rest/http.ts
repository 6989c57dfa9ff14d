import { throwIfAborted } from '../abort.js';
import { type Clock, systemClock } from '../clock.js';
import { type BackoffOptions, backoffMs, onAbort, pause } from '../socket/reconnection.js';
import { ConnectionError, ForeignAnswer, type HttpAnswer, type HttpRequest, isPassing, refusal } from './api-error.js';

/** Settings of requests. */
export interface HttpOptions {
  /** Called with an address and its settings. Default: the runtime's. */
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
 * Sends a request: retries after a lost connection, a timeout and a temporary failure of the server, with exponential
 * backoff and full jitter after the time that `Retry-After` gives.
 *
 * @returns the answer, with its JSON as `data`: undefined if it has no content (204)
 * @throws ApiError (see its subclasses), ConnectionError, or the reason of the request's signal
 */
export async function send(request: HttpRequest, options: HttpOptions): Promise<HttpAnswer & { data: unknown }> {
  const { retries = 2, clock = systemClock } = options;
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(request.signal);
    const outcome = await attemptOnce(request, options);
    const failed = outcome instanceof ConnectionError;
    if (!failed && outcome.status >= 200 && outcome.status < 300) return { ...outcome, data: jsonOf(request, outcome) };
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
  if (after === null && !isPassing(status)) return Infinity;
  return 1000 * (Number(after) || 0);
}

/** @throws ConnectionError if the answer has content that is not JSON */
function jsonOf(request: HttpRequest, answer: HttpAnswer): unknown {
  if (answer.status === 204) return undefined;
  try {
    if (/\bjson\b/.test(answer.headers.get('content-type') ?? '')) return JSON.parse(answer.text);
  } catch {}
  throw new ForeignAnswer(request, answer, ', not JSON');
}

/**
 * One attempt, including its body, so that an incomplete body is retried as well. A redirect is not followed: it would
 * make a GET of a create, and the key would not be sent to the other address, nor would a WebSocket follow.
 */
async function attemptOnce(
  { url, signal, ...request }: HttpRequest,
  options: HttpOptions,
): Promise<HttpAnswer | ConnectionError> {
  const { timeoutMs = 30_000, clock = systemClock, fetch: run = globalThis.fetch } = options;
  const attempt = new AbortController();
  let why = 'the service cannot be reached';
  let cancel = () => {};
  const limit = (late: string) => {
    cancel();
    cancel = clock.after(timeoutMs, () => {
      why = late;
      attempt.abort();
    });
  };
  const forget = onAbort(signal, () => attempt.abort());
  limit(`no answer within ${timeoutMs} ms`);
  try {
    const response = await run(url, { ...request, signal: attempt.signal, redirect: 'manual' });
    const text = await textOf(response, () => limit(`the answer stopped for ${timeoutMs} ms`));
    return { status: response.status, headers: response.headers, text };
  } catch (cause) {
    return new ConnectionError(`${request.method} ${url}: ${why}`, { cause });
  } finally {
    cancel();
    forget();
  }
}

/** The text of a body; calls `goesOn` for its beginning and for each part of it. */
async function textOf(response: Response, goesOn: () => void): Promise<string> {
  goesOn();
  if (response.status === 0) return ''; // What a browser shows of a redirect.
  // React Native has no streams, and jsdom no decoder.
  const reader = typeof TextDecoder === 'undefined' ? undefined : response.body?.getReader();
  if (!reader) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    goesOn();
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}
