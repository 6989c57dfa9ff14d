import { logistic } from '../math/logistic';
import { insert, quantile } from '../math/order';
import { BeatRing } from '../memory/beats_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { RHYTHM_WEIGHTS } from './rhythm_weights';
import { Beats, FOUND, INTERVALS, ORDERED } from './scratch';
import { RHYTHM } from './tuning';
import { gather, intervalsOf } from './window';

/** Newest intervals that are compared with each other: 60 s at 128 bpm. */
const MOST_COMPARED: i32 = 128;
/** Longest cycle of beats that repeats, as in quadrigeminy. */
const LONGEST_CYCLE: i32 = 4;

/**
 * Probability in % that the 60 s whose beats are final at a step's end (`now`, seconds) are irregular as in atrial fibrillation: writes it as the value, and the confidence; false for none.
 * In fibrillation intervals are as irregular over any number of beats; single early beats leave a part of the changes small, and those that repeat,
 * as in bigeminy or a second-degree block, the changes over a cycle.
 */
export function estimateRhythm(ring: BeatRing, now: f64, to: Estimate): bool {
  if (!gather(ring, now, FOUND)) return false;
  const mean = intervalsOf(FOUND, INTERVALS);
  const features = featuresOf(Model.RHYTHM);
  features[0] = change(FOUND, mean, 1, 0.25);
  features[1] = Infinity;
  for (let lag = 1; lag <= LONGEST_CYCLE; lag++) features[1] = min(features[1], change(FOUND, mean, lag, 0.5));
  features[2] = sampleEntropy(FOUND, mean);
  features[3] = turningPoints(FOUND);
  features[4] = correlation(FOUND, mean);
  to.value = 100 * <f64>logistic(features, RHYTHM_WEIGHTS);
  to.confidence = rightEnough(FOUND);
  return true;
}

/** Quantile of the changes over `lag` intervals, in parts of their mean, as logarithm. */
function change(beats: Beats, mean: f32, lag: i32, share: f32): f32 {
  let held = 0;
  let run = 0;
  for (let i = 0; i < beats.count; i++) {
    run = beats.begins[i] ? 0 : run + 1;
    if (run > lag) held = insert(ORDERED, held, abs(INTERVALS[i] - INTERVALS[i - lag]));
  }
  return held ? Mathf.log(max<f32>(RHYTHM.RESOLVED, quantile(ORDERED, held, share) / mean)) : 0;
}

/**
 * Coefficient of sample entropy (D. E. Lake and J. R. Moorman, Am. J. Physiol. Heart Circ. Physiol. 300(1):H319, 2011): of pairs of intervals that are alike
 * within r, how few are followed by a pair that is, too; the tolerance r is doubled until enough are.
 */
function sampleEntropy(beats: Beats, mean: f32): f32 {
  const first = max(1, beats.count - MOST_COMPARED);
  let tolerance = RHYTHM.TOLERANCE;
  let alike: f32 = 0;
  let followed: f32 = 0;
  for (let n = 0; n < RHYTHM.DOUBLINGS && followed < RHYTHM.ENOUGH; n++, tolerance *= 2) {
    alike = 0;
    followed = 0;
    for (let i = first; i + 1 < beats.count; i++) {
      for (let k = i + 1; k + 1 < beats.count; k++) {
        if (abs(INTERVALS[i] - INTERVALS[k]) > tolerance) continue;
        alike++;
        followed += <f32>(abs(INTERVALS[i + 1] - INTERVALS[k + 1]) <= tolerance);
      }
    }
  }
  // The tolerance is twice the last one by now
  return Mathf.log(max<f32>(1, alike) / max<f32>(1, followed)) + Mathf.log(tolerance / mean);
}

/** Share of the intervals that are longer, or shorter, than both beside them: two thirds at random (S. Dash et al., Ann. Biomed. Eng. 37(9):1701, 2009). */
function turningPoints(beats: Beats): f32 {
  let turns: f32 = 0;
  let count: f32 = 0;
  for (let i = 2; i + 1 < beats.count; i++) {
    if (beats.begins[i - 1] || beats.begins[i] || beats.begins[i + 1]) continue;
    count++;
    turns += <f32>((INTERVALS[i] - INTERVALS[i - 1]) * (INTERVALS[i] - INTERVALS[i + 1]) > 0);
  }
  return count > 0 ? turns / count : 0;
}

/** Correlation of an interval with the next: below 0 where long ones follow early beats, above it where a breath modulates them, about 0 at random. */
function correlation(beats: Beats, mean: f32): f32 {
  let products: f32 = 0;
  let squares: f32 = 1e-9;
  for (let i = 1; i + 1 < beats.count; i++) {
    if (beats.begins[i] || beats.begins[i + 1]) continue;
    const own = INTERVALS[i] - mean;
    const next = INTERVALS[i + 1] - mean;
    products += own * next;
    squares += (own * own + next * next) / 2;
  }
  return products / squares;
}

/**
 * Probability that fewer than one in twelve of the beats are wrong, each with the mean quality: one changes three differences of intervals, of which a
 * quarter decides (a binomial as normal, that as logistic, within 0.01).
 */
function rightEnough(beats: Beats): f64 {
  const wrong = 1 - <f64>beats.quality;
  const spread = Math.sqrt((wrong * (1 - wrong)) / <f64>beats.count);
  return 1 / (1 + Math.exp((-1.702 * (1.0 / 12 - wrong)) / Math.max(1e-6, spread)));
}
