import { ManualClock } from '@device-insights/fanout/process/manual-clock';
import { expect } from 'chai';
import { PeriodicTasks } from './periodic-tasks.js';

const quiet = { error: () => {} };

describe('periodic tasks', () => {
  it('run once at the start and then every second', async () => {
    const clock = new ManualClock();
    let count = 0;
    const tasks = new PeriodicTasks([async () => void count++], clock, quiet);
    await tasks.start();
    clock.advance(1000);
    await tasks.stop();
    clock.advance(5000);
    expect(count).to.equal(2);
  });

  it('continue after a failed one, and log it', async () => {
    const clock = new ManualClock();
    const faults: object[] = [];
    let others = 0;
    const fault = async () => {
      throw new Error('no');
    };
    const tasks = new PeriodicTasks([fault, async () => void others++], clock, {
      error: (fields) => faults.push(fields),
    });
    await tasks.start();
    clock.advance(1000);
    await tasks.stop();
    expect([faults.length, others]).to.deep.equal([2, 2]);
  });

  it('start no round while another one is running', async () => {
    const clock = new ManualClock();
    let started = 0;
    let release = () => {};
    const slow = () => {
      started++;
      return started === 1 ? Promise.resolve() : new Promise<void>((resolve) => (release = resolve));
    };
    const tasks = new PeriodicTasks([slow], clock, quiet);
    await tasks.start();
    clock.advance(3000);
    expect(started).to.equal(2);
    release();
    await tasks.stop();
  });
});
