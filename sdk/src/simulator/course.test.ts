import { expect } from 'chai';
import { Course } from './course.js';

describe('course', () => {
  const ramp = new Course([
    [10, 60],
    [20, 120],
    [30, 120],
  ]);

  it('joins its points by straight lines and holds the first and the last', () => {
    expect([0, 10, 15, 20, 25, 99].map((t) => ramp.at(t))).to.deep.equal([60, 60, 90, 120, 120, 120]);
    expect(new Course(5).at(-3)).to.equal(5);
  });

  it('integrates exactly from 0', () => {
    expect([0, 10, 15, 20, 40, -1].map((t) => ramp.integral(t))).to.deep.equal([0, 600, 975, 1500, 3900, -60]);
  });

  it('refuses times that do not increase and values that are no numbers', () => {
    expect(() => new Course([])).to.throw(RangeError, 'at least one point');
    expect(
      () =>
        new Course([
          [1, 2],
          [1, 3],
        ]),
    ).to.throw(RangeError, 'times must increase');
    expect(() => new Course(Number.NaN)).to.throw(RangeError, 'numbers');
  });
});
