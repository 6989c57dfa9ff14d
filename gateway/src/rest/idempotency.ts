import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import { HttpError } from '../errors.js';
import type { IdempotencyClaim, IdempotencyState, Store } from '../store/store.js';
import { text } from './fields.js';
import { keyOf, type RestContext, type RestOptions } from './rest-context.js';
import { valid } from './violations.js';

/** The value of the header. */
export const idempotencyKey = text(1, 200);

const POLL_MS = 50;
const POLLS = 200;

/**
 * Makes a POST safe to repeat: with an `Idempotency-Key` the same body gets the first response again (for 24 h, per
 * account and path), another body 409. A request that failed had no effect and leaves its key free.
 */
export function idempotent({ store, clock, log }: RestOptions) {
  return async (ctx: RestContext, next: () => Promise<unknown>): Promise<void> => {
    const asked = claimOf(ctx);
    if (!asked) return void (await next());
    const { claim, found } = await settled(store, clock, asked);
    if (replayed(ctx, found)) return;
    try {
      await next();
    } catch (failure) {
      await store.releaseIdempotencyKey(claim).catch((err: unknown) => log.warn({ err }, 'a claim was not released'));
      throw failure;
    }
    const response = { status: ctx.status, body: JSON.stringify(ctx.body) };
    const unsaved = (err: unknown) => log.warn({ err }, 'a response was not saved for repetition');
    await store.saveIdempotentResponse(claim, response).catch(unsaved); // what was done is done: the answer stands
  };
}

type Asked = Omit<IdempotencyClaim, 'at'>;

function claimOf(ctx: RestContext): Asked | null {
  const header = ctx.req.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = valid(idempotencyKey, header, 'Idempotency-Key');
  const bodyHash = createHash('sha256')
    .update(ctx.state.bodyText ?? '')
    .digest('hex');
  return { accountId: keyOf(ctx).accountId, route: `${ctx.method} ${ctx.path}`, key, bodyHash };
}

/** Claims the key, waiting where the first request with it is still running. */
async function settled(store: Store, clock: Clock, asked: Asked) {
  for (let poll = 1; ; poll++) {
    const claim = { ...asked, at: clock.now() };
    const found = await store.claimIdempotencyKey(claim);
    if (found.state !== 'pending' || poll === POLLS) return { claim, found };
    await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
  }
}

function replayed(ctx: RestContext, found: IdempotencyState): boolean {
  switch (found.state) {
    case 'fresh':
      return false;
    case 'conflict':
      throw new HttpError('conflict', 'this Idempotency-Key came with another body before: use a new one');
    case 'pending':
      throw new HttpError('conflict', 'the first request with this Idempotency-Key is still running: try again later');
    case 'done':
      ctx.status = found.response.status;
      ctx.type = 'json';
      ctx.body = found.response.body;
      return true;
  }
}
