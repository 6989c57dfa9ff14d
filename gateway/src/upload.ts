import type { IncomingMessage } from 'node:http';

/** Maximum length of the body of an upload, bytes. */
export const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;
/** Maximum number of refused frames, and of notices, that an answer lists. */
export const MAX_LISTED = 100;

/** What became of an upload: the frames of one request, in a session of their own. */
export interface UploadResult {
  readonly sessionId: string;
  /** The SHA-256 of the body, in hex. */
  readonly bodyHash: string;
  readonly accepted: number;
  /** Number of refused frames, by the code of the error. */
  readonly refused: ReadonlyMap<string, number>;
  /** The first refused frames; `frame` is the position in the body, from 0. */
  readonly errors: readonly { readonly frame: number; readonly code: string; readonly detail: string }[];
  /** The first notices, as a socket would have got them. */
  readonly notices: readonly object[];
  /** By channel. */
  readonly nextSeq: Readonly<Record<string, number>>;
  /** Number of stored insights, by type. */
  readonly insights: Readonly<Record<string, number>>;
  /** The sessions of earlier requests with the same key, whose readings are not stored again. */
  readonly continues: readonly string[];
}

/**
 * Takes the body of a request as frames of a session of its own. Rejects with `CloseError` if the device is not admitted, or
 * the body is not complete.
 *
 * @param key the Idempotency-Key; null if there is none
 */
export type TakeUpload = (request: IncomingMessage, key: string | null) => Promise<UploadResult>;
