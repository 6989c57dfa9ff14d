import { expect } from 'chai';
import { gapRhythm, isOfGaps } from './gap-rhythm.js';

const every = (seconds: number, count: number) => Array.from({ length: count }, (_, i) => 100 + i * seconds);

describe('the rhythm of gaps', () => {
  it('is their rate per minute, if they are at least four', () => {
    expect(gapRhythm(every(2.5, 12))).to.be.closeTo(24, 1e-9);
    expect(gapRhythm(every(8, 4))).to.be.closeTo(7.5, 1e-9);
    expect(gapRhythm(every(8, 3))).to.equal(null);
    expect(gapRhythm([])).to.equal(null);
  });

  it('is kept by a timer that is not exact, and by single losses in between', () => {
    const unsteady = every(2.5, 12).map((start, i) => start + 0.15 * Math.sin(i));
    expect(gapRhythm(unsteady)).to.be.closeTo(24, 2);
    const losses = [...every(2.5, 12), 106, 119].sort((a, b) => a - b);
    expect(gapRhythm(losses)).to.be.closeTo(24, 1e-9);
  });

  it('is none of irregular gaps', () => {
    expect(gapRhythm([100, 100.5, 103, 108, 109, 116, 118, 118.5, 123])).to.equal(null);
  });

  it('is recognised by its rate and by half of it', () => {
    for (const rate of [21, 24, 27, 9, 15]) expect(isOfGaps(rate, 24), `${rate}`).to.equal(true);
    for (const rate of [20.9, 27.1, 8.9, 15.1, 48]) expect(isOfGaps(rate, 24), `${rate}`).to.equal(false);
    expect(isOfGaps(24, null)).to.equal(false);
  });
});
