import { expect } from 'chai';
import { Bound } from './bound.js';
import { ManualClock } from './manual-clock.js';

describe('a bound', () => {
  it('is reported once, however often it is reached, and again after 10 s without being reached', () => {
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
