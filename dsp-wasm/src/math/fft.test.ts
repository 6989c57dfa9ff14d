import { expect } from 'chai';
import { dft } from '../../reference/math/spectrum.js';
import { Kernel } from '../kernel.js';
import { type KernelCalls, noise } from '../signals.js';

describe('real FFT of four signals', () => {
  let kernel: Kernel;
  let call: KernelCalls;

  before(async () => {
    kernel = await Kernel.load(1);
    call = kernel.call as unknown as KernelCalls;
  });

  /** Bins of each lane, transformed by the module. */
  function transform(lanes: readonly number[][], n: number, padded = 0): { re: number; im: number }[][] {
    const scratch = kernel.constant('SCRATCH');
    for (let i = 0; i < n; i++) {
      lanes.forEach((x, lane) => {
        kernel.view.setFloat32(scratch + 16 * i + 4 * lane, x[i] ?? 0, true);
      });
    }
    const at = call.fft4(n, padded);
    const value = (k: number, lane: number, part: number) =>
      kernel.view.getFloat32(at + 32 * k + 16 * part + 4 * lane, true);
    return lanes.map((_, lane) =>
      Array.from({ length: n / 2 }, (_, k) => ({ re: value(k, lane, 0), im: value(k, lane, 1) })),
    );
  }

  for (const n of [8, 16, 32, 64, 128, 256, 512, 1024]) {
    it(`equals the definition for ${n} samples`, () => {
      const lanes = [1, 2, 3, 4].map((seed) => noise(n, seed));
      // Rounding grows with log2 n; the sum of n values of variance 1/3 has magnitude sqrt(n / 3).
      const tolerance = 4 * 2 ** -23 * Math.log2(n) * Math.sqrt(n);
      transform(lanes, n).forEach((bins, lane) => {
        dft(lanes[lane] ?? [], n / 2).forEach((bin, k) => {
          expect(bins[k]?.re).to.be.closeTo(bin.re, tolerance);
          expect(bins[k]?.im).to.be.closeTo(bin.im, tolerance);
        });
      });
    });
  }

  for (const n of [16, 32, 512, 1024]) {
    it(`pads ${n / 2} samples with zeros`, () => {
      const lanes = [1, 2, 3, 4].map((seed) => noise(n, seed).map((v, i) => (i < n / 2 ? v : 0)));
      const want = transform(lanes, n);
      const cut = lanes.map((x) => x.map((v, i) => (i < n / 2 ? v : 1e9)));
      transform(cut, n, 1).forEach((bins, lane) => {
        bins.forEach((bin, k) => {
          // The order of the additions differs by the zeros alone
          expect(bin.re).to.equal(want[lane]?.[k]?.re);
          expect(bin.im).to.equal(want[lane]?.[k]?.im);
        });
      });
    });
  }

  it('puts a tone into its own bin, and a constant into bin 0', () => {
    const tone = Array.from({ length: 512 }, (_, i) => Math.cos((2 * Math.PI * 37 * i) / 512));
    const flat = Array.from({ length: 512 }, () => 0.25);
    const [bins = [], flatBins = []] = transform([tone, flat], 512);
    expect(bins[37]?.re).to.be.closeTo(256, 1e-3);
    expect(flatBins[0]?.re).to.be.closeTo(128, 1e-3);
    const elsewhere = bins.filter((_, k) => k !== 37).map(({ re, im }) => Math.hypot(re, im));
    expect(Math.max(...elsewhere)).to.be.below(1e-3);
  });
});
