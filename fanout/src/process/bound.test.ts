import { expect } from 'chai';
import { Bound } from './bound.js';
import { ManualClock } from './manual-clock.js';

describe('a bound', () => {
  it('is told once, however often it is reached, and again after it was over for 10 s', () => {
    const clock = new ManualClock();
    let told = 0;
    const bound = new Bound(() => {
      told += 1;
    }, clock);
    for (let second = 0; second < 3600; second++) {
      bound.reached();
      clock.advance(1000);
    }
    expect(told).to.equal(1);
    clock.advance(10_000);
    bound.reached();
    expect(told).to.equal(2);
  });
});
