import { estimateRhythm } from './beats/fibrillation';
import { collectPeaks } from './beats/from_ecg';
import { collectPulses } from './beats/from_light';
import { BEAT, WINDOW } from './beats/tuning';
import { estimateHrv } from './beats/variability';
import { estimateRrEcg } from './breath/from_ecg';
import { estimateRrResp } from './breath/from_effort';
import { channelAfter, estimateRrPpg } from './breath/from_ppg';
import { advancePulses } from './breath/ppg_pulses';
import { RR_WINDOW } from './breath/scratch';
import { areOfMains, estimateHrEcg, likeHeartbeats } from './ecg/heart_rate';
import { advancePeaks } from './ecg/r_peaks';
import { activityOf } from './grid/activity';
import { TRUSTED } from './grid/tuning';
import { UNTRUSTED } from './math/logistic';
import { BeatRing } from './memory/beats_state';
import { Channel, KIND_ECG } from './memory/channel';
import { Estimate, SCRATCH } from './memory/map';
import { channelOfKind, Session } from './memory/session';
import { estimateHrPpg } from './pulse/heart_rate';
import { isInPulse, noteHeartRate, trustedShare } from './pulse/history';
import { estimateSpo2 } from './spo2/ratio';

// Estimators, with the numbers that the host uses.
export const HR_PPG: i32 = 0;
export const HR_ECG: i32 = 1;
export const SPO2: i32 = 2;
const RR_PPG: i32 = 3;
export const RR_ECG: i32 = 4;
export const RR_RESP: i32 = 5;
export const HRV_ECG: i32 = 6;
const HRV_PPG: i32 = 7;
export const RHYTHM_ECG: i32 = 8;

// Sources of beats, with the numbers that the host uses.
const FROM_ECG: i32 = 0;

/** Advances the session's streaming detectors to `end` (seconds), using no sample after it. */
export function advance(session: Session, end: f64): void {
  for (let c = 0; c < session.channelCount; c++) {
    const channel = session.channels[c];
    if (channel.kind === KIND_ECG) advancePeaks(session, channel, end);
  }
  if (session.beats.collects) collectPeaks(session.beats, session.ecg);
}

/** The beats of a source; of the ECG, none are collected before the first of these calls but those that its lead keeps. */
function beatRing(session: Session, isEcg: bool): BeatRing {
  const state = session.beats;
  if (!isEcg) {
    advanceLight(session);
    const ring = state.light;
    for (let n = ring.oldest; n < ring.count; n++)
      ring.doubt(n, !isInPulse(session.pulse, ring.timeOf(n), session.end));
    return ring;
  }
  if (!state.collects && channelOfKind(session, KIND_ECG)) {
    collectPeaks(state, session.ecg);
    state.collects = true;
  }
  return state.ecg;
}

/** Runs one estimator on the window that ends at `end`; returns whether it wrote value and confidence to `to`. */
export function estimate(session: Session, estimator: i32, end: f64, to: Estimate): bool {
  if (estimator === HR_PPG) {
    const given = estimateHrPpg(session, end, to);
    noteHeartRate(session.pulse, <i32>end, given ? to.confidence : 0);
    return given;
  }
  if (estimator === HR_ECG) return estimateHrEcg(session, end, to);
  if (estimator === SPO2) return estimateSpo2(session, end, to);
  if (estimator === RR_RESP) return estimateRrResp(session, end, to);
  if (estimator >= HRV_ECG) return estimateMinute(session, estimator, end, to);
  const isLight = estimator === RR_PPG;
  const heartbeats = isLight ? pulseShare(session, end) : likeHeartbeats(session, end - RR_WINDOW);
  const given = isLight ? estimateRrPpg(session, end, to) : estimateRrEcg(session, end, heartbeats, to);
  if (given) to.confidence = Math.min(to.confidence, mostOfBeats(session, isLight, heartbeats));
  return given;
}

/** Highest confidence of a breath from beats: mains tell of none. Where noise may have made the beats it is not trusted, but as likely as its model says. */
function mostOfBeats(session: Session, isLight: bool, heartbeats: f64): f64 {
  if (!isLight && areOfMains(session)) return 0;
  return heartbeats < TRUSTED ? UNTRUSTED : 1;
}

/** How much of the window's light is a pulse's: it may be that of a lamp. */
function pulseShare(session: Session, end: f64): f64 {
  return trustedShare(session.pulse, <i32>end, <i32>RR_WINDOW);
}

/** Variability or rhythm of the minute before `end` (s), no more likely than the beats it is read from. */
function estimateMinute(session: Session, estimator: i32, end: f64, to: Estimate): bool {
  const isEcg = estimator === HRV_ECG || estimator === RHYTHM_ECG;
  const ring = beatRing(session, isEcg);
  const isVariability = estimator === HRV_ECG || estimator === HRV_PPG;
  const given = isVariability ? estimateHrv(session.beats, isEcg, end, to) : estimateRhythm(ring, end, to);
  if (!given) return false;
  const heartbeats = isEcg ? likeHeartbeats(session, end - RR_WINDOW) : pulseShare(session, end);
  to.confidence = Math.min(to.confidence, heartbeats) * restOf(session, end);
  return true;
}

/** How much of the minute before `end` (s) shows the wearer at rest, from 0 to 1. */
function restOf(session: Session, end: f64): f64 {
  const state = session.beats;
  const passed = Math.max(0, end - state.movedAt) / WINDOW.SECONDS;
  state.moved = Math.max(1 - activityOf(session, end, SCRATCH).stillness, state.moved - passed);
  state.movedAt = end;
  return 1 - state.moved;
}

/** Finds the beats of the light up to the end of the newest step, in stretches that do not depend on when they are asked for. */
function advanceLight(session: Session): void {
  const state = session.beats;
  const channel = state.train.channel ? state.train.channel : channelAfter(session, null);
  if (!channel) return;
  if (state.searched === 0) state.searched = Math.max(0, Math.floor((session.end - 16) / BEAT.STRETCH) * BEAT.STRETCH);
  for (let end = state.searched + BEAT.STRETCH; end <= session.end && hasReached(channel, end); end += BEAT.STRETCH) {
    advancePulses(state.train, channel, end);
    collectPulses(state);
    state.searched = end;
  }
}

/** Whether the samples of a channel before `end` are there. */
function hasReached(channel: Channel, end: f64): bool {
  return channel.lastTime / channel.rate + 1.5 * channel.period >= end;
}

/** Writes the beats of a source that are kept to `to`, time and quality (f64) of each, and lets none be added before those that are final; returns their number. */
export function beatsOf(session: Session, source: i32, to: usize): i32 {
  const ring = beatRing(session, source === FROM_ECG);
  ring.told = session.end - BEAT.LAG;
  let at = to;
  for (let n = ring.oldest; n < ring.count; n++, at += 16) {
    store<f64>(at, ring.timeOf(n));
    store<f64>(at + 8, ring.qualityOf(n));
  }
  return ring.count - ring.oldest;
}
