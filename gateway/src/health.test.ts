import { expect } from 'chai';
import { healthOf } from './health.js';
import { ManualClock } from './manual-clock.js';

const works = async () => {};
const fails = (why: string) => async () => {
  throw new Error(why);
};

describe('health', () => {
  it('is ok when both ingest and subscribe work', async () => {
    expect(await healthOf(works, works, new ManualClock())()).to.deep.equal({
      ok: true,
      ingest: true,
      subscribe: true,
    });
  });

  it('says which part does not work, and why', async () => {
    const health = await healthOf(fails('the store is down'), works, new ManualClock())();
    expect(health).to.deep.equal({ ok: false, ingest: false, subscribe: true, reason: 'ingest: the store is down' });
  });

  it('tries again after a second, not sooner', async () => {
    const clock = new ManualClock();
    let trials = 0;
    const health = healthOf(async () => void trials++, works, clock);
    await Promise.all([health(), health()]);
    clock.advance(999);
    await health();
    expect(trials).to.equal(1);
    clock.advance(1);
    await health();
    expect(trials).to.equal(2);
  });
});
