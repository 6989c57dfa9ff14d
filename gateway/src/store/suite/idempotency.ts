import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { IdempotencyClaim } from '../store.js';
import { atOnce, type Handles, newMoment } from './samples.js';

const FRESH = { state: 'fresh' };
const PENDING = { state: 'pending' };
const CONFLICT = { state: 'conflict' };
const RESPONSE = { status: 201, body: '{"name":"心"}', bodyHash: 'b' };
const MINUTE_MS = 60_000;
const PENDING_MS = 45_000;
const DAY_MS = 86_400_000;

export function idempotencySuite({ store, other }: Handles): void {
  const sample = (): IdempotencyClaim => ({
    accountId: randomUUID(),
    route: 'POST /v1/device-models',
    key: 'a key',
    bodyHash: 'a',
    at: newMoment(),
  });

  describe('idempotency keys', () => {
    it('give the first response to the same request again', async () => {
      const claim = sample();
      expect(await store.claimIdempotencyKey(claim)).to.deep.equal(FRESH);
      expect(await other.claimIdempotencyKey({ ...claim, at: claim.at + 1 })).to.deep.equal(PENDING);
      await store.saveIdempotentResponse(claim, RESPONSE);
      const again = { ...claim, at: claim.at + 5 * MINUTE_MS };
      expect(await other.claimIdempotencyKey(again)).to.deep.equal({ state: 'done', response: RESPONSE });
    });

    it('belong to one of many simultaneous requests', async () => {
      const claim = sample();
      const states = await atOnce(8, [store, other], (handle) => handle.claimIdempotencyKey(claim));
      expect(states.map(({ state }) => state).sort()).to.deep.equal(['fresh', ...Array(7).fill('pending')]);
    });

    it('conflict with another body, before and after the response', async () => {
      const claim = sample();
      const another = { ...claim, bodyHash: 'b' };
      await store.claimIdempotencyKey(claim);
      expect(await store.claimIdempotencyKey(another)).to.deep.equal(CONFLICT);
      await store.saveIdempotentResponse(claim, RESPONSE);
      expect(await store.claimIdempotencyKey(another)).to.deep.equal(CONFLICT);
    });

    it('are kept for each account up to a limit, the newest ones', async () => {
      const first = sample();
      const stranger = { ...first, accountId: randomUUID() };
      const claims = Array.from({ length: 5 }, (_, i) => ({ ...first, key: `key ${i}` }));
      for (const [i, claim] of [stranger, ...claims].entries())
        await (i % 2 ? other : store).claimIdempotencyKey(claim, 3);
      const again = (claim: IdempotencyClaim) => store.claimIdempotencyKey({ ...claim, bodyHash: 'another' }, 3);
      for (const claim of [stranger, ...claims.slice(2)]) expect(await again(claim)).to.deep.equal(CONFLICT);
      for (const claim of claims.slice(0, 2)) expect(await again(claim)).to.deep.equal(FRESH);
    });

    it('are separate for each account and route', async () => {
      const claim = sample();
      await store.claimIdempotencyKey(claim);
      expect(await store.claimIdempotencyKey({ ...claim, accountId: randomUUID() })).to.deep.equal(FRESH);
      expect(await store.claimIdempotencyKey({ ...claim, route: 'POST /other' })).to.deep.equal(FRESH);
    });

    it('can be used again when the request failed without effect', async () => {
      const claim = sample();
      await store.claimIdempotencyKey(claim);
      await store.releaseIdempotencyKey(claim);
      expect(await store.claimIdempotencyKey({ ...claim, bodyHash: 'b' })).to.deep.equal(FRESH);
    });

    it('are not released once there is a response', async () => {
      const claim = sample();
      await store.claimIdempotencyKey(claim);
      await store.saveIdempotentResponse(claim, RESPONSE);
      await store.releaseIdempotencyKey(claim);
      expect((await store.claimIdempotencyKey(claim)).state).to.equal('done');
    });

    it('wait 45 s for the first request, whose response is ignored if it comes later', async () => {
      const claim = sample();
      const later = { ...claim, at: claim.at + PENDING_MS };
      await store.claimIdempotencyKey(claim);
      expect(await store.claimIdempotencyKey({ ...claim, at: later.at - 1 })).to.deep.equal(PENDING);
      expect(await store.claimIdempotencyKey(later)).to.deep.equal(FRESH);
      await store.saveIdempotentResponse(claim, RESPONSE);
      await store.releaseIdempotencyKey(claim);
      expect(await store.claimIdempotencyKey(later)).to.deep.equal(PENDING);
    });

    it('are forgotten after a day', async () => {
      const claim = sample();
      await store.claimIdempotencyKey(claim);
      await store.saveIdempotentResponse(claim, RESPONSE);
      const almost = { ...claim, at: claim.at + DAY_MS - 1 };
      expect((await store.claimIdempotencyKey(almost)).state).to.equal('done');
      const after = { ...claim, bodyHash: 'b', at: claim.at + DAY_MS };
      expect(await store.claimIdempotencyKey(after)).to.deep.equal(FRESH);
    });
  });
}
