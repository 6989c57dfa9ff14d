import { expect } from 'chai';
import { fuzzDecoder } from './decoder-fuzz.js';

const SEED = 20_260_117;
const MS = 5000;
/** Tolerance of the memory after garbage collection, bytes. */
const NOISE = 4 * 2 ** 20;

describe('the decoder and the intake, fuzzed', () => {
  it('handle as many frames as fit in five seconds, and keep no memory of them', () => {
    const figures = fuzzDecoder({ seed: SEED, frames: Number.POSITIVE_INFINITY, maxMs: MS });
    console.log(`      seed ${SEED}: ${figures.frames} frames in ${figures.seconds.toFixed(1)} s`);
    expect(figures.heapAfter - figures.heapBefore).to.be.lessThan(NOISE);
    expect(figures.taken).to.be.greaterThan(figures.frames / 2);
  });

  it('get the same frames for the same seed', () => {
    const [one, two] = [1, 2].map(() => fuzzDecoder({ seed: SEED, frames: 20_000 }));
    expect(one).to.deep.include({ decoded: two?.decoded, taken: two?.taken, refused: two?.refused });
  });
});
