import { expect } from 'chai';
import { robustSlope } from './slope.js';

describe('the robust slope', () => {
  const line = (n: number) => Array.from({ length: n }, (_, x) => ({ x, y: 3 * x + 7 }));

  it('is that of a line', () => {
    expect(robustSlope(line(20))).to.equal(3);
  });

  it('is not changed by a fifth of outliers', () => {
    const points = line(20).map(({ x, y }) => ({ x, y: x % 5 === 0 ? y + 1e6 : y }));
    expect(robustSlope(points)).to.be.closeTo(3, 0.01);
  });

  it('is 0 if there is nothing to fit', () => {
    expect(robustSlope([])).to.equal(0);
    expect(robustSlope([{ x: 1, y: 5 }])).to.equal(0);
  });
});
