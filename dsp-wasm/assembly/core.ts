import { BEAT } from './beats/tuning';
import { makeTurns } from './breath/patterns';
import { makeRatePriors } from './breath/tracker';
import { takePeaks } from './ecg/r_peaks';
import { advance, beatsOf, estimate } from './estimators';
import { decode } from './grid/decode';
import { pushInstants } from './grid/resample';
import { observe } from './grid/span';
import { makeTwiddles } from './math/fft';
import { clearFeatures } from './memory/features';
import { countLanes } from './memory/lanes';
import { Estimate, PUSH, PushTimes, REQUEST, RESULT, Request, STAGING } from './memory/map';
import { NO_REASON } from './memory/reason';
import { addChannel, allocateRings, channelOf, clearSession, sessionAt } from './memory/session';
import { makePaces } from './pulse/candidates';
import { makeDelays } from './pulse/residual';
import { makeHann } from './pulse/spectrum';
import { makeTrackerTable } from './pulse/tracker';
import { explain } from './reasons';

/** Time before the end of the newest step in which beats may still change, s. */
export const BEAT_LAG: f64 = BEAT.LAG;

export { filledLanePoints, lanePoints } from './memory/lanes';
export {
  FEATURE_VALUES,
  FEATURES,
  PUSH_FIRST,
  PUSH_PERIOD,
  REQUEST,
  REQUEST_END,
  REQUEST_ESTIMATOR,
  REQUEST_SLOT,
  RESULT,
  RESULT_CONFIDENCE,
  RESULT_GIVEN,
  RESULT_PNN50,
  RESULT_REASON,
  RESULT_SDNN,
  RESULT_SEEN,
  RESULT_VALUE,
  SLOTS,
  STAGING,
  STAGING_BYTES,
} from './memory/map';
export { SLOT_BYTES } from './memory/session';

/** Computes the tables; call once, before all other functions. */
export function init(): void {
  makeTwiddles();
  makeHann();
  makeDelays();
  makeTrackerTable();
  makePaces();
  makeRatePriors();
  makeTurns();
}

/** Makes slot `index` an empty session; channels follow with `channel`, then `ready`. */
export function open(index: i32): void {
  clearSession(sessionAt(index));
}

/** Adds a channel of modality `kind` (memory/channel.ts) with `subs` interleaved sub-channels of `bits` a sample (0: unknown). */
export function channel(index: i32, kind: i32, subs: i32, bits: i32): void {
  addChannel(sessionAt(index), kind, subs, bits);
}

/** Allocates the rings, when all channels are known. */
export function ready(index: i32): void {
  allocateRings(sessionAt(index));
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

/** Answers the request in REQUEST; writes RESULT. */
export function step(): void {
  const request = changetype<Request>(REQUEST);
  const result = changetype<Estimate>(RESULT);
  if (request.slot < 0) clear(result);
  else answer(request, result);
}

function clear(result: Estimate): void {
  result.given = 0;
  result.reason = NO_REASON;
  result.seen = 0;
}

/** Runs the estimator; an estimate that is not finite counts as none. If there is none to trust, looks for the reason. */
function answer(request: Request, result: Estimate): void {
  const session = sessionAt(request.slot);
  session.end = Math.max(session.end, request.end);
  advance(session, request.end);
  clearFeatures();
  const given = estimate(session, request.estimator, request.end, result);
  const confidence = min(1, max(0, result.confidence));
  result.confidence = confidence;
  result.given = <i32>(given && isFinite(result.value) && !isNaN(confidence));
  explain(session, request.estimator, request.end, result);
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
