import { ApiError, ConnectionError, ForeignAnswer } from '../rest/api-error.js';
import { type HttpOptions, send } from '../rest/http.js';

/** Why a first connection failed. */
interface Diagnosis {
  readonly error: Error;
  /** Whether something other than the service is at the address, so that waiting will hardly help. */
  readonly isWrongAddress: boolean;
}

/** Longest time for the service's answer, ms. */
const ANSWER_MS = 5000;

/** Finds out by REST why a WebSocket could not be opened, which the socket itself does not say. Never rejects. */
export async function diagnose(baseUrl: string, http: HttpOptions, signal: AbortSignal): Promise<Diagnosis> {
  try {
    const request = { method: 'GET', url: `${baseUrl}/v1/stream/health`, signal };
    await send(request, { ...http, retries: 0, timeoutMs: ANSWER_MS });
    const text = `the service at ${baseUrl} answers, but its WebSocket could not be opened: it is full, or a proxy does not pass on Upgrade`;
    return { error: new ConnectionError(text), isWrongAddress: false };
  } catch (cause) {
    if (cause instanceof ForeignAnswer) return { error: cause, isWrongAddress: true };
    const isWrongAddress = cause instanceof ApiError && cause.status < 500;
    const text = isWrongAddress ? `check baseUrl: ${cause.message}` : `the service cannot be reached at ${baseUrl}`;
    return { error: new ConnectionError(text, { cause }), isWrongAddress };
  }
}
