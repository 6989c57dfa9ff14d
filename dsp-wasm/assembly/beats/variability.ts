import { logistic, shown } from '../math/logistic';
import { insert, quantile } from '../math/order';
import { BeatsState } from '../memory/beats_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { correct } from './artefacts';
import { HRV_ECG_SURE, HRV_ECG_WEIGHTS } from './hrv_ecg_weights';
import { HRV_PPG_SURE, HRV_PPG_WEIGHTS } from './hrv_ppg_weights';
import { Beats, FIXED, FOUND, INTERVALS, ORDERED } from './scratch';
import { ARTEFACT, VARIABILITY, WINDOW } from './tuning';
import { gather, intervalsOf } from './window';

/** Milliseconds of a second. */
const MS: f64 = 1000;
/** Difference that pNN50 counts, s. */
const FIFTY: f32 = 0.05;

/**
 * Variability of the heart rate over the 60 s whose beats are final at a step's end (`now`, seconds), after the correction of artefacts: writes RMSSD as the value, SDNN, both in ms, pNN50
 * in % (Task Force of ESC and NASPE, Circulation 93(5):1043, 1996) and the confidence; false for none.
 * It is 0 where the changes are those of no sinus rhythm, of which alone the variability tells, and where light has a pause.
 */
export function estimateHrv(state: BeatsState, isEcg: bool, now: f64, to: Estimate): bool {
  if (!gather(isEcg ? state.ecg : state.light, now, FOUND)) return false;
  if (!describe(FOUND, to)) return false;
  const before = to.value;
  correctBy(ARTEFACT.ALPHA * (1 + VARIABILITY.OTHER), to);
  const lax = to.value;
  correctBy(ARTEFACT.ALPHA / (1 + VARIABILITY.OTHER), to);
  const strict = to.value;
  const artefacts = correctBy(ARTEFACT.ALPHA, to);
  to.confidence = 0;
  if (to.value > MS * VARIABILITY.SINUS * <f64>intervalsOf(FIXED, INTERVALS)) return true;
  // The heart may have paused, which is a change, or the light lost its pulse, which is none
  if (!isEcg && state.paused > Math.max(0, now - WINDOW.LAG - WINDOW.SECONDS)) return true;
  const features = featuresOf(isEcg ? Model.HRV_ECG : Model.HRV_PPG);
  features[0] = Mathf.sqrt(<f32>artefacts / <f32>FOUND.count);
  features[1] = Mathf.log(<f32>1 - FOUND.quality + VARIABILITY.LEAST_DOUBT);
  features[2] = <f32>Math.log(Math.max(1, to.value));
  features[3] = FOUND.covered;
  features[4] = <f32>Math.log(Math.max(1, before) / Math.max(1, to.value));
  features[5] = <f32>Math.log(Math.max(1, to.value) / Math.max(1, usualChange(FIXED)));
  features[6] = <f32>Math.log(1 + Math.max(Math.abs(lax - to.value), Math.abs(strict - to.value)));
  if (!isEcg) features[7] = Mathf.log(state.train.sharpness * state.rise + VARIABILITY.LEAST_JITTER);
  const probability = logistic(features, isEcg ? HRV_ECG_WEIGHTS : HRV_PPG_WEIGHTS);
  to.confidence = <f64>shown(probability, isEcg ? HRV_ECG_SURE : HRV_PPG_SURE);
  return true;
}

/** Describes the found beats after their correction with these thresholds; returns the number of artefacts. */
function correctBy(alpha: f32, to: Estimate): i32 {
  FIXED.take(FOUND);
  const artefacts = correct(FIXED, alpha);
  describe(FIXED, to);
  return artefacts;
}

/** RMSSD as the median change tells it, ms: that of normal changes is 1.48 times their median. */
function usualChange(beats: Beats): f64 {
  let held = 0;
  for (let i = 1; i < beats.count; i++) {
    if (!beats.begins[i] && !beats.begins[i - 1]) held = insert(ORDERED, held, abs(INTERVALS[i] - INTERVALS[i - 1]));
  }
  return MS * 1.4826 * <f64>quantile(ORDERED, held, 0.5);
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
