import { MOTION_WEIGHTS } from '../../assembly/pulse/motion_weights.js';
import { sum } from './beats.js';
import { powers } from './powers.js';

/** The likelihood of a rate in motion, as assembly/pulse/motion.ts, in plain double precision. */

const CANDIDATES = Array.from({ length: 52 }, (_, i) => 8 + i);
/** Bins over which powers are scaled to a mean of one. */
const SCALED = [12, 80] as const;
const TRAITS = 15;

export interface MotionLikelihood {
  /** Likelihood of a rate in bpm, between candidates by a straight line. */
  at(bpm: number): number;
  /** Share of the candidates' likelihood within two bins of a rate. */
  shareNear(bpm: number): number;
}

/**
 * @param opticals optical channels without their trends, likewise the axes
 * @param residuals power spectra of the optical channels without what the axes explain
 * @param fullness share of the window that the fullest optical channel has values for
 */
export function motionLikelihood(
  opticals: readonly number[][],
  axes: readonly number[][],
  residuals: readonly number[][],
  motion: number,
  fullness: number,
): MotionLikelihood {
  const shaken = axes.map(powers).reduce((all, p) => all.map((v, k) => v + (p[k] ?? 0)));
  const levels = {
    optical: levelsOf(opticals.map(powers)),
    axes: shaken.map((v) => Math.log((motion * v) / meanIn(shaken) + 0.05)),
    residual: levelsOf(residuals),
  };
  const odds = CANDIDATES.map((k) => weighed(traitsOf(levels, k)));
  const most = Math.max(...odds);
  const scores = odds.map((v) => Math.exp(Math.max(-40, 0.4 * fullness ** 8 * (v - most))));
  return {
    at: (bpm) => between(scores, bpm / 3.75 - 8),
    shareNear: (bpm) => sum(scores.filter((_, i) => Math.abs(i - (bpm / 3.75 - 8)) < 2)) / (sum(scores) + 1e-6),
  };
}

const inScale = (p: readonly number[]) => p.slice(...SCALED);
const meanIn = (p: readonly number[]) => sum(inScale(p)) / inScale(p).length;

/** Mean of the logarithms of spectra that are scaled to a mean of one; those of flat signals are left out. */
function levelsOf(all: readonly number[][]): number[] {
  const spectra = all.map((p) => p.map((v) => v / meanIn(p))).filter((p) => p.every(Number.isFinite));
  return (spectra[0] ?? []).map((_, k) => sum(spectra.map((p) => Math.log((p[k] ?? 0) + 0.02))) / spectra.length);
}

interface Levels {
  readonly optical: readonly number[];
  readonly axes: readonly number[];
  readonly residual: readonly number[];
}

function traitsOf({ optical, axes, residual }: Levels, k: number): number[] {
  const above = (levels: readonly number[]) =>
    levelAt(levels, k) - (levelAt(levels, k - 4) + levelAt(levels, k + 4)) / 2;
  return [
    ...[0.5, 1, 1.5, 2, 3].map((times) => levelAt(optical, times * k)),
    ...[0.5, 1, 1.5, 2].map((times) => levelAt(axes, times * k)),
    levelAt(residual, k),
    above(optical),
    Math.log((k * 3.75) / 100),
    ...[0.5, 2].map((times) => levelAt(residual, times * k)),
    above(residual),
  ];
}

/** A level at a bin or between two; -1.5 from the last bin on. */
function levelAt(levels: readonly number[], place: number): number {
  const known = (k: number) => (k < 96 ? (levels[k] ?? 0) : -1.5);
  return (known(Math.floor(place)) + known(Math.ceil(place))) / 2;
}

function between(x: readonly number[], place: number): number {
  const i = Math.floor(place);
  return (x[i] ?? 0) * (1 - place + i) + (x[i + 1] ?? 0) * (place - i);
}

/** The network: log likelihood, without a constant. */
function weighed(traits: readonly number[]): number {
  const rows = Array.from({ length: MOTION_WEIGHTS.length / (TRAITS + 2) }, (_, h) =>
    MOTION_WEIGHTS.slice(h * (TRAITS + 2), (h + 1) * (TRAITS + 2)),
  );
  return sum(
    rows.map((row) => {
      const x = sum(traits.map((trait, t) => trait * (row[t] ?? 0))) + (row[TRAITS] ?? 0);
      return (row[TRAITS + 1] ?? 0) * Math.max(x, 0.1 * x);
    }),
  );
}
