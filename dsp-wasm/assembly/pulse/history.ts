import { PulseState } from '../memory/pulse_state';

/**
 * Which heart rates were trusted, second by second, for the estimates of longer windows. They may be computed before or after the heart
 * rate of the same second, as their channels arrive, so they look only at seconds for which it is known in both cases.
 */

/** Seconds before a window's end for which the heart rate may not have been computed yet: it waits for late channels. */
const LATE: i32 = 3;
/** Seconds before those in which the windows of 8 s end that lie in a window of 32 s. */
const SPAN: i32 = 32 - 8 - LATE;

/** Notes whether the heart rate of the window that ends at `end` (seconds) is trusted. */
export function noteHeartRate(state: PulseState, end: i32, trusted: bool): void {
  const since = end - state.notedEnd;
  const isNear = since > 0 && since < 64;
  state.noted = (isNear ? state.noted << (<u64>since) : 0) | 1;
  state.trusted = (isNear ? state.trusted << (<u64>since) : 0) | <u64>trusted;
  state.notedEnd = end;
}

/** Share of trusted heart rates in the 32 s before `end` (seconds); 1 where none was computed. */
export function trustedShare(state: PulseState, end: i32): f64 {
  const newer = state.notedEnd - (end - LATE);
  if (abs(newer) >= 64) return 1;
  const noted = lately(state.noted, newer);
  return noted ? <f64>popcnt(lately(state.trusted, newer)) / <f64>popcnt(noted) : 1;
}

/** The bits of SPAN seconds, the first of which is that many seconds before the newest bit. */
function lately(bits: u64, newer: i32): u64 {
  const moved = newer < 0 ? bits << (<u64>-newer) : bits >> <u64>newer;
  return moved & ((1 << SPAN) - 1);
}
