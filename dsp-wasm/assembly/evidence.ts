import { isMatched } from './beat_measure';
import { EVIDENCE, LEAD_ENERGY, LEAD_MATCH, LEAD_WIDTH, leadOf, RECENT_CELLS, WIDE } from './ecg_state';
import { CH_SUBS } from './layout';
import { beatLevel, noiseLevel, separation, weightOf } from './levels';
import { ENERGY, groupFeatures, MATCH, prepareGroup, QRS_SCRATCH_END, WIDTH } from './qrs';
import { clearVectors } from './window';

/**
 * What speaks for a beat at each cell, by its looks alone: the mean, over leads and features, of where between noise and
 * beats they are, each weighted by how well it tells the two apart; as log odds.
 */

/** Cells that are weighed at once. */
export const BLOCK: i32 = 16;
/** A peak of the evidence is the greatest within 78 ms on both sides. */
export const GUARD: i32 = 10;
/** Evidence where there are no data, and the least that makes a candidate. */
const NOTHING: f32 = -1000;
const LEAST: f32 = -20;
/** Evidence of one beat is bounded above two surprises, so that clear beats correct a wrong expectation of the period. */
export const MOST_EVIDENCE: f32 = 10;
/**
 * A beat by its breadth alone, where breadth tells beats from T waves and energy says that there is little noise
 * (electrode motion is broad, too). Its evidence is bounded below two surprises, so that none is put between two beats
 * of a regular rhythm.
 */
const WIDE_RATIO: f32 = 2.5;
const CLEAR_RATIO: f32 = 2.5;
const WIDE_EVIDENCE: f32 = 5;
/** Per cell of a block, f32: sum of weighted positions and of weights, of energy and match, and of width. */
const SUM: usize = QRS_SCRATCH_END;
const WEIGHT: usize = SUM + (BLOCK << 2);
const WIDE_SUM: usize = WEIGHT + (BLOCK << 2);
const WIDE_WEIGHT: usize = WIDE_SUM + (BLOCK << 2);

// @ts-ignore: decorator
@inline
export function evidenceOf(slot: usize, cell: i32): usize {
  return slot + EVIDENCE + (<usize>(cell & (RECENT_CELLS - 1)) << 2);
}

// @ts-ignore: decorator
@inline
export function wideOf(slot: usize, cell: i32): usize {
  return slot + WIDE + <usize>(cell & (RECENT_CELLS - 1));
}

/**
 * Evidence of BLOCK cells from cell `from` on, by all features of all leads. Uses no cell at or past `limit`.
 * @param first first cell of the first block ever
 */
export function weighBlock(slot: usize, channel: usize, first: i32, from: i32, limit: i32): void {
  const leads = load<i32>(channel + CH_SUBS);
  prepareGroup(channel, leads, first, from, from + BLOCK, limit);
  let q: f32 = 1;
  let qEnergy: f32 = 1;
  let qWide: f32 = 1;
  clearVectors(SUM, BLOCK); // all four rows
  for (let k = 0; k < leads; k++) {
    const lead = leadOf(slot, k);
    const matched = isMatched(lead);
    groupFeatures(k, lead, from, BLOCK, matched);
    addPositions(SUM, ENERGY, lead + LEAD_ENERGY);
    addPositions(WIDE_SUM, WIDTH, lead + LEAD_WIDTH);
    if (matched) addPositions(SUM, MATCH, lead + LEAD_MATCH);
    qEnergy = max(qEnergy, separation(lead + LEAD_ENERGY));
    qWide = max(qWide, separation(lead + LEAD_WIDTH));
    if (matched) q = max(q, separation(lead + LEAD_MATCH));
  }
  q = max(q, qEnergy);
  makeLogOdds(SUM, q);
  if (qWide >= WIDE_RATIO && qEnergy >= CLEAR_RATIO) makeLogOdds(WIDE_SUM, qWide);
  else memory.fill(WIDE_SUM, 0xff, BLOCK << 2); // NaN
  for (let i = 0; i < BLOCK; i++) {
    const narrow = load<f32>(SUM + (<usize>i << 2));
    const wide = bounded(load<f32>(WIDE_SUM + (<usize>i << 2)));
    store<f32>(evidenceOf(slot, from + i), wide > narrow ? wide : narrow);
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
    const position = f32x4.pmin(f32x4.splat(1.6), f32x4.pmax(f32x4.splat(-0.5), raw));
    v128.store(sum + i, f32x4.add(v128.load(sum + i), v128.and(f32x4.mul(position, weight), present)));
    const weights = sum + (BLOCK << 2) + i;
    v128.store(weights, f32x4.add(v128.load(weights), v128.and(weight, present)));
  }
}

/**
 * Turns sums into log odds of a beat; NOTHING where no feature has data. They are even where the mean position is that of
 * the geometric mean of noise and beats, and the steeper, the better the two are apart: 3 (q - 1), so that at q = 2,
 * where the noise between two beats often is half as large as a beat, a typical beat has odds of 6 to 1.
 */
function makeLogOdds(sum: usize, q: f32): void {
  const steepness = f32x4.splat(min<f32>(40, max<f32>(3, <f32>3 * (q - 1))));
  const even = f32x4.splat(<f32>1 / (<f32>1 + sqrt<f32>(q)));
  for (let i: usize = 0; i < <usize>BLOCK << 2; i += 16) {
    const weight = v128.load(sum + (BLOCK << 2) + i);
    const odds = f32x4.mul(steepness, f32x4.sub(f32x4.div(v128.load(sum + i), weight), even));
    v128.store(sum + i, v128.bitselect(odds, f32x4.splat(NOTHING), f32x4.gt(weight, f32x4.splat(0))));
  }
}

export function isPeak(slot: usize, cell: i32): bool {
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

/** Forgets the evidence so far. */
export function clearEvidence(slot: usize): void {
  for (let i = 0; i < RECENT_CELLS; i++) store<f32>(evidenceOf(slot, i), NOTHING);
}
