import { Level } from '../memory/ecg_state';
import { CLOSEST_NOISE, FARTHEST_NOISE, LARGEST_BEAT, LEVEL_FOLLOW, NOISE_RISE } from './tuning';

/**
 * Levels of one feature: at beats, and the largest between beats (cf. the signal and noise levels of Pan & Tompkins 1985).
 * They are not used for a threshold, but for the weight of the feature: `separation`.
 */

export function beginLevel(level: Level, beat: f32, noise: f32): void {
  level.beat = beat;
  level.noise = min(noise, CLOSEST_NOISE * beat);
}

/** Learns from a beat and the largest value since the previous beat (negative if unknown); no beat counts for more than LARGEST_BEAT. */
export function learnLevel(level: Level, beat: f32, noise: f32, rise: f32 = NOISE_RISE): void {
  const next = level.beat + LEVEL_FOLLOW * (min(beat, LARGEST_BEAT * level.beat) - level.beat);
  const floor = level.noise;
  const rate = noise > floor ? rise : LEVEL_FOLLOW;
  level.beat = next;
  level.noise = min(noise >= 0 ? floor + rate * (noise - floor) : floor, CLOSEST_NOISE * next);
}

/** Ratio of the two levels, 1 to 20. */
export function separation(level: Level): f32 {
  return level.beat > 0 ? level.beat / max(level.noise, FARTHEST_NOISE * level.beat) : 1;
}

/** Weight of the feature among the others: by its square the match alone would decide, and a new kind of beat be missed. */
export function weightOf(level: Level): f32 {
  const q = separation(level) - 1;
  return q * sqrt<f32>(q);
}
