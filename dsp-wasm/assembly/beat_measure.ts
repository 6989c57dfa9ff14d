import { addBeat } from './beats';
import {
  CANDIDATE_CELL,
  CANDIDATE_EMPTY,
  CANDIDATE_EVIDENCE,
  CANDIDATE_WIDE,
  candidateOf,
  ECG_BEATS,
  ECG_FIT,
  ECG_LAST_BEAT,
  ECG_LAST_TIME,
  ECG_LEAD,
  ECG_SHIFT,
  LEAD_ENERGY,
  LEAD_LEARNT,
  LEAD_MATCH,
  LEAD_OFFSET,
  LEAD_STRANGE,
  LEAD_TEMPLATE,
  LEAD_WIDTH,
  leadOf,
} from './ecg_state';
import { CH_SUBS, ECG_HZ } from './layout';
import { beatLevel, beginLevel, FOLLOW, learnLevel, separation, weightOf } from './levels';
import { broadAt, computeFeatures, ENERGY, leveledAt, MATCH, PROJECTION, QRS_SCRATCH_END, sharpenedAt, TEMPLATE_CELLS, TEMPLATE_HALF, WIDTH } from './qrs';

/** What is taken from a beat once it is decided: its time and amplitude, and what its leads learn from it. */

/** A lead may have its peak that far from the candidate (47 ms), cells; without a template a little farther. */
const SNAP: i32 = 6;
const FIRST_SNAP: i32 = 8;
/** Next to a beat that long (188 ms, or 30 % of the interval) is no noise: the QRS itself. Cells. */
const DEAD_CELLS: i32 = 24;
/** Longer intervals are pauses or missed beats and tell nothing of the noise between beats; cells. */
const PAUSE_CELLS: i32 = 384;
/** Share of its norm that a beat must have along the template to be learnt. */
const LIKE: f32 = 0.8;
/** So many unlike beats in a row, on a clear lead, are a new normal. */
const STRANGE_BEATS: i32 = 10;
const SLOWEST_LEARNING: f32 = 0.1;
/** Beats that make a template. */
const TEMPLATE_BEATS: i32 = 3;

/** What each lead says: where the R peak is (f32, cells from the first that was asked for), and how large the beat. */
const PEAKS: usize = QRS_SCRATCH_END + 256;
const AMPLITUDES: usize = PEAKS + 16;
/** Share of its norm that the beat has along the lead's template; 0 where there is none, or the beat is an ectopic one. */
const SHARES: usize = AMPLITUDES + 16;

/** Whether the lead has a template to match. */
// @ts-ignore: decorator
@inline
export function isMatched(lead: usize): bool {
  return load<i32>(lead, LEAD_LEARNT) >= TEMPLATE_BEATS;
}

/** How much of its swing is a shift of the level, see shiftOf. */
const SHIFTS: usize = SHARES + 16;

/** Puts the candidate of that number into the ring of beats, and learns from it; uses no cell at or past `limit`. */
export function measureBeat(slot: usize, channel: usize, number: i32, limit: i32, late: bool): void {
  const candidate = candidateOf(slot, number);
  const cell = load<i32>(candidate, CANDIDATE_CELL);
  const last = load<i32>(slot + ECG_LAST_BEAT);
  const isNext = load<i32>(slot + ECG_BEATS) > 0 && cell - last < PAUSE_CELLS;
  const guard = min(DEAD_CELLS, (3 * (cell - last)) / 10);
  const near = cell - FIRST_SNAP - 1;
  const from = isNext ? min(last + guard + 1, near) : near;
  const between = isNext ? cell - guard - from : 0;
  const wide = load<i32>(candidate, CANDIDATE_WIDE);
  const leads = load<i32>(channel + CH_SUBS);
  for (let k = 0; k < leads; k++) {
    const lead = leadOf(slot, k);
    computeFeatures(channel, k, lead, from, cell + FIRST_SNAP + 2 - from, limit, isMatched(lead));
    measureLead(lead, k, cell - from, between, wide);
    store<f32>(SHIFTS + (<usize>k << 2), shiftOf(cell - from));
  }
  const chosen = chooseLead(slot, leads);
  const peak = load<f32>(PEAKS + (<usize>chosen << 2)) + <f32>load<i32>(leadOf(slot, chosen), LEAD_OFFSET);
  const time = (<f64>from + <f64>peak) / ECG_HZ;
  const isBroken = !isNext || load<i32>(candidate, CANDIDATE_EMPTY) > last;
  const interval: f32 = isBroken ? 0 : <f32>(time - load<f64>(slot + ECG_LAST_TIME));
  const quality: f32 = <f32>1 / (<f32>1 + Mathf.exp(-load<f32>(candidate, CANDIDATE_EVIDENCE)));
  addBeat(slot, time, interval, load<f32>(AMPLITUDES + (<usize>chosen << 2)), quality, late);
  follow(slot + ECG_FIT, load<f32>(SHARES + (<usize>chosen << 2)));
  follow(slot + ECG_SHIFT, load<f32>(SHIFTS + (<usize>chosen << 2)));
  store<i32>(slot + ECG_LAST_BEAT, cell);
  store<f64>(slot + ECG_LAST_TIME, time);
}

/** Follows a positive measure of the beats, within about 5 of them. */
function follow(at: usize, measure: f32): void {
  if (!(measure > 0)) return;
  const mean = load<f32>(at);
  store<f32>(at, mean > 0 ? mean + <f32>0.2 * (measure - mean) : measure);
}

/** A lead is back at its level 90 ms after its R peak, most of the way at least; a stair or a drift is not. Cells. */
const SHIFT_HALF: i32 = 12;

/** Change of the level from before the beat to after it, in parts of the lead's range there: 0 to 1. */
function shiftOf(cell: i32): f32 {
  let low = leveled(cell);
  let high = low;
  for (let i = cell - SHIFT_HALF; i <= cell + SHIFT_HALF; i++) {
    low = min(low, leveled(i));
    high = max(high, leveled(i));
  }
  let change: f32 = 0;
  for (let i = SHIFT_HALF - 2; i <= SHIFT_HALF; i++) change += leveled(cell + i) - leveled(cell - i);
  return high > low ? abs(change) / (3 * (high - low)) : 0;
}

/** The lead that tells beats best; changed only for a much better one, as amplitudes of two leads cannot be compared. */
function chooseLead(slot: usize, leads: i32): i32 {
  let best = 0;
  for (let k = 1; k < leads; k++) if (leadWeight(slot, k) > leadWeight(slot, best)) best = k;
  const chosen = load<i32>(slot + ECG_LEAD);
  if (leadWeight(slot, best) <= 4 * leadWeight(slot, chosen)) return chosen;
  store<i32>(slot + ECG_LEAD, best);
  return best;
}

function leadWeight(slot: usize, k: i32): f32 {
  const lead = leadOf(slot, k);
  return weightOf(lead + LEAD_ENERGY) + (isMatched(lead) ? weightOf(lead + LEAD_MATCH) : 0);
}

/** Learns from a beat of one lead at `cell`; the first `between` cells lie between it and the beat before. */
function measureLead(lead: usize, k: i32, cell: i32, between: i32, wide: i32): void {
  const matched = isMatched(lead);
  const peak = greatestNear(matched ? MATCH : ENERGY, cell, SNAP);
  const energy = load<f32>(ENERGY + (<usize>greatestNear(ENERGY, cell, SNAP) << 2));
  put(k, <f32>cell, 0);
  store<f32>(SHARES + (<usize>k << 2), 0);
  if (energy != energy) return; // the lead misses part of the beat
  // Ectopic beats come seldom and count as noise where they are missed: so the level of breadth does not rise fast.
  learnLevel(lead + LEAD_WIDTH, valueAt(WIDTH, greatestNear(WIDTH, cell, SNAP)), greatest(WIDTH, between), FOLLOW);
  if (wide) return measureWide(lead, k, cell, matched);
  learnLevel(lead + LEAD_ENERGY, energy, greatest(ENERGY, between));
  if (!matched) return measureFirst(lead, k, cell);
  const noiseMatch = greatest(MATCH, between);
  learnMatch(lead + LEAD_MATCH, valueAt(MATCH, peak), noiseMatch);
  const projection = valueAt(PROJECTION, peak);
  put(k, <f32>peak + vertex(MATCH + (<usize>peak << 2)), projection);
  const share: f32 = projection > 0 ? sqrt<f32>(valueAt(MATCH, peak) / projection) : 0;
  store<f32>(SHARES + (<usize>k << 2), share);
  if (load<i32>(lead, LEAD_LEARNT) < TEMPLATE_BEATS + 2 || share > LIKE) {
    learnTemplate(lead, peak);
    store<i32>(lead, 0, LEAD_STRANGE);
  } else {
    countStrange(lead);
  }
}

/** An ectopic beat is where the broad signal is greatest; its lead learns nothing of what normal beats are. */
function measureWide(lead: usize, k: i32, cell: i32, matched: bool): void {
  let largest = cell;
  for (let i = cell - FIRST_SNAP; i <= cell + FIRST_SNAP; i++) if (abs(broad(i)) > abs(broad(largest))) largest = i;
  put(k, <f32>(largest - load<i32>(lead, LEAD_OFFSET)), matched ? valueAt(PROJECTION, cell) : 0);
}

/** Without a template the R peak is where the sharpened signal is greatest. */
function measureFirst(lead: usize, k: i32, cell: i32): void {
  let largest = cell;
  for (let i = cell - FIRST_SNAP; i <= cell + FIRST_SNAP; i++) if (abs(sharp(i)) > abs(sharp(largest))) largest = i;
  learnTemplate(lead, largest);
  put(k, <f32>(largest - load<i32>(lead, LEAD_OFFSET)), abs(sharp(largest)));
}

function learnMatch(level: usize, match: f32, noise: f32): void {
  if (beatLevel(level) > 0) learnLevel(level, match, noise);
  else beginLevel(level, match, <f32>0.3 * match);
}

function countStrange(lead: usize): void {
  const strange = load<i32>(lead, LEAD_STRANGE) + 1;
  const isNewNormal = strange > STRANGE_BEATS && separation(lead + LEAD_ENERGY) > 4;
  store<i32>(lead, isNewNormal ? 0 : strange, LEAD_STRANGE);
  if (!isNewNormal) return;
  store<i32>(lead, 0, LEAD_LEARNT);
  beginLevel(lead + LEAD_MATCH, 0, 0);
}

/** Blends the beat at `cell` into the template, to norm 1, and finds the R peak in it: its greatest value. */
function learnTemplate(lead: usize, cell: i32): void {
  const shape = sharpenedAt(cell - TEMPLATE_HALF);
  const norm = normOf(shape);
  if (!(norm > 0)) return;
  const learnt = load<i32>(lead, LEAD_LEARNT);
  const rate = max(SLOWEST_LEARNING, <f32>1 / <f32>(learnt + 1));
  const template = lead + LEAD_TEMPLATE;
  for (let i: usize = 0; i < <usize>TEMPLATE_CELLS << 2; i += 4) {
    const t = learnt ? load<f32>(template + i) : 0;
    store<f32>(template + i, t + rate * (load<f32>(shape + i) / norm - t));
  }
  const scale: f32 = <f32>1 / normOf(template);
  for (let i: usize = 0; i < <usize>TEMPLATE_CELLS << 2; i += 4) store<f32>(template + i, load<f32>(template + i) * scale);
  store<i32>(lead, learnt + 1, LEAD_LEARNT);
  store<i32>(lead, peakOf(template), LEAD_OFFSET);
}

function normOf(shape: usize): f32 {
  let sum: f32 = 0;
  for (let i: usize = 0; i < <usize>TEMPLATE_CELLS << 2; i += 4) sum += load<f32>(shape + i) * load<f32>(shape + i);
  return sqrt<f32>(sum);
}

function peakOf(template: usize): i32 {
  let peak = 0;
  let top: f32 = -1;
  for (let i = -SNAP; i <= SNAP; i++) {
    const v = abs(load<f32>(template + (<usize>(i + TEMPLATE_HALF) << 2)));
    if (v <= top) continue;
    top = v;
    peak = i;
  }
  return peak;
}

function put(k: i32, peak: f32, amplitude: f32): void {
  store<f32>(PEAKS + (<usize>k << 2), peak);
  store<f32>(AMPLITUDES + (<usize>k << 2), amplitude);
}

// @ts-ignore: decorator
@inline
function leveled(i: i32): f32 {
  return load<f32>(leveledAt(i));
}

// @ts-ignore: decorator
@inline
function sharp(i: i32): f32 {
  return load<f32>(sharpenedAt(i));
}

// @ts-ignore: decorator
@inline
function broad(i: i32): f32 {
  return load<f32>(broadAt(i));
}

// @ts-ignore: decorator
@inline
function valueAt(feature: usize, i: i32): f32 {
  return load<f32>(feature + (<usize>i << 2));
}

/** Greatest of the first `count` values; -1 where there is none. */
function greatest(feature: usize, count: i32): f32 {
  let top: f32 = -1;
  for (let i = 0; i < count; i++) {
    const v = valueAt(feature, i);
    if (v > top) top = v;
  }
  return top;
}

/** Index of the greatest value within `half` of `cell`; if one is missing, the index of one that is. */
function greatestNear(feature: usize, cell: i32, half: i32): i32 {
  let peak = cell;
  for (let i = cell - half; i <= cell + half; i++) {
    const v = valueAt(feature, i);
    if (v != v) return i;
    if (v > valueAt(feature, peak)) peak = i;
  }
  return peak;
}

/** Where between -0.5 and 0.5 the parabola through a value and its neighbours has its top, cells. */
function vertex(at: usize): f32 {
  const before = load<f32>(at - 4);
  const after = load<f32>(at, 4);
  const bend: f32 = before - <f32>2 * load<f32>(at) + after;
  return bend < 0 ? min<f32>(0.5, max<f32>(-0.5, (<f32>0.5 * (before - after)) / bend)) : 0;
}
