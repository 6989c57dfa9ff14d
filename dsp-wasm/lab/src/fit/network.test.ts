import { CANDIDATES, HIDDEN, TRAITS } from '@device-insights/dsp-wasm/fit';
import { expect } from 'chai';
import { Draws } from '../motion-bench/random.js';
import { type Example, fitNetwork } from './network.js';

/** Windows whose light has two lines, the stronger one the motion's: trait 1 is the light's level, trait 6 the motion's. */
function examples(count: number): Example[] {
  const draws = new Draws(3);
  return Array.from({ length: count }, () => {
    const [pulse, swing] = [draws.below(CANDIDATES.length), draws.below(CANDIDATES.length)];
    const traits = new Float32Array(TRAITS * CANDIDATES.length).map(() => 0.1 * draws.normal());
    const raise = (trait: number, candidate: number, by: number) => {
      const at = trait * CANDIDATES.length + candidate;
      traits[at] = (traits[at] ?? 0) + by;
    };
    raise(1, pulse, 2);
    raise(1, swing, 4);
    raise(6, swing, 4);
    return { traits, rate: CANDIDATES[pulse] ?? 0, weight: 1 };
  });
}

/** The likeliest candidate's rate, as dsp-wasm/assembly/pulse/motion.ts has it. */
function likeliest(weights: readonly number[], traits: Float32Array): number | undefined {
  const odds = CANDIDATES.map((_, c) => {
    let sum = 0;
    for (let h = 0; h < HIDDEN; h++) {
      const row = weights.slice(h * (TRAITS + 2), (h + 1) * (TRAITS + 2));
      let x = row[TRAITS] ?? 0;
      for (let t = 0; t < TRAITS; t++) x += (row[t] ?? 0) * (traits[t * CANDIDATES.length + c] ?? 0);
      sum += (row[TRAITS + 1] ?? 0) * Math.max(x, 0.1 * x);
    }
    return sum;
  });
  return CANDIDATES[odds.indexOf(Math.max(...odds))];
}

describe('the fit of the network', () => {
  it('learns to tell the pulse from a line that the motion also has', () => {
    const weights = fitNetwork(examples(1500));
    const right = examples(1600)
      .slice(1500)
      .filter(({ traits, rate }) => Math.abs((likeliest(weights, traits) ?? 0) - rate) < 5);
    expect(right.length).to.be.at.least(90);
  });

  it('gives the same weights for the same examples', () => {
    expect(fitNetwork(examples(200))).to.deep.equal(fitNetwork(examples(200)));
  });

  it('learns nothing from examples of weight 0', () => {
    const swapped = examples(400).map((one, i) => (i < 200 ? one : { ...one, rate: 60, weight: 1e-12 }));
    const weights = fitNetwork(swapped);
    expect(swapped.slice(200).filter(({ traits }) => likeliest(weights, traits) === 60).length).to.be.below(40);
  });
});
