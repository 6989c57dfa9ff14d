import { PulseState } from '../memory/pulse_state';
import { WINDOW_SECONDS } from './records';

/**
 * Which heart rates were trusted, second by second, for the estimates of longer windows. They may be computed before or after the heart
 * rate of the same second, as their channels arrive, so they look only at seconds for which it is known in both cases.
 */

/** Seconds before a window's end for which the heart rate may not have been computed yet: it waits for late channels. */
const LATE: i32 = 3;

/** Notes whether the heart rate of the window that ends at `end` (seconds) is trusted. */
export function noteHeartRate(state: PulseState, end: i32, trusted: bool): void {
  const since = end - state.notedEnd;
  const isNear = since > 0 && since < 64;
  state.noted = (isNear ? state.noted << (<u64>since) : 0) | 1;
  state.trusted = (isNear ? state.trusted << (<u64>since) : 0) | <u64>trusted;
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

/** The bits of `count` seconds, the first of which is `newer` seconds before the newest bit. */
function lately(bits: u64, newer: i32, count: i32): u64 {
  const moved = newer < 0 ? bits << (<u64>-newer) : bits >> <u64>newer;
  return moved & (((<u64>1) << (<u64>count)) - 1);
}
