import { expect } from 'chai';
import { EarlySamples } from './early-samples.js';

/** One value, 8 bytes. */
const sample = (value: number) => ({ channel: 0, ts: Number.NaN, samples: Float64Array.of(value) });

describe('early samples', () => {
  it('are dropped from the oldest on, many at a time where many wait', () => {
    const early = new EarlySamples(640 * 8);
    const lost: number[] = [];
    for (let n = 0; n < 651; n++) lost[n] = early.add(sample(n));
    expect(lost.filter(Boolean)).to.deep.equal([10, 10]);
    expect([lost[640], lost[650]]).to.deep.equal([10, 10]);
    expect(early.samples).to.equal(631);
    expect([...early.take()][0]?.samples[0]).to.equal(20);
    expect(early.samples).to.equal(0);
  });
});
