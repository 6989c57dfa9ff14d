import type { Rhythm } from './rhythm.js';

/** One wave of the electrocardiogram: height in mV, place and width (standard deviation) in seconds from the R peak. */
interface Wave {
  readonly mV: number;
  readonly at: number;
  readonly width: number;
  /** Whether position and width follow the beat interval; the QRS complex does not. */
  readonly stretches: boolean;
}

/**
 * P, Q, R, S, T as Gaussians (McSharry et al. 2003, "A dynamical model for generating synthetic electrocardiogram signals"),
 * P and T moving with the square root of the beat interval (Bazett).
 */
const WAVES: readonly Wave[] = [
  { mV: 0.15, at: -0.17, width: 0.022, stretches: true },
  { mV: -0.12, at: -0.032, width: 0.009, stretches: false },
  { mV: 1.1, at: 0, width: 0.011, stretches: false },
  { mV: -0.25, at: 0.034, width: 0.011, stretches: false },
  { mV: 0.3, at: 0.28, width: 0.045, stretches: true },
];
/** Depth of the breath's modulation of the R peaks, and the breath's own wave on the electrodes, mV. */
const BREATH_DEPTH = 0.12;
const BREATH_MV = 0.06;

/** The lead's voltage at `t` seconds, mV. */
export function ecgWave(rhythm: Rhythm, t: number): number {
  const beat = Math.round(rhythm.beatPhase(t));
  let sum = 0;
  for (let n = beat - 1; n <= beat + 1; n++)
    sum += complex(rhythm.beatTime(n) - t, rhythm.beatTime(n) - rhythm.beatTime(n - 1));
  const breath = rhythm.breath(t);
  return sum * (1 + BREATH_DEPTH * breath) + BREATH_MV * breath;
}

/** One beat's complex, seen `ahead` seconds before its R peak, after a beat interval of `interval` seconds. */
function complex(ahead: number, interval: number): number {
  const stretch = Math.sqrt(interval);
  let sum = 0;
  for (const { mV, at, width, stretches } of WAVES) {
    const scale = stretches ? stretch : 1;
    sum += mV * Math.exp(-(((ahead + at * scale) / (width * scale)) ** 2) / 2);
  }
  return sum;
}
