/**
 * Levels of one feature, f32 each: at beats, and the largest between beats (cf. the signal and noise levels of
 * Pan & Tompkins 1985). Here they do not make a threshold but say how much the feature tells: `separation`.
 */
const BEAT: usize = 0;
const NOISE: usize = 4;

/** Both levels follow within about 8 beats, as in Hamilton & Tompkins 1986; noise rises faster, as it comes suddenly. */
export const FOLLOW: f32 = 0.125;
const RISE: f32 = 0.4;
/** Noise is never thought closer to the beats: a feature that says nothing now must be able to say so later. */
const CLOSEST: f32 = 0.55;
/** Noise below 5 % of the beats says no more. */
const FARTHEST: f32 = 0.05;

export function beginLevel(level: usize, beat: f32, noise: f32): void {
  store<f32>(level, beat, BEAT);
  store<f32>(level, min(noise, CLOSEST * beat), NOISE);
}

/** Learns from a beat and the largest value since the beat before (negative where unknown); no beat counts over twice. */
export function learnLevel(level: usize, beat: f32, noise: f32, rise: f32 = RISE): void {
  const mean = load<f32>(level, BEAT);
  const next = mean + FOLLOW * (min(beat, 2 * mean) - mean);
  const floor = load<f32>(level, NOISE);
  const rate = noise > floor ? rise : FOLLOW;
  store<f32>(level, next, BEAT);
  store<f32>(level, min(noise >= 0 ? floor + rate * (noise - floor) : floor, CLOSEST * next), NOISE);
}

export function beatLevel(level: usize): f32 {
  return load<f32>(level, BEAT);
}

export function noiseLevel(level: usize): f32 {
  return load<f32>(level, NOISE);
}

/** Ratio of the two levels, 1 to 20. */
export function separation(level: usize): f32 {
  const beat = load<f32>(level, BEAT);
  return beat > 0 ? beat / max(load<f32>(level, NOISE), FARTHEST * beat) : 1;
}

/** How much the feature counts beside others. */
export function weightOf(level: usize): f32 {
  const q = separation(level) - 1;
  return q * q;
}
