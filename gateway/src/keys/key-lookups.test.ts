import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { type Key, StoreUnavailable } from '../store/store.js';
import { rejection, sampleKey } from '../store/suite/samples.js';
import { KeyLookups } from './key-lookups.js';

describe('look-ups of keys', () => {
  let clock: ManualClock;
  let keys: Map<string, Key>;
  let asked: string[];
  /** Answers of the store that are held back; null where it answers at once. */
  let held: (() => void)[] | null;
  let lookups: KeyLookups;

  beforeEach(() => {
    clock = new ManualClock();
    keys = new Map();
    asked = [];
    held = null;
    lookups = new KeyLookups({ keyByHash }, clock);
  });

  async function keyByHash(hash: string): Promise<Key | null> {
    asked.push(hash);
    const answers = held;
    if (answers) await new Promise<void>((resolve) => answers.push(resolve));
    return keys.get(hash) ?? null;
  }

  const issue = (fields: Partial<Key> = {}) => {
    const key = sampleKey(fields);
    keys.set(key.hash, key);
    return key;
  };

  it('ask the store on every use, so that a revocation counts at once', async () => {
    const key = issue();
    expect(await lookups.find(key.hash)).to.equal(key);
    keys.set(key.hash, { ...key, revokedAt: 5 });
    expect(await lookups.find(key.hash)).to.equal(null);
  });

  it('of the same hash at the same time are one request to the store', async () => {
    const key = issue();
    expect(await Promise.all([1, 2, 3].map(() => lookups.find(key.hash)))).to.deep.equal([key, key, key]);
    expect(asked).to.have.length(1);
  });

  it('remember a refusal for a second, and no longer', async () => {
    const key = sampleKey();
    for (let i = 0; i < 5; i++) expect(await lookups.find(key.hash)).to.equal(null);
    expect(asked).to.have.length(1);
    keys.set(key.hash, key);
    clock.advance(1000);
    expect(await lookups.find(key.hash)).to.equal(key);
  });

  it('of unknown keys run a few at a time, then wait, then are refused; a key that was valid before does not wait', async () => {
    const key = issue();
    await lookups.find(key.hash);
    held = [];
    asked = [];
    const flood = Array.from({ length: 3000 }, (_, i) =>
      lookups.find(`stranger ${i}`).catch((error: unknown) => error),
    );
    expect(await rejection(lookups.find('one more'))).to.be.instanceOf(StoreUnavailable);
    const strangers = asked.length;
    expect(strangers).to.be.within(1, 64);
    const answers = held;
    held = null;
    expect(await lookups.find(key.hash)).to.equal(key);
    for (const answer of answers) answer();
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === null)).to.have.length(strangers + 1000);
    expect(outcomes.filter((outcome) => outcome instanceof StoreUnavailable)).to.have.length(2000 - strangers);
    expect(await lookups.find('a late one')).to.equal(null);
  });

  it('continue after a failed one', async () => {
    const failing = new KeyLookups({ keyByHash: () => Promise.reject(new StoreUnavailable('down')) }, clock);
    for (let i = 0; i < 100; i++) expect(await rejection(failing.find(`${i}`))).to.be.instanceOf(StoreUnavailable);
  });
});
