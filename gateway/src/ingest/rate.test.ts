import { expect } from 'chai';
import { MeasuredRate } from './rate.js';

/** Repeatable noise in -1 .. 1. */
const noise = (k: number) => 2 * ((k * k * 0.618033988749895) % 1) - 1;

/** The time at which the rate of frames of 10 instants, 10 ms apart, becomes known, s; and its period then, ms. */
function known(seconds: number, jitter: (k: number) => number) {
  const rate = new MeasuredRate();
  for (let k = 0; k < seconds * 10; k++) {
    rate.add(10 * k, 1_763_600_000_000 + 100 * k + jitter(k));
    if (rate.period !== null) return { at: k / 10, period: rate.period };
  }
  return null;
}

describe('MeasuredRate', () => {
  it('knows the rate of steady stamps after little more than 10 s', () => {
    const found = known(60, () => 0);
    expect(found?.at).to.be.within(10, 13);
    expect(found?.period).to.be.closeTo(10, 1e-6);
  });

  it('knows it to 1 % in 19 of 20 cases, later the more the stamps jitter, and not where they jitter by seconds', () => {
    const cases = (ms: number) =>
      Array.from({ length: 200 }, (_, n) => known(60, (k) => ms * noise(k + 1000 * n)) ?? { at: 60, period: 10 });
    const meanAt = (ms: number) => cases(ms).reduce((sum, { at }) => sum + at, 0) / 200;
    for (const ms of [20, 60, 150])
      expect(cases(ms).filter(({ period }) => Math.abs(period - 10) > 0.1)).to.have.length.at.most(10);
    expect(meanAt(60)).to.be.lessThan(meanAt(150));
    expect(known(300, (k) => 2000 * noise(k))).to.equal(null);
  });

  it('does not know a rate that changes', () => {
    const rate = new MeasuredRate();
    let time = 0;
    for (let k = 0; k < 600; k++) {
      time += k < 300 ? 100 : 120;
      rate.add(10 * k, time);
      if (k > 340 && k < 460) expect(rate.period).to.equal(null);
    }
    expect(rate.period).to.be.closeTo(12, 0.1);
  });

  it('forgets all points on a restart', () => {
    const rate = new MeasuredRate();
    for (let k = 0; k < 200; k++) rate.add(10 * k, 100 * k);
    rate.restart();
    expect(rate.period).to.equal(null);
    for (let k = 200; k < 500; k++) rate.add(10 * k, 100_000 + 50 * k);
    expect(rate.period).to.be.closeTo(5, 1e-6);
  });
});
