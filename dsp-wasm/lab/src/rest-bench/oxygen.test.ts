import { expect } from 'chai';
import { analyse } from '../analyse.js';
import { scoreWindows, toleranceOf } from '../score.js';
import { oxygenBench } from './oxygen.js';

async function scored(seed: number, count: number) {
  const recordings = [...oxygenBench(seed, count)];
  const windows = await Promise.all(
    recordings.map(async ({ source, reference, curve }) => scoreWindows(reference, await analyse(source, curve))),
  );
  return windows.flat();
}

describe('the oxygen bench', () => {
  it('makes the same recordings for the same seed, and others for another seed', async () => {
    const [one, same, other] = await Promise.all([5, 5, 6].map((seed) => scored(seed, 2)));
    expect(same).to.deep.equal(one);
    expect(other).to.not.deep.equal(one);
  });

  it('knows the saturation: two of three readings are in tolerance, most of which and hardly any others are trusted', async () => {
    const windows = await scored(7, 60);
    const off = ({ reference, answer }: (typeof windows)[number]) =>
      Math.abs((answer?.value ?? Number.NaN) - reference) / toleranceOf('spo2', reference);
    const right = windows.filter((window) => off(window) <= 1);
    const trusted = windows.filter(({ answer }) => (answer?.confidence ?? 0) >= 0.5);
    expect(right.length / windows.length).to.be.above(0.66);
    expect(trusted.length / right.length).to.be.above(0.6);
    expect(trusted.filter((window) => off(window) > 2).length / windows.length).to.be.below(0.02);
  });
});
