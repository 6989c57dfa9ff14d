/** A biquad, normalized to a0 = 1. */
export interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

/** The difference equation. */
export function biquad(x: readonly number[], { b, a }: Biquad): number[] {
  const y: number[] = [];
  x.forEach((v, i) => {
    const input = b[0] * v + b[1] * (x[i - 1] ?? 0) + b[2] * (x[i - 2] ?? 0);
    y.push(input - a[0] * (y[i - 1] ?? 0) - a[1] * (y[i - 2] ?? 0));
  });
  return y;
}

/** Butterworth band-pass of second order (Bristow-Johnson's cookbook, constant peak gain). */
export function bandPass(hz: number, centre: number, q: number): Biquad {
  const w = (2 * Math.PI * centre) / hz;
  const alpha = Math.sin(w) / (2 * q);
  const a0 = 1 + alpha;
  return { b: [alpha / a0, 0, -alpha / a0], a: [(-2 * Math.cos(w)) / a0, (1 - alpha) / a0] };
}
