import { TRUSTED } from '../grid/tuning';
import { PulseState } from '../memory/pulse_state';
import { WINDOW_SECONDS } from './records';
import { QUALITY } from './tuning';

/**
 * Which heart rates were trusted or likely, second by second, for the estimates of longer windows. They may be computed before or after the heart
 * rate of the same second, as their channels arrive, so they look only at seconds for which it is known in both cases.
 */

/** Seconds before a window's end for which the heart rate may not have been computed yet: it waits for late channels. */
const LATE: i32 = 3;

/** Notes the confidence of the heart rate of the window that ends at `end` (seconds). */
export function noteHeartRate(state: PulseState, end: i32, confidence: f64): void {
  const since = end - state.notedEnd;
  const isNear = since > 0 && since < 64;
  state.noted = (isNear ? state.noted << (<u64>since) : 0) | 1;
  state.trusted = (isNear ? state.trusted << (<u64>since) : 0) | <u64>(confidence >= TRUSTED);
  state.likely = (isNear ? state.likely << (<u64>since) : 0) | <u64>(confidence >= QUALITY.LEAST_LIKELY);
  state.notedEnd = end;
}

/** Share of trusted heart rates whose windows lie in the `seconds` (at most 64) before `end`; 1 where none was computed. */
export function trustedShare(state: PulseState, end: i32, seconds: i32): f64 {
  const newer = state.notedEnd - (end - LATE);
  if (abs(newer) >= 64) return 1;
  const ends = seconds - WINDOW_SECONDS - LATE;
  const noted = lately(state.noted, newer, ends);
  return noted ? <f64>popcnt(lately(state.trusted, newer, ends)) / <f64>popcnt(noted) : 1;
}

/** Whether a heart rate of the window before `end` was trusted. */
export function wasTrusted(state: PulseState, end: i32): bool {
  const newer = state.notedEnd - end;
  return abs(newer) < 64 && lately(state.trusted, newer, WINDOW_SECONDS) !== 0;
}

/**
 * Whether half of the heart rates whose windows hold `time` (seconds), of those that are known by `now` in any case, are likely; true where none is known.
 * One that is only doubtful counts, as in an irregular rhythm; in noise none is likely.
 */
export function isInPulse(state: PulseState, time: f64, now: f64): bool {
  const first = <i32>Math.floor(time);
  const last = min(first + WINDOW_SECONDS, <i32>now - LATE);
  const newer = state.notedEnd - last;
  if (abs(newer) >= 64 || last <= first) return true;
  const count = last - first;
  return 2 * popcnt(lately(state.likely, newer, count)) >= popcnt(lately(state.noted, newer, count));
}

/** The bits of `count` seconds, the first of which is `newer` seconds before the newest bit. */
function lately(bits: u64, newer: i32, count: i32): u64 {
  const moved = newer < 0 ? bits << (<u64>-newer) : bits >> <u64>newer;
  return moved & (((<u64>1) << (<u64>count)) - 1);
}
