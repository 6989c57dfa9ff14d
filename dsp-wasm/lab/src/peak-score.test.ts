import { expect } from 'chai';
import { scorePeaks } from './peak-score.js';

describe('the score of R peaks', () => {
  it('is 100 % if every peak is found within 50 ms', () => {
    expect(scorePeaks([1, 2, 3], [1.04, 1.96, 3])).to.deep.equal({
      'positive predictivity %': 100,
      'sensitivity %': 100,
      'F1 %': 100,
    });
  });

  it('counts a missed peak against sensitivity and a false one against positive predictivity', () => {
    expect(scorePeaks([1, 2, 3, 4], [1, 2, 3])).to.include({ 'positive predictivity %': 100, 'sensitivity %': 75 });
    expect(scorePeaks([1, 2, 3], [1, 1.5, 2, 3])).to.include({ 'positive predictivity %': 75, 'sensitivity %': 100 });
  });

  it('matches each peak only once', () => {
    expect(scorePeaks([1], [0.98, 1.02])).to.include({ 'positive predictivity %': 50, 'sensitivity %': 100 });
  });

  it('does not match a peak that is 51 ms off', () => {
    expect(scorePeaks([1], [1.051])).to.include({ 'F1 %': 0 });
  });
});
