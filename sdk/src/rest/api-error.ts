import { type Form, fieldsOf } from '../json.js';

/** A request that may be repeated: a POST carries an Idempotency-Key. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The key in the headers, which no error may show. */
  readonly apiKey?: string;
  /** JSON. */
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** That of the answer, which is undefined if it has no content. */
  readonly form: Form;
}

/** An answer with all of its body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * The service refused a REST request, or failed. The status is 400 if a field is wrong, 401 if the key is missing,
 * unknown, revoked or expired, 403 if the key does not give access to this resource, 404 if there is no such resource,
 * 409 for a conflict (for example, devices still reference the device model), 429 only from a proxy, and 5xx after the
 * retries of a failure.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** The service's description of the fault. */
    readonly detail: string,
    /** `X-Request-Id` of the response, by which the service's log has more. Null if there was none. */
    readonly requestId: string | null,
  ) {
    super(`${status}: ${detail}${requestId === null ? '' : ` (request ${requestId})`}`);
  }
}

/**
 * No answer: the service cannot be reached, did not answer in time, a connection to it was lost, or something else
 * answered in its place; `cause` may have more.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/**
 * An answer that is not from the service, but for example from a network that wants a login, or from a proxy that
 * redirects to https.
 */
export class ForeignAnswer extends ConnectionError {
  constructor({ method, url, apiKey }: HttpRequest, answer: HttpAnswer) {
    const kind = quote(kindOf(answer), apiKey);
    super(
      `${method} ${url}: the answer is not from the service (${kind}): check baseUrl, and for a proxy or a login page`,
    );
  }
}

/**
 * A text of a server as errors show it: cut, without control characters, and without the key, which the server may have
 * echoed. React Native's patterns have no classes of characters by property.
 *
 * @param apiKey left out, line ends stand for it, which are replaced as well
 */
export function quote(text: string, apiKey = '\n'): string {
  return text
    .replaceAll(apiKey, '…')
    .slice(0, 1000)
    .replace(/[^ -~\xa0-\uffff]/g, ' ');
}

/** Browsers show neither the status of a redirect, but 0, nor where it leads. */
function kindOf({ status, headers }: HttpAnswer): string {
  const to = headers.get('location') || (!status && 'another address');
  return to ? `a redirect to ${to}` : `${status}, ${headers.get('content-type') ?? 'no content type'}`;
}

/** Whether the same request may succeed later: the service was not reached, failed, or had too much to do. */
export function mayPass(error: unknown): error is ApiError | ConnectionError {
  return error instanceof ApiError ? isPassing(error.status) : error instanceof ConnectionError;
}

/** Whether the same request may succeed after this status. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/**
 * The error for an answer that refuses. Each refusal of the service says why. Failures (5xx) and 429 may be from a proxy
 * before it, which does not.
 */
export function refusal(request: HttpRequest, answer: HttpAnswer): ApiError | ForeignAnswer {
  const { status, headers, text } = answer;
  const { detail } = fieldsOf(text);
  const isOurs = typeof detail === 'string';
  if (!isOurs && !isPassing(status)) return new ForeignAnswer(request, answer);
  const id = headers.get('x-request-id');
  return new ApiError(status, quote(isOurs ? detail : text, request.apiKey), id && quote(id, request.apiKey));
}
