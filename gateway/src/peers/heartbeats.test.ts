import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Heartbeats, refuseOthers } from './heartbeats.js';

const START = 1_763_600_000_000;
const HOUR = 3_600_000;
const GRACE = 60_000;
const LEAST = 5000;

describe('heartbeats', () => {
  let clock: ManualClock;
  let beats: Map<string, number>;
  let heartbeats: Heartbeats;

  beforeEach(() => {
    clock = new ManualClock(START);
    beats = new Map();
    heartbeats = new Heartbeats({ beats: async () => new Map(beats) }, clock);
  });

  /** Seconds in which these gateways beat. */
  const pass = async (seconds: number, ...living: string[]) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      for (const gateway of living) beats.set(gateway, clock.now());
      await heartbeats.look();
    }
  };
  const isDead = (gateway: string) => !heartbeats.notSilentFor(GRACE, LEAST).includes(gateway);

  it('show another gateway on the store of one that has no bus to it', async () => {
    await pass(1, 'me', 'former');
    const check = () => refuseOthers(heartbeats, 'me');
    await pass(3, 'me');
    expect(check).not.to.throw();
    await pass(1, 'me', 'other');
    expect(check).to.throw(/REDIS_URL/);
    await pass(4, 'me');
    expect(check).not.to.throw();
  });

  it('tell how long a gateway has been silent', async () => {
    await pass(3, 'a', 'b');
    await pass(7, 'a');
    clock.advance(500);
    expect([heartbeats.silenceOf('a'), heartbeats.silenceOf('b')]).to.deep.equal([500, 7500]);
    expect(heartbeats.silenceOf('nobody')).to.equal(Number.POSITIVE_INFINITY);
    expect(heartbeats.heardWithin(1000)).to.deep.equal(['a']);
  });

  for (const [direction, step] of [
    ['back', -HOUR],
    ['forward', HOUR],
  ] as const)
    it(`keep the living alive and let the dead die when the clock is set ${direction}`, async () => {
      await pass(10, 'a', 'b');
      clock.step(step);
      await pass(61, 'a');
      expect([isDead('a'), isDead('b')]).to.deep.equal([false, true]);
    });

  it('count an old heartbeat by its time stamp, and its gateway as dead only after watching it for 5 s', async () => {
    beats
      .set('crashed', START - GRACE + 30_000)
      .set('former', START - HOUR)
      .set('ahead', START + HOUR);
    await heartbeats.look();
    expect(heartbeats.silenceOf('former')).to.equal(HOUR);
    expect(heartbeats.heardWithin(HOUR)).to.deep.equal([]);
    await pass(4);
    expect(['former', 'crashed', 'ahead'].map(isDead)).to.deep.equal([false, false, false]);
    await pass(1);
    expect(['former', 'crashed', 'ahead'].map(isDead)).to.deep.equal([true, false, false]);
    await pass(26);
    expect(['crashed', 'ahead'].map(isDead)).to.deep.equal([true, false]);
    await pass(30);
    expect(isDead('ahead')).to.equal(true);
  });

  it('keep a gateway alive that a gateway with a wrong clock has deleted from the store', async () => {
    await pass(10, 'a', 'b');
    beats.delete('a');
    await pass(30, 'b');
    expect([isDead('a'), heartbeats.silenceOf('a')]).to.deep.equal([false, 30_000]);
    await pass(1, 'a', 'b');
    expect([isDead('a'), heartbeats.silenceOf('a')]).to.deep.equal([false, 0]);
    beats.delete('a');
    await pass(61, 'b');
    expect(isDead('a')).to.equal(true);
  });

  it('tell for how long they have been observed', async () => {
    expect(heartbeats.observedFor).to.equal(0);
    await heartbeats.look();
    await pass(4);
    expect(heartbeats.observedFor).to.equal(4000);
  });

  it('notice a late heartbeat at once', async () => {
    await heartbeats.look();
    beats.set('late', START - HOUR);
    clock.advance(1000);
    await heartbeats.look();
    expect(heartbeats.heardWithin(0)).to.deep.equal(['late']);
    expect(heartbeats.silenceOf('late')).to.equal(0);
  });

  it('do not count the time during which the store could not be read', async () => {
    await pass(10, 'a');
    clock.advance(10 * GRACE);
    await heartbeats.look();
    expect(isDead('a')).to.equal(false);
    await pass(61);
    expect(isDead('a')).to.equal(true);
  });
});
