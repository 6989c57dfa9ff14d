import { BEAT, WINDOW } from './beats/tuning';
import { takePeaks } from './ecg/r_peaks';
import { advance, beatsOf, estimate } from './estimators';
import { decode } from './grid/decode';
import { pushInstants } from './grid/resample';
import { observe } from './grid/span';
import { clearFeatures } from './memory/features';
import { nextFree } from './memory/heap';
import { countLanes } from './memory/lanes';
import { Estimate, PUSH, PushTimes, RESULT, STAGING } from './memory/map';
import { addChannel, channelOf, makeRings, openSession, Session, SLOT_BYTES } from './memory/session';
import { explain } from './reasons';

/** Time before the end of the newest step in which beats may still change, s. */
export const BEAT_LAG: f64 = BEAT.LAG;
export const WINDOW_LAG: f64 = WINDOW.LAG;
/** Address of the first slot, after the records that all sessions share. */
export const SLOTS: usize = nextFree(64);

export { FEATURES, modelOfAnswer } from './memory/features';
export { filledLanePoints, lanePoints } from './memory/lanes';
export { PUSH, RESULT, STAGING, STAGING_BYTES } from './memory/map';
export { SLOT_BYTES } from './memory/session';

export function sessionAt(index: i32): Session {
  return changetype<Session>(SLOTS + <usize>index * SLOT_BYTES);
}

/** Makes slot `index` an empty session; channels follow with `channel`, then `ready`, before the next one is opened. */
export function open(index: i32): void {
  openSession(changetype<usize>(sessionAt(index)));
}

/** Adds a channel of modality `kind` (memory/channel.ts) with `subs` interleaved sub-channels of `bits` a sample (0: unknown). */
export function channel(index: i32, kind: i32, subs: i32, bits: i32): void {
  addChannel(sessionAt(index), kind, subs, bits);
}

/** Makes the rings, when all channels are known. */
export function ready(index: i32): void {
  makeRings(sessionAt(index));
}

/** Takes `count` staged instants at the times of PUSH: first, first + period, ...; returns how many were missing. */
export function push(index: i32, channel: i32, encoding: i32, count: i32): i32 {
  const at = channelOf(sessionAt(index), channel);
  if (!at || !at.subs) return 0;
  const times = changetype<PushTimes>(PUSH);
  at.period = times.period;
  countLanes(at.subs, count);
  decode(at, encoding, count);
  observe(at, times.period, count);
  return pushInstants(at, times.first, times.period, count);
}

/**
 * Runs an estimator of the session in slot `index` on the window that ends at `end` (seconds); writes RESULT, where an estimate that is not
 * finite counts as none.
 * @returns the reason why there is none to trust (memory/reason.ts)
 */
export function step(index: i32, estimator: i32, end: f64): i32 {
  const session = sessionAt(index);
  const result = changetype<Estimate>(RESULT);
  session.end = Math.max(session.end, end);
  advance(session, end);
  clearFeatures();
  const given = estimate(session, estimator, end, result);
  const confidence = min(1, max(0, result.confidence));
  result.confidence = confidence;
  if (!given || !isFinite(result.value) || isNaN(confidence)) result.value = NaN;
  return explain(session, estimator, end, result);
}

/** Moves the unread R peaks to STAGING (f64 seconds); returns their number. */
export function peaks(index: i32, channel: i32): i32 {
  const session = sessionAt(index);
  const at = channelOf(session, channel);
  return at ? takePeaks(session, at, STAGING) : 0;
}

/** Writes the beats of a source (estimators.ts) that are kept to STAGING, as time and quality (f64) of each; returns their number. */
export function beats(index: i32, source: i32): i32 {
  return beatsOf(sessionAt(index), source, STAGING);
}
