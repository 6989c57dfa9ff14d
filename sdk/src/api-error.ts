/** The service refused a REST request, or failed. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** What the service says is wrong. */
    readonly detail: string,
    /** `X-Request-Id` of the response: the service's log has more under it. Null where there was none. */
    readonly requestId: string | null,
  ) {
    super(`${status}: ${detail}${requestId === null ? '' : ` (request ${requestId})`}`);
  }
}

/** 400: `detail` names each field and what it must be. */
export class ValidationError extends ApiError {
  override readonly name = 'ValidationError';
}

/** 401: the API key is missing, unknown or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key is valid, but not for this. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** 404 */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409: for example a device model that devices still reference. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 429: reserved by the specification. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** 5xx, after the retries. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** No answer, after the retries: the service cannot be reached, or did not answer in time; `cause` says which. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** The error that a refusing response stands for; reads its body. */
export async function apiError(response: Response): Promise<ApiError> {
  const text = await response.text();
  const Kind = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerError : ApiError);
  return new Kind(
    response.status,
    detailOf(text) ?? (text || response.statusText),
    response.headers.get('x-request-id'),
  );
}

function detailOf(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'detail' in body ? String(body.detail) : null;
  } catch {
    return null;
  }
}
