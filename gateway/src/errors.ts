import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';

/**
 * The catalogue of errors: a stable code for each cause, with the HTTP status or close code that carries it, and
 * whether the same call should be retried.
 */
export const HTTP_ERRORS = {
  validation_failed: { status: 400, retry: false },
  unauthenticated: { status: 401, retry: false },
  forbidden: { status: 403, retry: false },
  not_found: { status: 404, retry: false },
  method_not_allowed: { status: 405, retry: false },
  conflict: { status: 409, retry: false },
  too_large: { status: 413, retry: false },
  too_many_attempts: { status: 429, retry: true },
  upgrade_required: { status: 426, retry: false },
  internal: { status: 500, retry: true },
  unavailable: { status: 503, retry: true },
} as const;

/** A refusal of a REST request; `message` becomes the `detail` and says how to correct the request. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: keyof typeof HTTP_ERRORS,
    detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }

  get status(): number {
    return HTTP_ERRORS[this.code].status;
  }
}

/** Ends a socket with a close code of the catalogue; `message` is its reason (at most 123 bytes of UTF-8). */
export class CloseError extends Error {
  override readonly name = 'CloseError';

  constructor(
    readonly reason: CloseReason,
    detail: string = CLOSE[reason].meaning,
  ) {
    super(detail);
  }

  get code(): number {
    return CLOSE[this.reason].code;
  }
}
