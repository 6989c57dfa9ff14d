import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Store } from '../store/store.js';
import { addedKey, sampleKey } from '../store/suite/samples.js';
import { KeyRing } from './key-ring.js';

const START = 1_763_600_000_000;
const HOUR = 3_600_000;

describe('the key ring', () => {
  let clock: ManualClock;
  let store: Store;
  let ring: KeyRing;
  let told: string[];
  let inUse: string[];

  beforeEach(async () => {
    clock = new ManualClock(START);
    store = await openTemporaryStore(clock);
    ring = new KeyRing(store, clock, { warn: () => {} });
    told = [];
    await ring.poll();
    inUse = [];
    ring.onRevoked(
      (hash) => told.push(hash),
      () => inUse,
    );
  });
  afterEach(() => store.close());

  const issue = () => addedKey(store);

  it('reports each revocation once, however often it polls', async () => {
    const [one, two] = [await issue(), await issue()];
    await store.revokeKey(one.id, START);
    await ring.poll();
    await store.revokeKey(two.id, START + 500);
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      await ring.poll();
    }
    expect(told).to.deep.equal([one.hash, two.hash]);
  });

  for (const [direction, step] of [
    ['back', -HOUR],
    ['forward', HOUR],
  ] as const)
    it(`applies revocations after the clock was set ${direction}, and those from clocks that are an hour off`, async () => {
      const keys = [await issue(), await issue(), await issue(), await issue()];
      const [before, after, behind, ahead] = keys;
      await store.revokeKey(before?.id ?? '', clock.now());
      await ring.poll();
      clock.step(step);
      clock.advance(1000);
      await ring.poll();
      await store.revokeKey(after?.id ?? '', clock.now());
      await ring.poll();
      await store.revokeKey(ahead?.id ?? '', clock.now() + HOUR);
      await ring.poll();
      await store.revokeKey(behind?.id ?? '', clock.now() - HOUR);
      await ring.poll();
      expect(told).to.have.members(keys.map(({ hash }) => hash));
    });

  /** An account's keys, of which one was revoked and erased since the last poll. */
  const eraseOne = async () => {
    const account = await store.createAccount({ id: 'ward', name: 'ward', algorithms: null, createdAt: START });
    const [erased, kept] = [sampleKey({ accountId: account?.id ?? '', user: 'anna' }), await issue()];
    await store.addKey(erased);
    inUse = [erased.hash, kept.hash];
    await store.revokeKey(erased.id, clock.now());
    await store.eraseKeys(erased.accountId, 'anna', 9);
    return erased;
  };

  for (const [cause, pass] of [
    ['the process had stood still', () => clock.skip(8000)],
    ['the machine had stood still, and its clock was set', () => clock.step(8000)],
  ] as const)
    it(`reports a key in use that was erased while ${cause}`, async () => {
      let missed = 0;
      ring.onMissed(() => (missed += 1));
      const erased = await eraseOne();
      pass();
      await ring.poll();
      expect([told, missed]).to.deep.equal([[erased.hash], 1]);
      clock.advance(1000);
      await ring.poll();
      expect(missed).to.equal(1);
    });

  it('reports a key in use that was erased while the store was slow to answer', async () => {
    const { keysRevokedSince } = store;
    let erased: string | undefined;
    store.keysRevokedSince = async (at) => {
      erased = (await eraseOne()).hash;
      clock.advance(6000);
      return keysRevokedSince(at);
    };
    await ring.poll();
    expect(told).to.deep.equal([erased]);
  });

  it('reports a key in use that was erased while the store did not answer', async () => {
    const erased = await eraseOne();
    const { keysRevokedSince, keys } = store;
    const fail = () => Promise.reject(new Error('store down'));
    const tryOften = async () => {
      for (let second = 0; second < 8; second++) {
        clock.advance(1000);
        expect(await ring.poll().catch((error: Error) => error.message)).to.equal('store down');
      }
    };
    store.keysRevokedSince = fail;
    await tryOften();
    Object.assign(store, { keysRevokedSince, keys: fail });
    await tryOften();
    store.keys = keys;
    clock.advance(1000);
    await ring.poll();
    expect(told).to.deep.equal([erased.hash]);
  });

  it('records the use of a key once a minute, whatever the clock is set to', async () => {
    const key = await issue();
    const used = async () => {
      await ring.key(key.hash);
      await store.touchKeys([], START); // what was asked for before is done before
      return (await store.keyByHash(key.hash))?.lastUsedAt;
    };
    expect(await used()).to.equal(START);
    clock.step(HOUR);
    expect(await used()).to.equal(START);
    clock.step(-HOUR);
    clock.advance(60_000);
    expect(await used()).to.equal(START + 60_000);
  });

  it('accepts a key that may only subscribe for subscribers, but not for REST or devices', async () => {
    const key = await addedKey(store, { subscribeOnly: true });
    expect(await ring.holder(key.hash)).to.deep.equal({
      account: key.accountId,
      user: null,
      permissions: key.permissions,
      expiresAt: null,
    });
    expect(await ring.key(key.hash)).to.equal(null);
    expect(await ring.ofDevices.holder(key.hash)).to.equal(null);
    const whole = await issue();
    expect(await ring.key(whole.hash)).to.deep.include({ id: whole.id });
    expect(await ring.ofDevices.holder(whole.hash)).to.deep.include({ account: whole.accountId });
  });
});
