import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { HttpError } from '../errors.js';
import {
  IDEMPOTENCY_PENDING_MS,
  type IdempotencyClaim,
  type IdempotencyState,
  type IdempotencyStore,
  type SavedResponse,
} from '../store/store.js';
import { text } from './fields.js';
import { keyOf, type RestContext, type RestOptions } from './rest-context.js';
import { valid } from './violations.js';

/** The value of the header. */
export const idempotencyKey = text(1, 200);

const POLL_MS = 50;
const POLLS = 200;
/** A client that then waits this long, s, comes when the first request has answered, or counts as dead. */
const RETRY_AFTER_S = '30';

/**
 * Makes a POST safe to repeat: with an `Idempotency-Key`, the same body gets the first response again (for 24 h, per
 * account and path), and another body gets 409. A failed request releases its key.
 *
 * @param asks the text by which two requests are the same before the handler has read a body
 * @param readHash reads the body of a repeat to its end, for a handler that sets `bodyHash`; returns its hash, or null if
 * it is too long
 */
export function idempotent(
  { store, clock, log }: RestOptions,
  asks: (ctx: RestContext) => string = ({ state }) => state.bodyText ?? '',
  readHash: (ctx: RestContext) => Promise<string | null> = async () => null,
) {
  return async (ctx: RestContext, next: () => Promise<unknown>): Promise<void> => {
    const asked = claimOf(ctx, asks(ctx));
    if (!asked) return void (await next());
    const { claim, found } = await settled(store, clock, asked);
    const saved = savedResponse(found);
    if (saved) {
      if (saved.bodyHash !== undefined && (await readHash(ctx)) !== saved.bodyHash) throw otherBody();
      ctx.status = saved.status;
      ctx.type = 'json';
      ctx.body = unpacked(saved.body);
      return;
    }
    try {
      await next();
    } catch (failure) {
      await store
        .releaseIdempotencyKey(claim)
        .catch((err: unknown) => log.warn({ err }, 'an Idempotency-Key could not be released'));
      throw failure;
    }
    const renewed = { ...claim, at: clock.now() };
    const isOld = renewed.at - claim.at >= IDEMPOTENCY_PENDING_MS; // A repeat may have replaced the claim meanwhile.
    const { bodyHash } = ctx.state;
    const body = await packed(JSON.stringify(ctx.body));
    const response = { status: ctx.status, body, ...(bodyHash !== undefined && { bodyHash }) };
    const unsaved = (err: unknown) => log.warn({ err }, 'a response could not be saved for repeated requests');
    if (isOld) await store.claimIdempotencyKey(renewed).catch(unsaved);
    await store.saveIdempotentResponse(isOld ? renewed : claim, response).catch(unsaved); // The request has taken effect, so its answer stands.
  };
}

const deflated = promisify(deflateRaw);

/**
 * Answers are kept for a day. A large answer, with many channels, consists mostly of field names and compresses to a
 * sixth.
 */
async function packed(text: string): Promise<string> {
  return (await deflated(text)).toString('base64');
}

function unpacked(body: string): string {
  return inflateRawSync(Buffer.from(body, 'base64')).toString();
}

type Asked = Omit<IdempotencyClaim, 'at'>;

function claimOf(ctx: RestContext, asks: string): Asked | null {
  const header = ctx.req.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = valid(idempotencyKey, header, 'Idempotency-Key');
  const bodyHash = createHash('sha256').update(asks).digest('hex');
  return { accountId: keyOf(ctx).accountId, route: `${ctx.method} ${ctx.path}`, key, bodyHash };
}

/** Claims the key; waits if the first request with it is still running. */
async function settled(store: IdempotencyStore, clock: Clock, asked: Asked) {
  for (let poll = 1; ; poll++) {
    const claim = { ...asked, at: clock.now() };
    const found = await store.claimIdempotencyKey(claim);
    if (found.state !== 'pending' || poll === POLLS) return { claim, found };
    await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
  }
}

/** The first request's response; null for the first request itself. */
function savedResponse(found: IdempotencyState): SavedResponse | null {
  switch (found.state) {
    case 'fresh':
      return null;
    case 'conflict':
      throw otherBody();
    case 'pending':
      throw new HttpError('conflict', 'the first request with this Idempotency-Key is still running: try again later', {
        'Retry-After': RETRY_AFTER_S,
      });
    case 'done':
      return found.response;
  }
}

function otherBody(): HttpError {
  return new HttpError('conflict', 'this Idempotency-Key was used with a different body before: use a new key');
}
