import { expect } from 'chai';
import { ManualClock } from './manual-clock.js';
import { Pulse } from './pulse.js';

const quiet = { error: () => {} };

describe('the pulse', () => {
  it('does its tasks once at the start and then every second', async () => {
    const clock = new ManualClock();
    let count = 0;
    const pulse = new Pulse([async () => void count++], clock, quiet);
    await pulse.start();
    clock.advance(1000);
    await pulse.stop();
    clock.advance(5000);
    expect(count).to.equal(2);
  });

  it('goes on after a task that failed, and logs it', async () => {
    const clock = new ManualClock();
    const faults: object[] = [];
    let others = 0;
    const fault = async () => {
      throw new Error('no');
    };
    const pulse = new Pulse([fault, async () => void others++], clock, { error: (fields) => faults.push(fields) });
    await pulse.start();
    clock.advance(1000);
    await pulse.stop();
    expect([faults.length, others]).to.deep.equal([2, 2]);
  });

  it('does not overtake a round that is still under way', async () => {
    const clock = new ManualClock();
    let started = 0;
    let release = () => {};
    const slow = () => {
      started++;
      return started === 1 ? Promise.resolve() : new Promise<void>((resolve) => (release = resolve));
    };
    const pulse = new Pulse([slow], clock, quiet);
    await pulse.start();
    clock.advance(3000);
    expect(started).to.equal(2);
    release();
    await pulse.stop();
  });
});
