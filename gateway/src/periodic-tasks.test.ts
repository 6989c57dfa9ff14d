import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { PeriodicTasks } from './periodic-tasks.js';

const quiet = { error: () => {}, info: () => {} };

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

  it('continue after a failed one', async () => {
    const clock = new ManualClock();
    let others = 0;
    const fault = async () => {
      throw new Error('no');
    };
    const tasks = new PeriodicTasks([fault, async () => void others++], clock, quiet);
    await tasks.start();
    clock.advance(1000);
    await tasks.stop();
    expect(others).to.equal(2);
  });

  it('log a failure once, however long it lasts and however many tasks it concerns, and when it is over', async () => {
    const clock = new ManualClock();
    const lines: string[] = [];
    let cause: string | null = 'the disk is full';
    const fault = async () => {
      if (cause) throw new Error(cause);
    };
    const tasks = new PeriodicTasks([fault, () => fault()], clock, {
      error: (fields) => lines.push((fields as { err: Error }).err.message),
      info: (_, text) => lines.push(text),
    });
    const rounds = async (count: number) => {
      for (let i = 0; i < count; i++) {
        clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve)); // The round ends.
      }
    };
    await tasks.start();
    await rounds(5);
    cause = 'the disk does not answer';
    await rounds(5);
    cause = null;
    await rounds(5);
    cause = 'the disk is full';
    await rounds(5);
    await tasks.stop();
    expect(lines).to.deep.equal([
      'the disk is full',
      'the disk does not answer',
      'all periodic tasks work again',
      'the disk is full',
    ]);
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
