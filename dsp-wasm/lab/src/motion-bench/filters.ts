import { fft } from '@device-insights/dsp-wasm/reference';

/** Filters and spectra of whole signals, to generate test data: in double precision and not causal. */

/** The second-order section b0, b1, b2, a1, a2 (a0 = 1). */
type Section = readonly [number, number, number, number, number];

/**
 * The sections of a Butterworth filter, by the bilinear transform.
 *
 * @param cut corner frequency as a share of the sampling rate
 */
export function butterworth(order: 2 | 3, cut: number, type: 'low' | 'high'): Section[] {
  const k = Math.tan(Math.PI * cut);
  const b: (gain: number) => Section = (gain) =>
    type === 'low' ? [k * k * gain, 2 * k * k * gain, k * k * gain, 0, 0] : [gain, -2 * gain, gain, 0, 0];
  const q = order === 2 ? Math.SQRT1_2 : 1;
  const norm = 1 / (1 + k / q + k * k);
  const [b0, b1, b2] = b(norm);
  const second: Section = [b0, b1, b2, 2 * (k * k - 1) * norm, (1 - k / q + k * k) * norm];
  if (order === 2) return [second];
  const gain = (type === 'low' ? k : 1) / (1 + k);
  return [second, [gain, type === 'low' ? gain : -gain, 0, (k - 1) / (k + 1), 0]];
}

/** Filters forward and backward, without delay; the signal is extended by its mirror image (odd) at both ends. */
export function filtered(x: Float64Array, sections: readonly Section[], pad: number): Float64Array {
  const n = x.length;
  const reach = Math.min(pad, n - 1);
  const at = (i: number) => x[i] ?? 0;
  const y = Float64Array.from({ length: n + 2 * reach }, (_, j) => {
    const i = j - reach;
    if (i < 0) return 2 * at(0) - at(-i);
    return i < n ? at(i) : 2 * at(n - 1) - at(2 * n - 2 - i);
  });
  for (let pass = 0; pass < 2; pass++) {
    for (const section of sections) run(y, section);
    y.reverse();
  }
  return y.slice(reach, reach + n);
}

/** Filters one section in place, starting as if the first value had always been there. */
function run(x: Float64Array, [b0, b1, b2, a1, a2]: Section): void {
  const first = x[0] ?? 0;
  const rest = ((b0 + b1 + b2) / (1 + a1 + a2)) * first;
  let s2 = b2 * first - a2 * rest;
  let s1 = b1 * first - a1 * rest + s2;
  for (let i = 0; i < x.length; i++) {
    const v = x[i] ?? 0;
    const y = b0 * v + s1;
    s1 = b1 * v - a1 * y + s2;
    s2 = b2 * v - a2 * y;
    x[i] = y;
  }
}

/** Multiplies a signal's spectrum by a real function of the frequency (as a share of the sampling rate). */
export function shaped(x: Float64Array, factor: (frequency: number) => number): Float64Array {
  const length = 2 ** Math.ceil(Math.log2(x.length));
  const re = new Float64Array(length);
  const im = new Float64Array(length);
  re.set(x);
  fft(re, im);
  for (let k = 0; k < length; k++) {
    const weight = factor(Math.min(k, length - k) / length);
    // The inverse transform is the conjugate of the forward transform of the conjugate.
    re[k] = (re[k] ?? 0) * weight;
    im[k] = -(im[k] ?? 0) * weight;
  }
  fft(re, im);
  return re.slice(0, x.length).map((v) => v / length);
}
