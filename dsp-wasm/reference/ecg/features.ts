/**
 * Features that show how much a lead looks like a QRS complex, in plain double precision: the twin of assembly/ecg/features.ts,
 * which explains the method. All filters have linear phase, so peaks are not delayed.
 */

/** Half widths, in grid samples of 1/128 s: the two wavelets, the averaging of energies, the template. */
const SHARPEN_HALF = 5;
const BROADEN_HALF = 12;
const BOX_HALF = 5;
export const TEMPLATE_HALF = 13;
/** A feature at grid sample c needs the grid samples from c - REACH to c + REACH. */
export const REACH = SHARPEN_HALF + TEMPLATE_HALF;

const CELL_HZ = 128;
const SHARPEN_HZ = 22;
const BROADEN_HZ = 8;

/** Negative second derivative of a Gaussian with its peak response at `hz`; sum 0, norm 1. */
function waveletKernel(hz: number, half: number): number[] {
  const sigma = (Math.SQRT2 / (2 * Math.PI * hz)) * CELL_HZ;
  const u = Array.from({ length: 2 * half + 1 }, (_, i) => (i - half) / sigma);
  const wave = u.map((v) => (1 - v * v) * Math.exp((-v * v) / 2));
  const mean = sum(wave) / wave.length;
  return unit(wave.map((v) => v - mean));
}

const SHARPEN = waveletKernel(SHARPEN_HZ, SHARPEN_HALF);
const BROADEN = waveletKernel(BROADEN_HZ, BROADEN_HALF);

/** Value at a grid sample of a lead; NaN outside. */
export type Lead = (sample: number) => number;

export function sharpened(x: Lead, sample: number): number {
  return sum(SHARPEN.map((k, i) => k * x(sample + i - SHARPEN_HALF)));
}

export function broadened(x: Lead, sample: number): number {
  return sum(BROADEN.map((k, i) => k * x(sample + i - BROADEN_HALF)));
}

/** Mean of |y| around the grid sample: energy of a QRS of any shape. */
export function energy(y: Lead, sample: number): number {
  return sum(around(sample, BOX_HALF).map((c) => Math.abs(y(c)))) / (2 * BOX_HALF + 1);
}

/** Projection on the template, and its share of the norm of the signal there. */
export function project(y: Lead, template: readonly number[], sample: number): { projection: number; share: number } {
  const shape = around(sample, TEMPLATE_HALF).map(y);
  const projection = sum(shape.map((v, i) => v * (template[i] ?? 0)));
  return { projection, share: projection / (Math.sqrt(sum(shape.map((v) => v * v))) + 1e-12) };
}

/** Match with the template: the projection, weighted by its share of the norm; 0 for the opposite shape. */
export function match(y: Lead, template: readonly number[], sample: number): number {
  const { projection, share } = project(y, template, sample);
  return projection > 0 ? projection * share * share : Number.isNaN(projection) ? Number.NaN : 0;
}

export function around(sample: number, half: number): number[] {
  return Array.from({ length: 2 * half + 1 }, (_, i) => sample - half + i);
}

function sum(x: readonly number[]): number {
  return x.reduce((a, b) => a + b, 0);
}

export function unit(x: readonly number[]): number[] {
  const norm = Math.sqrt(sum(x.map((v) => v * v)));
  return norm > 0 ? x.map((v) => v / norm) : [...x];
}

/** Running levels of one feature: at beats, and the largest between them. */
export class Level {
  beat = 0;
  noise = 0;

  constructor(private readonly rise = 0.4) {}

  /** Ratio of the two levels, at most 20 (lower levels of noise make no difference). */
  get ratio(): number {
    return this.beat > 0 ? this.beat / Math.max(this.noise, 0.05 * this.beat) : 1;
  }

  get weight(): number {
    return (this.ratio - 1) ** 1.5;
  }

  /** 0 at the level of noise, 1 at that of beats; limited, so that an artefact counts no more than a clear beat. */
  position(v: number): number {
    return Math.min(1.6, Math.max(-0.5, (v - this.noise) / (this.beat - this.noise)));
  }

  learn(beat: number, noise: number): void {
    this.beat += (Math.min(beat, 2 * this.beat) - this.beat) / 8;
    if (noise >= 0) this.noise += (noise > this.noise ? this.rise : 1 / 8) * (noise - this.noise);
    this.noise = Math.min(this.noise, 0.55 * this.beat);
  }

  begin(beat: number, noise: number): void {
    this.beat = beat;
    this.noise = Math.min(noise, 0.55 * beat);
  }
}
