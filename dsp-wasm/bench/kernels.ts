import { type Biquad, biquad } from '../reference/math/biquad.js';
import { powerSpectrum } from '../reference/math/spectrum.js';
import { Kernel } from '../src/kernel.js';
import { type KernelCalls, random } from '../src/signals.js';
import { best, cpuSeconds } from './clock.js';

/** Costs of the kernels alone, and how many times that the plain twins take. */
export async function kernelCosts() {
  const kernel = await Kernel.load(1);
  const call = kernel.call as unknown as KernelCalls;
  const [biquad_ns, fft1024_us] = [biquadCost(kernel, call), fftCost(kernel, call)];
  const samples = Array.from({ length: 1024 }, random(3));
  return {
    biquad_ns,
    fft1024_us,
    biquad_ratio: (1e3 * cost(1000, () => biquad(samples, SECTION))) / 1024 / biquad_ns,
    fft1024_ratio: cost(100, () => powerSpectrum(samples, 512)) / fft1024_us,
  };
}

const SECTION: Biquad = { b: [0.2, 0, -0.4], a: [-1.4, 0.6] };

/** Microseconds of a call. */
function cost(rounds: number, call: () => unknown): number {
  return best(7, () => {
    const start = cpuSeconds();
    for (let i = 0; i < rounds; i++) call();
    return ((cpuSeconds() - start) * 1e6) / rounds;
  });
}

function fillNoise(kernel: Kernel, values: number): void {
  const next = random(3);
  const at = kernel.constant('SCRATCH');
  for (let i = 0; i < values; i++) kernel.view.setFloat32(at + 4 * i, next(), true);
}

/** Nanoseconds per sample and signal: 8 signals of 256 samples, in the first-level cache. */
function biquadCost(kernel: Kernel, call: KernelCalls): number {
  const [rounds, samples] = [4000, 256];
  const at = kernel.constant('SCRATCH');
  return best(7, () => {
    fillNoise(kernel, 24 + 8 * samples);
    [...SECTION.b, ...SECTION.a].forEach((v, i) => {
      kernel.view.setFloat32(at + 4 * i, v, true);
    });
    const start = cpuSeconds();
    for (let i = 0; i < rounds; i++) call.filter8(samples);
    return ((cpuSeconds() - start) * 1e9) / (rounds * samples * 8);
  });
}

/** Microseconds per signal. */
function fftCost(kernel: Kernel, call: KernelCalls): number {
  const rounds = 2000;
  return best(7, () => {
    let spent = 0;
    for (let i = 0; i < rounds / 100; i++) {
      fillNoise(kernel, 4096); // the transform works in place, and its values would grow without limit
      const start = cpuSeconds();
      for (let j = 0; j < 3; j++) call.fft4(1024, 0);
      spent += cpuSeconds() - start;
    }
    return (spent * 1e6) / ((rounds / 100) * 3 * 4);
  });
}
