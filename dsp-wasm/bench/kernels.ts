import { Kernel } from '../src/kernel.js';
import { type KernelCalls, random } from '../src/signals.js';
import { best, cpuSeconds } from './clock.js';

/** Costs of the kernels alone. */
export async function kernelCosts(): Promise<{ biquad_ns: number; fft1024_us: number }> {
  const kernel = await Kernel.load(1, 'kernels.wasm');
  const call = kernel.call as unknown as KernelCalls;
  return { biquad_ns: biquadCost(kernel, call), fft1024_us: fftCost(kernel, call) };
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
    [0.2, 0, -0.4, -1.4, 0.6].forEach((v, i) => {
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
      for (let j = 0; j < 3; j++) call.fft4(1024);
      spent += cpuSeconds() - start;
    }
    return (spent * 1e6) / ((rounds / 100) * 3 * 4);
  });
}
