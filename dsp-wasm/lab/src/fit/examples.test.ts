import { expect } from 'chai';
import { examplesOf, type Lesson, personOf } from './examples.js';

const lesson = (group: string, weight: number, windows: number): Lesson => {
  const window = { traits: new Float32Array(0), rate: 70 };
  return { people: ['a-1'], group, weight, windows: Array.from({ length: windows }, () => window) };
};

describe('the examples of the fit', () => {
  it('give each group its weight, whatever the number of its recordings and windows', () => {
    const examples = examplesOf([lesson('long', 1, 30), lesson('long', 1, 10), lesson('short', 0.5, 5)]);
    const total = (from: number, to: number) => examples.slice(from, to).reduce((sum, { weight }) => sum + weight, 0);
    expect(total(0, 40)).to.be.closeTo(1, 1e-9);
    expect(total(40, 45)).to.be.closeTo(0.5, 1e-9);
  });

  it('derive the person from the name of the recording', () => {
    expect(['spc-s02-t01', 'troika-07', 'maxwrist-a-curl-1'].map(personOf)).to.deep.equal([
      'spc-s02',
      'troika-07',
      'maxwrist-a',
    ]);
  });
});
