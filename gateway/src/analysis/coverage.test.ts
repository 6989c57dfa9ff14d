import { expect } from 'chai';
import { ChannelCoverage, windowCoverage } from './coverage.js';

const RATE = 100;

/** A channel at 100 Hz with data in each of these stretches, added second by second. */
function channel(stretches: readonly (readonly [number, number, number?])[]): ChannelCoverage {
  const coverage = new ChannelCoverage(1 / RATE);
  for (const [from, to, lost = 0] of stretches) {
    for (let t = from; t < to; t = Math.floor(t + 1)) {
      const instants = Math.round((Math.min(to, Math.floor(t + 1)) - t) * RATE);
      coverage.add(t, 1 / RATE, instants, t === from ? lost : 0, 0);
    }
  }
  return coverage;
}

describe('the coverage of a window', () => {
  it('is the share of its time that lies within data', () => {
    expect(windowCoverage([channel([[0, 4]])], { start: -4, end: 4 })).to.be.closeTo(0.5, 1e-9);
  });

  it('counts a gap of up to 0.25 s as covered', () => {
    const coverage = windowCoverage(
      [
        channel([
          [0, 3],
          [3.2, 8, 20],
        ]),
      ],
      { start: 0, end: 8 },
    );
    expect(coverage).to.be.closeTo(1, 1e-9);
  });

  it('leaves a longer gap uncovered', () => {
    const coverage = windowCoverage(
      [
        channel([
          [0, 3],
          [5, 8, 200],
        ]),
      ],
      { start: 0, end: 8 },
    );
    expect(coverage).to.be.closeTo(6 / 8, 1e-9);
  });

  it('counts missing values as data', () => {
    const c = new ChannelCoverage(1 / RATE);
    for (let s = 0; s < 8; s++) c.add(s, 1 / RATE, RATE, 0, s < 2 ? 50 : 0);
    expect(windowCoverage([c], { start: 0, end: 8 })).to.equal(1);
  });

  it('is the coverage of the required channels together', () => {
    const both = [channel([[0, 5]]), channel([[3, 8]])];
    expect(windowCoverage(both, { start: 0, end: 8 })).to.be.closeTo(2 / 8, 1e-9);
  });

  it('is 0 without data', () => {
    expect(windowCoverage([channel([])], { start: 0, end: 8 })).to.equal(0);
  });

  it('forgets exactly the data that no window can reach', () => {
    const c = channel([
      [0, 10],
      [12, 100],
    ]);
    c.forget();
    expect(c.covered).to.have.length(1);
    expect(windowCoverage([c], { start: 68, end: 100 })).to.equal(1);
    expect(c.rate({ start: 68, end: 100 })).to.be.closeTo(100, 1e-9);
  });
});

describe('the gaps of a channel', () => {
  const WINDOW = { start: 2, end: 8 };

  it('are where its instants are farther apart than a step, bridged or not', () => {
    const coverage = channel([
      [0, 1],
      [1.5, 3, 50],
      [3.1, 5, 10],
      [5.5, 9, 50],
      [9.5, 10, 50],
    ]);
    expect(coverage.gapStarts(WINDOW, 0.25)).to.deep.equal([5]);
    expect(coverage.gapStarts(WINDOW, 0.04)).to.deep.equal([3, 5]);
    expect(coverage.gapStarts({ start: 0, end: 10 }, 0.25)).to.deep.equal([1, 5, 9]);
  });

  it('are its missing values, too', () => {
    const coverage = new ChannelCoverage(1 / RATE);
    for (let t = 0; t < 8; t += 0.5) coverage.add(t, 1 / RATE, 50, 0, t === 3 || t === 3.5 || t === 6 ? 50 : 0);
    expect(coverage.gapStarts(WINDOW, 0.25)).to.deep.equal([3, 6]);
    expect(coverage.gapStarts(WINDOW, 0.6)).to.deep.equal([3]);
  });

  it('are forgotten when no window reaches them', () => {
    const coverage = channel([
      [0, 1],
      [2, 100, 100],
    ]);
    coverage.forget();
    expect(coverage.gapStarts({ start: 0, end: 100 }, 0.25)).to.deep.equal([]);
  });
});
