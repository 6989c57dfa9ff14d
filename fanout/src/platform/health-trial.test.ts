import { expect } from 'chai';
import { sharedTrial } from './health-trial.js';
import { ManualClock } from './manual-clock.fixture.js';

describe('a shared trial', () => {
  it('is waited for half a second, once there is an earlier result', async () => {
    const clock = new ManualClock();
    let end: (result: string) => void = () => {};
    const ask = sharedTrial(
      () =>
        new Promise<string>((resolve) => {
          end = resolve;
        }),
      clock,
    );
    const first = ask();
    clock.advance(10_000);
    end('the first');
    expect(await first).to.equal('the first');
    clock.advance(1000);
    const second = ask();
    clock.advance(500);
    expect(await second).to.equal('the first');
    end('the second');
    expect(await ask()).to.equal('the second');
  });

  it('is one for all who ask within a second', async () => {
    const clock = new ManualClock();
    let trials = 0;
    const ask = sharedTrial(() => Promise.resolve(++trials), clock);
    expect(await Promise.all([ask(), ask()])).to.deep.equal([1, 1]);
    clock.advance(999);
    expect(await ask()).to.equal(1);
    clock.advance(1);
    expect(await ask()).to.equal(2);
  });
});
