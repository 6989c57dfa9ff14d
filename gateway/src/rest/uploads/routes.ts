import { createHash } from 'node:crypto';
import type { CloseReason } from '@device-insights/contract/close-codes';
import { keysInQuery } from '@device-insights/fanout/api-key';
import { allowLongBody } from '@device-insights/fanout/platform/http-server';
import { CloseError, HttpError } from '../../errors.js';
import { MAX_UPLOAD_BYTES } from '../../upload.js';
import { idempotencyKey, idempotent } from '../idempotency.js';
import type { Operations } from '../openapi/operation.js';
import { keyOf, type RestContext, type RestMiddleware, unauthenticated } from '../rest-context.js';
import { valid } from '../violations.js';
import { upload, uploadAnswer, uploadQuery } from './schema.js';

/** Needs a key that may stream. */
export const UPLOADS_PATH = '/v1/uploads';

/** The frames of a device in the body of a request. */
export const uploadOperations: Operations = {
  'POST /v1/uploads': {
    operationId: 'createUpload',
    tag: 'sessions',
    summary: 'Upload the frames of a device',
    description:
      'Frames of the ingest protocol, each after its length in bytes (u32, little endian), as one session; at most 64 MiB. The answer comes when all insights are stored and published. Needs the permission `stream`. 503 with Retry-After while the service cannot take devices. INGEST.md describes it.',
    query: uploadQuery,
    isIdempotent: true,
    mayConflict: true,
    isUpload: true,
    answer: { description: 'What became of the frames.', schema: upload },
    steps: (options) => [binaryBody, idempotent(options, sameDevice, readHash)],
    async handle(ctx, { upload: take }) {
      const header = ctx.req.headers['idempotency-key'];
      const key = header === undefined ? null : valid(idempotencyKey, header, 'Idempotency-Key');
      allowLongBody(ctx.req, ctx.res);
      const result = await take(ctx.req, key).catch(refused);
      ctx.state.bodyHash = result.bodyHash;
      ctx.body = uploadAnswer(result);
    },
  },
};

const RETRY_S = { 'Retry-After': '30' };
/** A session whose connection broke closes after a minute. */
const RETRY_CLOSED_S = { 'Retry-After': '60' };

/** A repeat that sends nothing for this long is cut off, ms. */
const SILENT_MS = 30_000;

/** The text by which two uploads with one Idempotency-Key are the same. */
function sameDevice(ctx: RestContext): string {
  const query = new URLSearchParams(ctx.querystring);
  return JSON.stringify([keyOf(ctx).user, query.get('device_id'), query.get('device_model_id')]);
}

/** The SHA-256 of the body of a repeat, in hex; null if it is longer than any upload that was answered. */
async function readHash({ req, res, state }: RestContext): Promise<string | null> {
  allowLongBody(req, res);
  req.setTimeout(SILENT_MS);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_UPLOAD_BYTES) break;
      hash.update(chunk);
    }
  } catch {
    throw new HttpError('validation_failed', 'body: ended before it was complete');
  }
  req.resume(); // The rest is discarded.
  await state.authenticate?.();
  return bytes > MAX_UPLOAD_BYTES ? null : hash.digest('hex');
}

/** Refuses a body of another kind before any of it is read, and a key in the query, which would be another one. */
const binaryBody: RestMiddleware = (ctx, next) => {
  if (ctx.is('application/octet-stream') === false)
    throw new HttpError('validation_failed', 'body: must be sent with Content-Type: application/octet-stream');
  if (ctx.req.headers['content-encoding'] !== undefined)
    throw new HttpError('validation_failed', 'body: must be uncompressed: send no Content-Encoding');
  if (keysInQuery(ctx.req.url ?? '').length > 0)
    throw new HttpError('validation_failed', 'api_key: send the key in the Authorization header only');
  return next();
};

/** The statuses of the refusals for which a socket has close codes. */
const STATUS: Partial<Record<CloseReason, (detail: string) => HttpError>> = {
  tooLarge: (detail) => new HttpError('too_large', detail),
  restarting: (detail) => new HttpError('unavailable', detail, RETRY_S),
  overloaded: (detail) => new HttpError('unavailable', detail, RETRY_S),
  authenticationFailed: unauthenticated,
  forbidden: (detail) => new HttpError('forbidden', detail),
  unknownModel: (detail) => new HttpError('not_found', detail),
  takenOver: (detail) => new HttpError('conflict', detail, RETRY_CLOSED_S),
  tooManyDevices: (detail) => new HttpError('conflict', detail),
};

function refused(error: unknown): never {
  if (!(error instanceof CloseError)) throw error;
  throw STATUS[error.reason]?.(error.message) ?? new HttpError('validation_failed', error.message);
}
