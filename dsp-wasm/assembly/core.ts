import { makeRatePrior } from './breath';
import { decode } from './decode';
import { advance, estimate } from './estimators';
import { makeTwiddles } from './fft';
import { pushInstants } from './grid';
import {
  CH_SUBS,
  OUT_CONFIDENCE,
  OUT_VALUE,
  PUSH,
  REQUEST_BYTES,
  REQUESTS,
  RESULT_BYTES,
  RESULTS,
  STAGING,
} from './layout';
import { countLanes } from './lanes';
import { makeHann } from './pulse_spectrum';
import { makeTrackerTable } from './pulse_tracker';
import { takePeaks } from './rpeaks';
import { addChannel, allocateRings, channelOf, clearSession, slotOf } from './session';

export { filledLanePoints, lanePoints } from './lanes';
export {
  BATCH,
  PUSH,
  REQUEST_BYTES,
  REQUESTS,
  RESULT_BYTES,
  RESULTS,
  SLOT_BYTES,
  SLOTS,
  STAGING,
  STAGING_BYTES,
} from './layout';

/** Computes the tables; once, before all else. */
export function init(): void {
  makeTwiddles();
  makeHann();
  makeTrackerTable();
  makeRatePrior();
}

/** Makes slot `index` an empty session; channels follow with `channel`, then `ready`. */
export function open(index: i32): void {
  clearSession(slotOf(index));
}

/** Adds a channel of modality `kind` (layout.ts) with `subs` interleaved sub-channels at nominally `hz`. */
export function channel(index: i32, kind: i32, hz: f64, subs: i32): void {
  addChannel(slotOf(index), kind, hz, subs);
}

/** All channels are known: hands out their rings. */
export function ready(index: i32): void {
  allocateRings(slotOf(index));
}

/** Takes `count` staged instants at the times of PUSH: t, t + period, ... (seconds); returns how many were missing. */
export function push(index: i32, channel: i32, encoding: i32, count: i32): i32 {
  const at = channelOf(slotOf(index), channel);
  if (!at || !load<i32>(at + CH_SUBS)) return 0;
  countLanes(load<i32>(at + CH_SUBS), count);
  decode(at, encoding, count);
  return pushInstants(at, load<f64>(PUSH), load<f64>(PUSH, 8), count);
}

/** Answers the first `count` of REQUESTS in RESULTS. */
export function step(count: i32): void {
  for (let i = 0; i < count; i++) {
    const request = REQUESTS + <usize>(i * REQUEST_BYTES);
    const result = RESULTS + <usize>(i * RESULT_BYTES);
    const index = load<i32>(request);
    if (index < 0) store<i32>(result, 0, 16);
    else stepOne(slotOf(index), load<i32>(request, 4), load<f64>(request, 8), result);
  }
}

function stepOne(slot: usize, estimator: i32, end: f64, result: usize): void {
  advance(slot, end);
  answer(slot, result, estimate(slot, estimator, end));
}

/** Copies an estimate out; one that is not finite is none. */
function answer(slot: usize, result: usize, given: i32): void {
  const value = load<f64>(slot + OUT_VALUE);
  const confidence = min(1, max(0, load<f64>(slot + OUT_CONFIDENCE)));
  store<f64>(result, value);
  store<f64>(result, confidence, 8);
  store<i32>(result, given & <i32>(isFinite(value) && confidence == confidence), 16);
}

/** Moves the R peaks that are not yet read to STAGING (f64 seconds); returns how many. */
export function peaks(index: i32, channel: i32): i32 {
  const slot = slotOf(index);
  const at = channelOf(slot, channel);
  return at ? takePeaks(slot, at, STAGING) : 0;
}
