import { expect } from 'chai';
import { MeasuredRate } from './rate.js';

/** Repeatable noise in -1 .. 1. */
const noise = (k: number) => 2 * ((k * k * 0.618033988749895) % 1) - 1;

/** The time at which the rate of frames of 10 instants, 10 ms apart, becomes known, s; and its period then, ms. */
function known(seconds: number, jitter: (k: number) => number) {
  const rate = new MeasuredRate(10);
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

  it('knows it to 1 % of stamps that are rounded, which may fit a wrong rate without any error for long', () => {
    for (const round of [100, 200, 250])
      for (const step of [104, 506, 988, 1012, 1060])
        for (const off of [0.93, 1.04]) {
          const rate = new MeasuredRate((off * step) / 10);
          let worst = 0;
          for (let k = 0; k * step < 180_000; k++) {
            rate.add(10 * k, Math.floor((k * step) / round) * round);
            if (rate.period !== null) worst = Math.max(worst, Math.abs((10 * rate.period) / step - 1));
          }
          expect(worst, `${round} ${step}`).to.be.at.most(0.01);
        }
  });

  it("knows the rate of exact stamps that are multiples of a step as soon as that of others, if it is the model's", () => {
    for (const [nominal, within] of [
      [10, 13],
      [20, 28],
    ] as const) {
      const rate = new MeasuredRate(nominal);
      let k = 0;
      for (; rate.period === null; k++) rate.add(100 * k, 1000 * k);
      expect(k).to.be.at.most(within);
      expect(rate.period).to.be.closeTo(10, 1e-6);
    }
  });

  it('knows the rate of stamps that are rounded to 0.25 s within half a minute', () => {
    for (const step of [530, 940, 1060]) {
      const rate = new MeasuredRate(step / 11);
      let k = 0;
      for (; rate.period === null && k * step < 60_000; k++) rate.add(10 * k, Math.floor((k * step) / 250) * 250);
      expect(k * step, `${step}`).to.be.within(25_000, 30_000);
    }
  });

  it('does not know a rate that changes', () => {
    const rate = new MeasuredRate(10);
    let time = 0;
    for (let k = 0; k < 600; k++) {
      time += k < 300 ? 100 : 120;
      rate.add(10 * k, time);
      if (k > 340 && k < 460) expect(rate.period).to.equal(null);
    }
    expect(rate.period).to.be.closeTo(12, 0.1);
  });

  it('forgets all points on a restart', () => {
    const rate = new MeasuredRate(10);
    for (let k = 0; k < 200; k++) rate.add(10 * k, 100 * k);
    rate.restart();
    expect(rate.period).to.equal(null);
    for (let k = 200; k < 500; k++) rate.add(10 * k, 100_000 + 50 * k);
    expect(rate.period).to.be.closeTo(5, 1e-6);
  });
});
