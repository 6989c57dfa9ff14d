import { logistic } from '../math/logistic';
import { BeatRing } from '../memory/beats_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { insert, quantile } from './order';
import { RHYTHM_WEIGHTS } from './rhythm_weights';
import { Beats, FOUND, INTERVALS, ORDERED } from './scratch';
import { gather, intervalsOf } from './window';

/**
 * Probability in % that the 60 s before `end` (seconds) are irregular as in atrial fibrillation: writes it as the value, and the confidence; false for none.
 *
 * @param rest how surely the wearer is at rest, from 0 to 1
 */
export function estimateRhythm(ring: BeatRing, rest: f64, end: f64, to: Estimate): bool {
  if (!gather(ring, end, FOUND)) return false;
  const features = featuresOf(Model.RHYTHM);
  const mean = intervalsOf(FOUND, INTERVALS);
  features[0] = change(FOUND, mean, 1, 0.25);
  features[1] = Mathf.min(change(FOUND, mean, 1, 0.5), Mathf.min(change(FOUND, mean, 2, 0.5), change(FOUND, mean, 3, 0.5)));
  to.value = 100 * <f64>logistic(features, RHYTHM_WEIGHTS);
  to.confidence = rest * <f64>FOUND.quality;
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
  return held ? Mathf.log(max<f32>(1e-4, quantile(ORDERED, held, share) / mean)) : 0;
}
