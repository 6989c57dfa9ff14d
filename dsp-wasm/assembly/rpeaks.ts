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
  LEAD_ENERGY,
  LEAD_LEARNT,
  LEAD_MATCH,
  LEAD_WIDTH,
  leadOf,
} from './ecg_state';
import { BLOCK, clearEvidence, evidenceOf, GUARD, isPeak, MOST_EVIDENCE, weighBlock, wideOf } from './evidence';
import { CH_SUBS, ECG_CELLS, KIND_ECG } from './layout';
import { beginLevel } from './levels';
import { computeFeatures, ENERGY, forgetGroup, MATCH, QRS_SCRATCH_END, REACH, roundingFloor, WIDTH } from './qrs';
import { channelOfKind } from './session';
import { cellsAt, copyCells } from './window';

/**
 * Streaming R peaks. The features of all leads (qrs.ts), weighted by how well they tell beats from the rest (levels.ts),
 * make one evidence (evidence.ts); its peaks are candidates; the best path through them is decided at a lag
 * (beat_path.ts), and learnt from (beat_measure.ts).
 *
 * The detector moves in blocks of cells, and what it learns takes effect at a block's end: so any chunking of the data,
 * and any spacing of the steps, gives the same beats. Blocks end 4 cells before whole seconds, as the newest cells of a
 * step are not complete yet. From a cell to its being a candidate it takes REACH + GUARD cells, 0.22 s.
 */
const FIRST_END: i32 = 12;
/** A beat is decided by the first block that ends at least 0.375 s after it, and so within 0.5 s. */
const DECIDE_AGE: i32 = 48;
const DECIDE_LATEST: i32 = 64;
/** Levels are learnt from 2 s (Pan & Tompkins 1985), and again where for 3 s no beat was found. */
const LEARN_CELLS: i32 = 256;
const SEARCH_CELLS: i32 = 384;
/** After 10 s without data the electrodes may be elsewhere: everything is learnt anew. */
const LOST_CELLS: i32 = 1280;
/** What makes a peak clear before its guard time is over: evidence past any ectopic one's, and a fall after it. */
const CLEAR_EVIDENCE: f32 = 6;
const CLEAR_CELLS: i32 = 2;

/** Cells that are complete. */
let limit: i32 = 0;

/** Streams the channel's grid cells up to `end` (seconds) through the detector. */
export function advancePeaks(slot: usize, channel: usize, end: f64): void {
  if (channel != channelOfKind(slot, KIND_ECG)) return;
  limit = cellsAt(channel, end);
  forgetGroup();
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
  clearEvidence(slot);
  for (let e = end - ((end - start) / BLOCK) * BLOCK; e <= end; e += BLOCK) detect(slot, channel, e);
}

/** Notes where data begin and where they are missing; all leads share that. */
function watchData(slot: usize, channel: usize, end: i32): void {
  copyCells(channel, 0, end - BLOCK, BLOCK, end, QRS_SCRATCH_END);
  for (let i = 0; i < BLOCK; i++) {
    const x = load<f32>(QRS_SCRATCH_END + (<usize>i << 2));
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
  weighBlock(slot, channel, FIRST_END - REACH - BLOCK, end - REACH - BLOCK, limit);
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
