import { logistic } from '../math/logistic';
import { BeatRing } from '../memory/beats_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { correct } from './artefacts';
import { HRV_ECG_WEIGHTS } from './hrv_ecg_weights';
import { HRV_PPG_WEIGHTS } from './hrv_ppg_weights';
import { Beats, FOUND, INTERVALS } from './scratch';
import { gather, intervalsOf } from './window';

/** Milliseconds of a second. */
const MS: f64 = 1000;
/** Difference that pNN50 counts, s. */
const FIFTY: f32 = 0.05;

/**
 * Variability of the heart rate over the 60 s before `end` (seconds), after the correction of artefacts: writes RMSSD as the value, SDNN, both in ms, pNN50
 * in % (Task Force of ESC and NASPE, Circulation 93(5):1043, 1996) and the confidence; false for none.
 *
 * @param rest how surely the wearer is at rest, from 0 to 1
 */
export function estimateHrv(ring: BeatRing, isEcg: bool, rest: f64, end: f64, to: Estimate): bool {
  if (!gather(ring, end, FOUND)) return false;
  const count = FOUND.count;
  const quality = FOUND.quality;
  const covered = FOUND.covered;
  const artefacts = correct(FOUND);
  if (!describe(FOUND, to)) return false;
  const features = featuresOf(isEcg ? Model.HRV_ECG : Model.HRV_PPG);
  features[0] = Mathf.sqrt(<f32>artefacts / <f32>count);
  features[1] = quality;
  features[2] = <f32>Math.log(Math.max(1, to.value));
  features[3] = covered;
  to.confidence = rest * <f64>logistic(features, isEcg ? HRV_ECG_WEIGHTS : HRV_PPG_WEIGHTS);
  return true;
}

/** Writes RMSSD, SDNN and pNN50; false without two differences. */
function describe(beats: Beats, to: Estimate): bool {
  const mean = <f64>intervalsOf(beats, INTERVALS);
  let squares: f64 = 0;
  let changes: f64 = 0;
  let large: f64 = 0;
  let intervals: f64 = 0;
  let differences: f64 = 0;
  for (let i = 0; i < beats.count; i++) {
    if (beats.begins[i]) continue;
    const apart = <f64>INTERVALS[i] - mean;
    squares += apart * apart;
    intervals++;
    if (beats.begins[i - 1]) continue;
    const change = INTERVALS[i] - INTERVALS[i - 1];
    changes += <f64>change * <f64>change;
    large += <f64>(abs(change) > FIFTY);
    differences++;
  }
  if (differences < 2) return false;
  to.value = MS * Math.sqrt(changes / differences);
  to.sdnn = MS * Math.sqrt(squares / (intervals - 1));
  to.pnn50 = (100 * large) / differences;
  return true;
}
