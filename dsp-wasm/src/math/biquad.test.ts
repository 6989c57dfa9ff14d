import { expect } from 'chai';
import { bandPass, biquad } from '../../reference/math/biquad.js';
import { Kernel } from '../kernel.js';
import { type KernelCalls, noise } from '../signals.js';

const FILTER = bandPass(32, 2, 0.7);

describe('biquads of eight signals', () => {
  let kernel: Kernel;
  let call: KernelCalls;
  let scratch: number;

  before(async () => {
    kernel = await Kernel.load(1);
    call = kernel.call as unknown as KernelCalls;
    scratch = kernel.constant('SCRATCH');
  });

  beforeEach(() => {
    const { b, a } = FILTER;
    const coefficients = [b[0], b[1] - a[0] * b[0], b[2] - a[1] * b[0], a[0], a[1], 0, 0, 0];
    [...coefficients, ...Array.from({ length: 16 }, () => 0)].forEach((v, i) => {
      kernel.view.setFloat32(scratch + 4 * i, v, true);
    });
  });

  /** Filters eight signals of equal length. */
  function run(signals: readonly number[][]): number[][] {
    const count = signals[0]?.length ?? 0;
    signals.forEach((x, lane) => {
      x.forEach((v, i) => {
        kernel.view.setFloat32(scratch + 96 + 32 * i + 4 * lane, v, true);
      });
    });
    call.filter8(count);
    return signals.map((x, lane) => x.map((_, i) => kernel.view.getFloat32(scratch + 96 + 32 * i + 4 * lane, true)));
  }

  it('equal the difference equation', () => {
    const signals = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => noise(600, seed));
    run(signals).forEach((got, lane) => {
      biquad(signals[lane] ?? [], FILTER).forEach((want, i) => {
        // The poles' radius of 0.88 makes a rounding error of 2^-24 last some eight samples
        expect(got[i]).to.be.closeTo(want, 32 * 2 ** -24);
      });
    });
  });

  it('give the same bits in any chunking', () => {
    const x = noise(512, 3);
    const [whole] = run(Array.from({ length: 8 }, () => x));
    const pieces = [0, 1, 100, 300].flatMap((from, i, all) => {
      if (i === 0) new Uint8Array(kernel.bytes.buffer, scratch + 32, 64).fill(0);
      return run(Array.from({ length: 8 }, () => x.slice(from, all[i + 1] ?? 512)))[0] ?? [];
    });
    expect(pieces).to.deep.equal(whole);
  });

  it('never decay into denormal numbers', () => {
    run(Array.from({ length: 8 }, () => [1, ...Array.from({ length: 999 }, () => 0)]));
    run(Array.from({ length: 8 }, () => Array.from({ length: 1000 }, () => 0)));
    const state = Array.from({ length: 16 }, (_, i) => Math.abs(kernel.view.getFloat32(scratch + 32 + 4 * i, true)));
    for (const v of state) expect(v === 0 || v > 2 ** -126).to.equal(true);
  });
});
