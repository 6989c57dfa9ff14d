import { expect } from 'chai';
import { LogLimit } from './log-limit.js';
import { ManualClock } from './manual-clock.fixture.js';

describe('the limit of a log', () => {
  it('passes the first few lines of a kind, and tells the number of the others once a second, until a second has none', () => {
    const clock = new ManualClock();
    const limit = new LogLimit(clock);
    const told: number[] = [];
    const flood = (count: number) =>
      Array.from({ length: count }, () => limit.admits('a fault', (times) => told.push(times))).filter(Boolean).length;
    expect(flood(15_000)).to.equal(5);
    expect(limit.admits('another fault', () => undefined)).to.equal(true);
    clock.advance(1000);
    expect(told).to.deep.equal([14_995]);
    expect(flood(3)).to.equal(0);
    clock.advance(2000);
    expect(told).to.deep.equal([14_995, 3]);
    expect(flood(3)).to.equal(3);
    clock.advance(1000);
    expect(told).to.deep.equal([14_995, 3]);
  });

  it('passes no more than 1,000 kinds in a second', () => {
    const clock = new ManualClock();
    const limit = new LogLimit(clock);
    const flood = () =>
      Array.from({ length: 2000 }, (_, n) => limit.admits(`fault ${n}`, () => undefined)).filter(Boolean).length;
    expect(flood()).to.equal(1000);
    clock.advance(1000);
    expect(flood()).to.equal(1000);
  });
});
