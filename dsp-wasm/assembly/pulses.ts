import { RR_STATE, SCRATCH, SLOW_HZ } from './layout';
import { cellsAt, copyCells, fillEmpty } from './window';

/**
 * Pulses of one PPG light, found by two moving averages (Elgendi et al., PLoS ONE 8(10):e76585, 2013): where the
 * squared band-passed light, averaged over a systolic peak, exceeds its average over a beat, its maximum is a pulse.
 * The band-pass is a short moving average less a one-second one: no delay and nothing to settle. Each call takes the
 * cells that have come since the last, and keeps time, height and baseline of the latest pulses for the respiratory
 * modulations. Which way up the light is does not matter: upside down it finds the feet.
 */

/** Pulses kept: the 32 s of rr at up to 180 bpm. */
export const PULSES: i32 = 96;
/** Times are kept in steps of a second, as i32: they count for 24 days and wrap without harm. */
export const PULSE_TICKS: f64 = 1024;

// State, from RR_STATE.
const LIGHT: usize = RR_STATE; // u32, channel of the pulses in the ring
const CURSOR: usize = RR_STATE + 4; // i32, first cell that is not yet searched
const COUNT: usize = RR_STATE + 8; // i32, pulses found so far
const LEVEL: usize = RR_STATE + 12; // f32, the newest pulse's maximum
const RING: usize = RR_STATE + 16; // PULSES x (time i32, height f32, baseline f32)
const PULSE_BYTES: usize = 12;

/** Half widths of the moving averages, cells: 0.16 s and 1 s of the band-pass, 0.16 s (systole) and 0.66 s (beat). */
const SMOOTH: i32 = 2;
const DRIFT: i32 = 16;
const SYSTOLE: i32 = 2;
const BEAT: i32 = 10;
const LOOKAHEAD: i32 = DRIFT + BEAT;
/** Cells before the first searched one: what the averages and the pulse's foot look back over. */
const MARGIN: i32 = 64;
const LONGEST: i32 = 32 * SLOW_HZ;
/** Part of the mean energy that a pulse must stand above the beat's average (Elgendi's offset). */
const OFFSET: f32 = 0.02;
/** Shortest stretch above, cells; longest that is waited for. */
const SHORTEST: i32 = 3;
const UNFINISHED: i32 = 64;
/** Two maxima closer than this are one pulse, 0.3 s (200 bpm). */
const REFRACTORY: i32 = 10;
/** The foot lies at most this far before the peak, 0.75 s. */
const FOOT: i32 = 24;

// Scratch: rows of MARGIN + LONGEST cells, and some that are only read.
const ROW: usize = 0x1200;
const X: usize = SCRATCH;
const MEAN: usize = SCRATCH + ROW;
const BAND: usize = SCRATCH + 2 * ROW;
const ENERGY: usize = SCRATCH + 3 * ROW;
const NEAR: usize = SCRATCH + 4 * ROW;
const WIDE: usize = SCRATCH + 5 * ROW;

/** Finds the pulses of the light in `channel` up to `end` (seconds); a change of light starts 32 s back. */
export function advancePulses(slot: usize, channel: usize, end: f64): void {
  if (load<u32>(slot + LIGHT) != <u32>channel) {
    store<u32>(slot + LIGHT, <u32>channel);
    store<i32>(slot + CURSOR, 0);
    store<i32>(slot + COUNT, 0);
  }
  const limit = cellsAt(channel, end);
  const cursor = max(load<i32>(slot + CURSOR), limit - LONGEST);
  const start = cursor - MARGIN;
  const count = limit - start;
  store<i32>(slot + CURSOR, cursor);
  if (count <= LOOKAHEAD + MARGIN) return;
  if (!copyCells(channel, 0, start, count, limit, X)) return store<i32>(slot + CURSOR, max(cursor, limit - LOOKAHEAD));
  if (isFlat(count)) return store<i32>(slot + CURSOR, max(cursor, limit - LOOKAHEAD));
  fillEmpty(X, count);
  store<i32>(slot + CURSOR, start + search(slot, start, count, bandPass(count)));
}

/** True where all cells are alike, or empty: a light that is off, or railed, costs no search. */
function isFlat(count: i32): bool {
  let any: f32 = NaN;
  for (let i: usize = 0; i < <usize>count << 2; i += 4) {
    const x = load<f32>(X + i);
    if (x != x || x == any) continue;
    if (any == any) return false;
    any = x;
  }
  return true;
}

/** Fills the rows; returns the level that NEAR must lie above WIDE. */
function bandPass(count: i32): f32 {
  movingMean(X, count, DRIFT, MEAN);
  movingMean(X, count, SMOOTH, BAND);
  let sum: f64 = 0;
  for (let i: usize = 0; i < <usize>count << 2; i += 4) {
    const inside = i >= <usize>DRIFT << 2 && i < <usize>(count - DRIFT) << 2;
    const y: f32 = inside ? load<f32>(BAND + i) - load<f32>(MEAN + i) : 0;
    const energy: f32 = y > 0 ? y * y : 0;
    store<f32>(BAND + i, y);
    store<f32>(ENERGY + i, energy);
    sum += energy;
  }
  movingMean(ENERGY, count, SYSTOLE, NEAR);
  movingMean(ENERGY, count, BEAT, WIDE);
  return OFFSET * <f32>(sum / <f64>count);
}

/**
 * y[i] = mean of x[i - half .. i + half]; the first and last `half` cells mean nothing. Sums afresh, sixteen cells at a
 * time: faster at these widths than a running sum, and a huge value is gone as soon as it has passed.
 */
function movingMean(x: usize, count: i32, half: i32, y: usize): void {
  const width = 2 * half + 1;
  const reach = <usize>(width - 1) << 2;
  const scale = f32x4.splat(<f32>1 / <f32>width);
  const past = x + (<usize>(count - width + 1) << 2);
  for (let to = y + (reach >> 1); x < past; x += 64, to += 64) {
    let a = v128.load(x);
    let b = v128.load(x, 16);
    let c = v128.load(x, 32);
    let d = v128.load(x, 48);
    for (let j = x + 4; j <= x + reach; j += 4) {
      a = f32x4.add(a, v128.load(j));
      b = f32x4.add(b, v128.load(j, 16));
      c = f32x4.add(c, v128.load(j, 32));
      d = f32x4.add(d, v128.load(j, 48));
    }
    v128.store(to, f32x4.mul(a, scale));
    v128.store(to, f32x4.mul(b, scale), 16);
    v128.store(to, f32x4.mul(c, scale), 32);
    v128.store(to, f32x4.mul(d, scale), 48);
  }
}

/** Notes the pulses of the finished stretches; returns the first cell (of the rows) that is not yet searched. */
function search(slot: usize, start: i32, count: i32, level: f32): i32 {
  const stop = count - LOOKAHEAD;
  let i = MARGIN;
  while (i < stop) {
    if (!above(i, level)) {
      i++;
      continue;
    }
    let j = i + 1;
    while (j < stop && above(j, level)) j++;
    if (j == stop && j - i < UNFINISHED) break;
    if (j - i >= SHORTEST) notePeak(slot, start, highest(i, j));
    i = j;
  }
  return i;
}

// @ts-ignore: decorator
@inline
function above(i: i32, level: f32): bool {
  return load<f32>(NEAR + (<usize>i << 2)) > load<f32>(WIDE + (<usize>i << 2)) + level;
}

function highest(from: i32, to: i32): i32 {
  let best = from;
  for (let i = from + 1; i < to; i++) if (band(i) > band(best)) best = i;
  return best;
}

// @ts-ignore: decorator
@inline
function band(i: i32): f32 {
  return load<f32>(BAND + (<usize>i << 2));
}

/** Appends the pulse whose maximum is cell k of the rows, or puts it in place of a lower one just before. */
function notePeak(slot: usize, start: i32, k: i32): void {
  const found = load<i32>(slot + COUNT);
  const time = <i32>Math.round((<f64>(start + k) + offCentre(k)) * (PULSE_TICKS / <f64>SLOW_HZ));
  const gap = found ? time - pulseTime(slot, found - 1) : i32.MAX_VALUE;
  const twin = gap < (REFRACTORY * <i32>PULSE_TICKS) / SLOW_HZ;
  if (twin && band(k) <= load<f32>(slot + LEVEL)) return;
  const at = pulse(slot, twin ? found - 1 : found);
  store<i32>(at, time);
  store<f32>(at, band(k) - foot(k), 4);
  store<f32>(at, load<f32>(MEAN + (<usize>k << 2)), 8);
  store<f32>(slot + LEVEL, band(k));
  store<i32>(slot + COUNT, twin ? found : found + 1);
}

/** Where between the cells a parabola through the three highest has its vertex, cells. */
function offCentre(k: i32): f64 {
  const left = <f64>band(k - 1);
  const right = <f64>band(k + 1);
  const bend = left - 2 * <f64>band(k) + right;
  return bend < 0 ? min(0.5, max(-0.5, (0.5 * (left - right)) / bend)) : 0;
}

function foot(k: i32): f32 {
  let lowest = band(k);
  for (let i = k - FOOT; i < k; i++) lowest = min(lowest, band(i));
  return lowest;
}

function pulse(slot: usize, index: i32): usize {
  return slot + RING + <usize>(<u32>index % <u32>PULSES) * PULSE_BYTES;
}

/** Channel of the light that was searched last; 0 before the first. */
export function pulseLight(slot: usize): usize {
  return <usize>load<u32>(slot + LIGHT);
}

/** Pulses found so far; the last PULSES of them can be read by their index. */
export function pulseCount(slot: usize): i32 {
  return load<i32>(slot + COUNT);
}

/** Time of a pulse, in ticks. */
export function pulseTime(slot: usize, index: i32): i32 {
  return load<i32>(pulse(slot, index));
}

/** Height of a pulse above its foot. */
export function pulseHeight(slot: usize, index: i32): f32 {
  return load<f32>(pulse(slot, index), 4);
}

/** Mean of the light over a second about the pulse, without the sub-channel's offset. */
export function pulseBaseline(slot: usize, index: i32): f32 {
  return load<f32>(pulse(slot, index), 8);
}
