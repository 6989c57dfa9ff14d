import { takeBeats } from './beats';
import { addCandidate, bestEnd, decideCandidate, firstUndecided, forgetPaths } from './beat_path';
import { isMatched, measureBeat } from './beat_measure';
import {
  CANDIDATE_CELL,
  candidateOf,
  ECG_BLOCKS,
  ECG_EMPTY,
  ECG_LAST_BEAT,
  ECG_QUIET,
  ECG_READY,
  ECG_SEEN,
  ECG_START,
  EVIDENCE,
  LEAD_ENERGY,
  LEAD_LEARNT,
  LEAD_MATCH,
  LEAD_WIDTH,
  leadOf,
  RECENT_CELLS,
  WIDE,
} from './ecg_state';
import { CH_SUBS, ECG_CELLS, KIND_ECG } from './layout';
import { beatLevel, beginLevel, noiseLevel, separation, weightOf } from './levels';
import { computeFeatures, ENERGY, MATCH, QRS_SCRATCH_END, REACH, roundingFloor, WIDTH } from './qrs';
import { channelOfKind } from './session';
import { cellsAt, copyCells } from './window';

/**
 * Streaming R peaks. The features of all leads (qrs.ts), weighted by how well they tell beats from the rest (levels.ts),
 * make one evidence; its peaks are candidates; the best path through them is decided at a lag (beat_path.ts).
 *
 * The detector moves in blocks of cells, and what it learns takes effect at a block's end: so any chunking of the data,
 * and any spacing of the steps, gives the same beats. Blocks end 4 cells before whole seconds, as the newest cells of a
 * step are not complete yet. From a cell to its being a candidate it takes REACH + GUARD cells, 0.22 s.
 */
const BLOCK: i32 = 16;
const FIRST_END: i32 = 12;
/** A candidate is the greatest within 78 ms on both sides. */
const GUARD: i32 = 10;
/** A beat is decided by the first block that ends at least 0.375 s after it, and so within 0.5 s. */
const DECIDE_AGE: i32 = 48;
const DECIDE_LATEST: i32 = 64;
/** Levels are learnt from 2 s (Pan & Tompkins 1985), and again where for 3 s no beat was found. */
const LEARN_CELLS: i32 = 256;
const SEARCH_CELLS: i32 = 384;
/** After 10 s without data the electrodes may be elsewhere: everything is learnt anew. */
const LOST_CELLS: i32 = 1280;
/** Evidence where there are no data, and the least that makes a candidate. */
const NOTHING: f32 = -1000;
const LEAST: f32 = -20;
/** Evidence of one beat is bounded above two surprises, so that clear beats correct a wrong expectation of the period. */
const MOST_EVIDENCE: f32 = 10;
/**
 * A beat by its breadth alone, where breadth tells beats from T waves and energy says that there is little noise
 * (electrode motion is broad, too). Its evidence is bounded below two surprises, so that none is put between two beats
 * of a regular rhythm.
 */
const WIDE_RATIO: f32 = 2.5;
const CLEAR_RATIO: f32 = 2.5;
const WIDE_EVIDENCE: f32 = 5;
/** What makes a peak clear before its guard time is over: evidence past any ectopic one's, and a fall after it. */
const CLEAR_EVIDENCE: f32 = 6;
const CLEAR_CELLS: i32 = 3;

/** Per cell of a block, f32: sum of weighted positions and of weights, of energy and match, and of width. */
const SUM: usize = QRS_SCRATCH_END;
const WEIGHT: usize = SUM + (BLOCK << 2);
const WIDE_SUM: usize = WEIGHT + (BLOCK << 2);
const WIDE_WEIGHT: usize = WIDE_SUM + (BLOCK << 2);

/** Streams the channel's grid cells up to `end` (seconds) through the detector. */
export function advancePeaks(slot: usize, channel: usize, end: f64): void {
  if (channel != channelOfKind(slot, KIND_ECG)) return;
  const limit = cellsAt(channel, end);
  skipLost(slot, limit);
  let blocks = load<i32>(slot + ECG_BLOCKS);
  for (; FIRST_END + blocks * BLOCK <= limit; blocks++) consumeBlock(slot, channel, FIRST_END + blocks * BLOCK);
  store<i32>(slot + ECG_BLOCKS, blocks);
}

/** Moves the peaks that are not yet read to `to` (f64 seconds, ascending); returns how many. */
export function takePeaks(slot: usize, channel: usize, to: usize): i32 {
  return channel == channelOfKind(slot, KIND_ECG) ? takeBeats(slot, to) : 0;
}

/** What the ring no longer holds is lost. */
function skipLost(slot: usize, limit: i32): void {
  const blocks = load<i32>(slot + ECG_BLOCKS);
  const held = max(0, limit - ECG_CELLS + LOST_CELLS / 4) / BLOCK;
  if (held <= blocks) return;
  store<i32>(slot + ECG_BLOCKS, held);
  store<i32>(slot + ECG_EMPTY, FIRST_END + held * BLOCK);
  forget(slot);
}

function forget(slot: usize): void {
  store<i32>(slot + ECG_START, 0);
  store<i32>(slot + ECG_READY, 0);
  for (let lead = 0; lead < 4; lead++) store<i32>(leadOf(slot, lead), 0, LEAD_LEARNT);
  forgetPaths(slot);
}

function consumeBlock(slot: usize, channel: usize, end: i32): void {
  watchData(slot, channel, end);
  const start = load<i32>(slot + ECG_START) - 1;
  if (start < 0) return;
  if (load<i32>(slot + ECG_READY)) return detect(slot, channel, end);
  if (end - start < LEARN_CELLS + REACH) return;
  learnLevels(slot, channel, start + LEARN_CELLS, end);
  store<i32>(slot + ECG_READY, 1);
  store<i32>(slot + ECG_QUIET, start);
  for (let i = 0; i < RECENT_CELLS; i++) store<f32>(evidenceOf(slot, i), NOTHING);
  for (let e = end - ((end - start) / BLOCK) * BLOCK; e <= end; e += BLOCK) detect(slot, channel, e);
}

/** Notes where data begin and where they are missing; all leads share that. */
function watchData(slot: usize, channel: usize, end: i32): void {
  copyCells(channel, 0, end - BLOCK, BLOCK, end, SUM);
  for (let i = 0; i < BLOCK; i++) {
    const x = load<f32>(SUM + (<usize>i << 2));
    const cell = end - BLOCK + i;
    if (x == x) {
      if (!load<i32>(slot + ECG_START)) store<i32>(slot + ECG_START, cell + 1);
      store<i32>(slot + ECG_SEEN, cell + 1);
    } else {
      store<i32>(slot + ECG_EMPTY, cell + 1);
      if (load<i32>(slot + ECG_START) && cell - load<i32>(slot + ECG_SEEN) >= LOST_CELLS) forget(slot);
    }
  }
}

function learnLevels(slot: usize, channel: usize, to: i32, limit: i32): void {
  const leads = load<i32>(channel + CH_SUBS);
  for (let k = 0; k < leads; k++) {
    const lead = leadOf(slot, k);
    const matched = isMatched(lead);
    computeFeatures(channel, k, lead, to - LEARN_CELLS, LEARN_CELLS, limit, matched);
    learnFrom(ENERGY, lead + LEAD_ENERGY);
    learnFrom(WIDTH, lead + LEAD_WIDTH);
    if (matched) learnFrom(MATCH, lead + LEAD_MATCH);
  }
}

/**
 * Beats are taken to be as large as 80 % of the greatest value, but of twice the second greatest of the four half seconds
 * at most, so that one artefact does not hide them; the mean is the first guess at noise. In a gap nothing is learnt.
 */
function learnFrom(feature: usize, level: usize): void {
  let first: f32 = 0;
  let second: f32 = 0;
  let sum: f32 = 0;
  let count: f32 = 0;
  for (let half = 0; half < 4; half++) {
    let top: f32 = 0;
    for (let i = half * (LEARN_CELLS / 4); i < (half + 1) * (LEARN_CELLS / 4); i++) {
      const v = load<f32>(feature + (<usize>i << 2));
      if (v != v) continue;
      top = max(top, v);
      sum += v;
      count += 1;
    }
    second = max(second, min(first, top));
    first = max(first, top);
  }
  if (count < <f32>LEARN_CELLS * 0.5) return;
  if (first > roundingFloor()) beginLevel(level, <f32>0.8 * min(first, 2 * second), sum / count);
  else beginLevel(level, 0, 0);
}

/** Takes the newest block into account: evidence, candidates, decisions. */
function detect(slot: usize, channel: usize, end: i32): void {
  weighBlock(slot, channel, end - REACH - BLOCK, end);
  for (let cell = end - REACH - GUARD - BLOCK; cell < end - REACH - GUARD; cell++) {
    if (!isPeak(slot, cell)) continue;
    const evidence = min<f32>(MOST_EVIDENCE, max<f32>(-MOST_EVIDENCE, load<f32>(evidenceOf(slot, cell))));
    addCandidate(slot, cell, evidence, load<u8>(wideOf(slot, cell)));
  }
  decide(slot, channel, end);
  if (end - max(load<i32>(slot + ECG_LAST_BEAT), load<i32>(slot + ECG_QUIET)) > SEARCH_CELLS) {
    store<i32>(slot + ECG_QUIET, end);
    learnLevels(slot, channel, end - REACH, end);
  }
}

// @ts-ignore: decorator
@inline
function evidenceOf(slot: usize, cell: i32): usize {
  return slot + EVIDENCE + (<usize>(cell & (RECENT_CELLS - 1)) << 2);
}

// @ts-ignore: decorator
@inline
function wideOf(slot: usize, cell: i32): usize {
  return slot + WIDE + <usize>(cell & (RECENT_CELLS - 1));
}

/** Evidence of BLOCK cells from cell `from` on, by all features of all leads. */
function weighBlock(slot: usize, channel: usize, from: i32, limit: i32): void {
  let q: f32 = 1;
  let qEnergy: f32 = 1;
  let qWide: f32 = 1;
  memory.fill(SUM, 0, BLOCK << 4);
  for (let k = 0, leads = load<i32>(channel + CH_SUBS); k < leads; k++) {
    const lead = leadOf(slot, k);
    const matched = isMatched(lead);
    computeFeatures(channel, k, lead, from, BLOCK, limit, matched);
    addPositions(SUM, ENERGY, lead + LEAD_ENERGY);
    addPositions(WIDE_SUM, WIDTH, lead + LEAD_WIDTH);
    if (matched) addPositions(SUM, MATCH, lead + LEAD_MATCH);
    qEnergy = max(qEnergy, separation(lead + LEAD_ENERGY));
    qWide = max(qWide, separation(lead + LEAD_WIDTH));
    if (matched) q = max(q, separation(lead + LEAD_MATCH));
  }
  q = max(q, qEnergy);
  const allowsWide = qWide >= WIDE_RATIO && qEnergy >= CLEAR_RATIO;
  for (let i = 0; i < BLOCK; i++) {
    const narrow = logOdds(SUM, i, q);
    const wide = allowsWide ? bounded(logOdds(WIDE_SUM, i, qWide)) : NOTHING;
    store<f32>(evidenceOf(slot, from + i), max(narrow, wide));
    store<u8>(wideOf(slot, from + i), <u8>(narrow < 0));
  }
}

/** At most about WIDE_EVIDENCE, and still greatest where it was. */
// @ts-ignore: decorator
@inline
function bounded(evidence: f32): f32 {
  return evidence > WIDE_EVIDENCE ? WIDE_EVIDENCE + <f32>0.01 * (evidence - WIDE_EVIDENCE) : evidence;
}

/** Adds where between noise (0) and beats (1) a feature is; bounded, so that an artefact counts no more than a beat. */
function addPositions(sum: usize, feature: usize, level: usize): void {
  const beat = beatLevel(level);
  if (!(beat > 0)) return;
  const noise = f32x4.splat(noiseLevel(level));
  const scale = f32x4.splat(<f32>1 / (beat - noiseLevel(level)));
  const weight = f32x4.splat(weightOf(level));
  for (let i: usize = 0; i < <usize>BLOCK << 2; i += 16) {
    const v = v128.load(feature + i);
    const present = f32x4.eq(v, v);
    const raw = f32x4.mul(f32x4.sub(v, noise), scale);
    const position = f32x4.min(f32x4.splat(1.6), f32x4.max(f32x4.splat(-0.5), raw));
    v128.store(sum + i, f32x4.add(v128.load(sum + i), v128.and(f32x4.mul(position, weight), present)));
    const weights = sum + (BLOCK << 2) + i;
    v128.store(weights, f32x4.add(v128.load(weights), v128.and(weight, present)));
  }
}

/**
 * Log odds of a beat at the i-th cell. They are even where the mean position is that of the geometric mean of noise and
 * beats, and the steeper, the better the two are apart: 3 (q - 1), so that at q = 2, where the noise between two beats
 * often is half as large as a beat, a typical beat has odds of 6 to 1.
 */
function logOdds(sum: usize, i: i32, q: f32): f32 {
  const at = sum + (<usize>i << 2);
  const weight = load<f32>(at, BLOCK << 2);
  if (!(weight > 0)) return NOTHING;
  const steepness = min<f32>(40, max<f32>(3, <f32>3 * (q - 1)));
  return steepness * (load<f32>(at) / weight - <f32>1 / (<f32>1 + sqrt<f32>(q)));
}

function isPeak(slot: usize, cell: i32): bool {
  const v = load<f32>(evidenceOf(slot, cell));
  if (!(v > LEAST)) return false;
  for (let k = 1; k <= GUARD; k++) {
    if (load<f32>(evidenceOf(slot, cell - k)) >= v || load<f32>(evidenceOf(slot, cell + k)) > v) return false;
  }
  return true;
}

/** The cell, and part of it, where the evidence around a candidate's cell has its top. */
export function topOf(slot: usize, cell: i32): f64 {
  const before = load<f32>(evidenceOf(slot, cell - 1));
  const top = load<f32>(evidenceOf(slot, cell));
  const after = load<f32>(evidenceOf(slot, cell + 1));
  const bend = before - <f32>2 * top + after;
  return <f64>cell + (bend < 0 ? <f64>min<f32>(0.5, max<f32>(-0.5, (<f32>0.5 * (before - after)) / bend)) : 0);
}

/**
 * The clear peak, at least CLEAR_CELLS old, that is too new to be a candidate; -1 where there is none. It may yet be
 * outdone by a greater one, so it is good for an estimate, not for a decision.
 */
export function newestPeak(slot: usize): i32 {
  const to = FIRST_END + (load<i32>(slot + ECG_BLOCKS) - 1) * BLOCK - REACH;
  let peak = -1;
  let top = CLEAR_EVIDENCE;
  for (let cell = to - GUARD; cell < to; cell++) {
    const v = load<f32>(evidenceOf(slot, cell));
    if (!(v > top)) continue;
    top = v;
    peak = cell;
  }
  if (peak < 0 || peak >= to - CLEAR_CELLS || !load<i32>(slot + ECG_READY)) return -1;
  for (let k = 1; k <= GUARD; k++) if (load<f32>(evidenceOf(slot, peak - k)) >= top) return -1;
  return peak;
}

/** Decides for what of the best path is old enough. */
function decide(slot: usize, channel: usize, end: i32): void {
  const best = bestEnd(slot);
  for (let p = firstUndecided(slot, best); p >= 0; p = firstUndecided(slot, best)) {
    const age = end - load<i32>(candidateOf(slot, p), CANDIDATE_CELL);
    if (age < DECIDE_AGE) return;
    measureBeat(slot, channel, p, end, age > DECIDE_LATEST);
    decideCandidate(slot, p);
  }
}
