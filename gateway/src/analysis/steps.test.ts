import { expect } from 'chai';
import { type Candidate, type DueWindow, mostConfident } from './steps.js';

/** The value chosen among algorithms with these confidences. */
function chosen(...confidences: readonly (number | null)[]): number | undefined {
  const candidates = confidences.map((confidence, value): Candidate | null =>
    confidence === null ? null : { window: {} as DueWindow, value, confidence, variability: null },
  );
  return mostConfident(candidates)?.value;
}

describe('the choice between the algorithms of a type', () => {
  it('takes the most confident reading, and of two equal ones that of the first algorithm', () => {
    expect(chosen(0.4, 0.7), 'the second').to.equal(1);
    expect(chosen(0.7, 0.4), 'the first').to.equal(0);
    expect(chosen(0.7, 0.7), 'equal').to.equal(0);
    expect(chosen(null, 0), 'one alone').to.equal(1);
    expect(chosen(null)).to.equal(undefined);
  });
});
