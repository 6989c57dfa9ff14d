import { expect } from 'chai';
import { ALGORITHMS } from './registry.js';
import { AlgorithmSteps, type Candidate, type DueWindow, TypeChoice } from './steps.js';

const algorithms = ALGORITHMS.slice(0, 2).map((algorithm) => new AlgorithmSteps(algorithm, 0, [], []));
const candidate = (value: number, confidence: number): Candidate => ({ window: {} as DueWindow, value, confidence });

/** The value chosen for a step, if the algorithms at these places are done with it in this order. */
function chosen(order: readonly number[], confidences: readonly number[]): number | undefined {
  const choice = new TypeChoice(algorithms);
  for (const place of order) {
    const steps = algorithms[place];
    if (steps) choice.settle(steps, 1, candidate(place, confidences[place] ?? 0));
  }
  return [...choice.decide()][0]?.value;
}

describe('the choice between the algorithms of a type', () => {
  it('takes the most confident reading, and of two equal ones the same one whichever was done first', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      expect(chosen(order, [0.4, 0.7]), 'the second').to.equal(1);
      expect(chosen(order, [0.7, 0.4]), 'the first').to.equal(0);
      expect(chosen(order, [0.7, 0.7]), 'equal').to.equal(0);
    }
  });
});
