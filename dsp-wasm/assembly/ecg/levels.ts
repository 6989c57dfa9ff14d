import { Level } from '../memory/ecg_state';
import { LEVEL } from './tuning';

/**
 * Levels of one feature: at beats, and the largest between beats (cf. the signal and noise levels of Pan & Tompkins 1985).
 * They are not used for a threshold, but for the weight of the feature: `separation`.
 */

export function beginLevel(level: Level, beat: f32, noise: f32): void {
  level.beat = beat;
  level.noise = min(noise, LEVEL.CLOSEST * beat);
}

/**
 * Learns from a beat and the largest value since the previous beat (negative if unknown); no beat counts for more than LARGEST.
 * @param rise share of a larger noise
 */
export function learnLevel(level: Level, beat: f32, noise: f32, rise: f32): void {
  const next = level.beat + LEVEL.FOLLOW * (min(beat, LEVEL.LARGEST * level.beat) - level.beat);
  const floor = level.noise;
  const rate = noise > floor ? rise : LEVEL.FOLLOW;
  level.beat = next;
  level.noise = min(noise >= 0 ? floor + rate * (noise - floor) : floor, LEVEL.CLOSEST * next);
}

/** Ratio of the two levels, 1 to 20. */
export function separation(level: Level): f32 {
  return level.beat > 0 ? level.beat / max(level.noise, LEVEL.FARTHEST * level.beat) : 1;
}

/** Weight of the feature among the others: by its square the match alone would decide, and a new kind of beat be missed. */
export function weightOf(level: Level): f32 {
  const q = separation(level) - 1;
  return q * sqrt<f32>(q);
}
