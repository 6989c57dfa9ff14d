import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Allowance } from './allowance.js';

describe('an allowance', () => {
  it('allows as many as a day has at once, and then one each time its part of the day has passed', () => {
    const clock = new ManualClock();
    const allowance = new Allowance(clock);
    const take = (times: number) => Array.from({ length: times }, () => allowance.take('a', 24)).filter(Boolean).length;
    expect(take(30)).to.equal(24);
    clock.advance(3_599_000);
    expect(take(1)).to.equal(0);
    clock.advance(1000);
    expect(take(3)).to.equal(1);
    clock.advance(5 * 3_600_000);
    expect(take(10)).to.equal(5);
    clock.advance(10 * 86_400_000);
    expect(take(30)).to.equal(24);
  });

  it('is separate for each owner', () => {
    const allowance = new Allowance(new ManualClock());
    expect([allowance.take('a', 1), allowance.take('a', 1), allowance.take('b', 1)]).to.deep.equal([true, false, true]);
  });
});
