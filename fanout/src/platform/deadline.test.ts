import { expect } from 'chai';
import { within } from './deadline.js';
import { ManualClock } from './manual-clock.fixture.js';
import { deferred } from './promises.js';

describe('within', () => {
  const never = new Promise<void>(() => {});

  it('returns true if the work was done in time', async () => {
    expect(await within(10, Promise.resolve(), new ManualClock())).to.equal(true);
  });

  it('abandons work that takes longer', async () => {
    const clock = new ManualClock();
    const answer = within(10, never, clock);
    clock.advance(10);
    expect(await answer).to.equal(false);
  });

  it('waits on if the process stood still for longer', async () => {
    const clock = new ManualClock();
    const work = deferred();
    const answer = within(10, work.promise, clock);
    clock.skip(60);
    clock.advance(0); // The timer fires before the answer of the work is read.
    work.resolve();
    expect(await answer).to.equal(true);
  });

  it('leaves no timer when the work is done', async () => {
    const clock = new ManualClock();
    let waiting = 0;
    const after = (ms: number, run: () => void) => {
      const timer = clock.after(ms, run);
      waiting += 1;
      return {
        cancel() {
          waiting -= 1;
          timer.cancel();
        },
      };
    };
    await within(10, Promise.resolve(), { now: () => 0, monotonic: () => 0, every: after, after });
    expect(waiting).to.equal(0);
  });

  it('fails if the work fails', async () => {
    const failure = await within(10, Promise.reject(new Error('no')), new ManualClock()).catch((error) => error);
    expect(failure).to.be.an('error').with.property('message', 'no');
  });
});
