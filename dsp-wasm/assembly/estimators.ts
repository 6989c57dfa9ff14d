import { estimateHrEcg } from './hr_ecg';
import { estimateHrPpg } from './hr_ppg';
import { CH_KIND, HR_ECG, HR_PPG, KIND_ECG, RR_ECG, RR_PPG, SLOT_CHANNEL_COUNT, SPO2 } from './layout';
import { advancePeaks } from './rpeaks';
import { estimateRrEcg } from './rr_ecg';
import { estimateRrPpg } from './rr_ppg';
import { estimateRrResp } from './rr_resp';
import { channelOf } from './session';
import { estimateSpo2 } from './spo2';

/** Brings the session's streaming detectors up to `end` (seconds), using no sample after it. */
export function advance(slot: usize, end: f64): void {
  const channels = load<i32>(slot + SLOT_CHANNEL_COUNT);
  for (let c = 0; c < channels; c++) {
    const channel = channelOf(slot, c);
    if (load<i32>(channel + CH_KIND) == KIND_ECG) advancePeaks(slot, channel, end);
  }
}

/** Runs one estimator; 1 when it wrote OUT_VALUE and OUT_CONFIDENCE, else 0. */
export function estimate(slot: usize, estimator: i32, end: f64): i32 {
  if (estimator == HR_PPG) return estimateHrPpg(slot, end);
  if (estimator == HR_ECG) return estimateHrEcg(slot, end);
  if (estimator == SPO2) return estimateSpo2(slot, end);
  if (estimator == RR_PPG) return estimateRrPpg(slot, end);
  if (estimator == RR_ECG) return estimateRrEcg(slot, end);
  return estimateRrResp(slot, end);
}
