import { logistic } from '../math/logistic';
import { BeatRing } from '../memory/beats_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { gather } from './intervals';
import { insert, quantile } from './order';
import { RHYTHM_WEIGHTS } from './rhythm_weights';
import { INTERVALS, Intervals, ORDERED } from './scratch';

/**
 * Probability in % that the 60 s before `end` (seconds) are irregular as in atrial fibrillation: writes it as the value, and the confidence; false for none.
 *
 * @param rest how surely the wearer is at rest, from 0 to 1
 */
export function estimateRhythm(ring: BeatRing, rest: f64, end: f64, to: Estimate): bool {
  if (!gather(ring, end, INTERVALS)) return false;
  const features = featuresOf(Model.RHYTHM);
  features[0] = change(INTERVALS, 1, 0.25);
  features[1] = Mathf.min(change(INTERVALS, 1, 0.5), Mathf.min(change(INTERVALS, 2, 0.5), change(INTERVALS, 3, 0.5)));
  to.value = 100 * <f64>logistic(features, RHYTHM_WEIGHTS);
  to.confidence = rest * <f64>INTERVALS.quality;
  return true;
}

/** Quantile of the changes over `lag` intervals, in parts of the mean interval, as logarithm. */
function change(intervals: Intervals, lag: i32, share: f32): f32 {
  let held = 0;
  let run = 0;
  for (let i = 0; i < intervals.count; i++) {
    run = intervals.begins[i] ? 0 : run + 1;
    if (run >= lag) held = insert(ORDERED, held, abs(intervals.seconds[i] - intervals.seconds[i - lag]));
  }
  if (!held) return 0;
  const mean = intervals.duration / <f32>intervals.count;
  return Mathf.log(Mathf.max(1e-4, quantile(ORDERED, held, share) / mean));
}
