import { estimateRrEcg } from './breath/from_ecg';
import { estimateRrResp } from './breath/from_effort';
import { estimateRrPpg } from './breath/from_ppg';
import { RR_WINDOW } from './breath/scratch';
import { estimateHrEcg, likeHeartbeats } from './ecg/heart_rate';
import { advancePeaks } from './ecg/r_peaks';
import { TRUSTED } from './grid/tuning';
import { KIND_ECG } from './memory/channel';
import { Estimate } from './memory/map';
import { Session } from './memory/session';
import { estimateHrPpg } from './pulse/heart_rate';
import { noteHeartRate, trustedShare } from './pulse/history';
import { estimateSpo2 } from './spo2/ratio';

// Estimators, with the numbers that the host uses.
export const HR_PPG: i32 = 0;
export const HR_ECG: i32 = 1;
export const SPO2: i32 = 2;
const RR_PPG: i32 = 3;
export const RR_ECG: i32 = 4;
export const RR_RESP: i32 = 5;

/** Advances the session's streaming detectors to `end` (seconds), using no sample after it. */
export function advance(session: Session, end: f64): void {
  for (let c = 0; c < session.channelCount; c++) {
    const channel = session.channelAt(c);
    if (channel.kind === KIND_ECG) advancePeaks(session, channel, end);
  }
}

/** Runs one estimator on the window that ends at `end`; returns whether it wrote value and confidence to `to`. */
export function estimate(session: Session, estimator: i32, end: f64, to: Estimate): bool {
  if (estimator === HR_PPG) return noted(session, end, estimateHrPpg(session, end, to), to);
  if (estimator === HR_ECG) return estimateHrEcg(session, end, to);
  if (estimator === SPO2) return estimateSpo2(session, end, to);
  if (estimator === RR_RESP) return estimateRrResp(session, end, to);
  const isLight = estimator === RR_PPG;
  const heartbeats = isLight ? pulseShare(session, end) : likeHeartbeats(session, end - RR_WINDOW);
  const given = isLight ? estimateRrPpg(session, end, to) : estimateRrEcg(session, end, heartbeats, to);
  // A breath read from beats is no more likely than the beats
  if (given) to.confidence = Math.min(to.confidence, heartbeats);
  return given;
}

/** Notes whether a heart rate is `given` and trusted; returns `given`. */
function noted(session: Session, end: f64, given: bool, to: Estimate): bool {
  noteHeartRate(session.pulse, <i32>end, given && to.confidence >= TRUSTED);
  return given;
}

/** How much of the window's light is a pulse's: it may be that of a lamp. */
function pulseShare(session: Session, end: f64): f64 {
  return trustedShare(session.pulse, <i32>end, <i32>RR_WINDOW);
}
