import { vertex } from '../math/parabola';
import { clearVectors } from '../math/vector';
import { ECG_HZ } from '../memory/channel';
import { Lead, Level, RECENT } from '../memory/ecg_state';
import { Row } from '../memory/row';
import { isMatched, matchTemplates, REACH, Stretch, TEMPLATE_HALF } from './features';
import { separation, weightOf } from './levels';
import { EVIDENCE, FLAT, HUM, KINDS } from './tuning';

/**
 * The evidence for a beat at each grid sample, as log odds, from its morphology alone: the mean position of the features
 * between the levels of noise and of beats, each weighted by how well it separates these two.
 */

/**
 * A detector advances in blocks of grid samples and learns only at the end of a block, so any chunking of the data and any spacing of the
 * steps gives the same beats. Blocks end 4 grid samples before whole seconds, because the newest grid samples of a step are not complete
 * yet. A grid sample becomes a candidate REACH + GUARD samples later, 0.2 s.
 */
export const BLOCK: i32 = 16;
export const FIRST_END: i32 = 12;
/** First grid sample whose evidence is computed. */
export const FIRST_SAMPLE: i32 = FIRST_END - REACH - BLOCK;
/** Evidence without data. */
const NOTHING: f32 = -1000;

/** Log odds of a beat at a grid sample. */
export function evidenceAt(lead: Lead, sample: i32): f32 {
  return lead.evidence[placeOf(sample)];
}

/** Whether the evidence for a beat at a grid sample comes only from its breadth. */
export function isWide(lead: Lead, sample: i32): bool {
  return reinterpret<i32>(lead.sharpness[placeOf(sample)]) < 0;
}

/** How sharp the wave at a grid sample is: its energy over its width. */
export function sharpnessAt(lead: Lead, sample: i32): f32 {
  return abs<f32>(lead.sharpness[placeOf(sample)]);
}

/** Kind of the beat that the lead is like nearest to a grid sample, within GUARD, plus 1; 0: none. */
export function kindAt(lead: Lead, sample: i32): i32 {
  for (let k = 0; k <= EVIDENCE.GUARD; k++) {
    const kind = lead.kinds[placeOf(sample - k)] || lead.kinds[placeOf(sample + k)];
    if (kind) return kind;
  }
  return 0;
}

/** Place in the rings, in which each block lies in one piece. */
function placeOf(sample: i32): i32 {
  return (sample - FIRST_SAMPLE) & (RECENT - 1);
}

/**
 * Computes the evidence of BLOCK grid samples from `from` on, which are in `group`.
 * @param work a row of 4 BLOCK values to work in
 */
export function weighBlock(lead: Lead, group: Stretch, from: i32, work: Row<f32>): void {
  const at = from - group.from;
  const matched = isMatched(lead);
  if (matched) matchTemplates(lead, at, BLOCK, group);
  watchSmooth(lead, group.energy, at, from);
  const sum = work;
  const wideSum = changetype<Row<f32>>(work.at(2 * BLOCK));
  clearVectors(work.at(0), BLOCK);
  addPositions(sum, group.energy.at(at), lead.energy);
  addPositions(wideSum, group.width.at(at), lead.width);
  if (matched) addPositions(sum, group.match.at(at), lead.match);
  const energy = separation(lead.energy);
  makeLogOdds(sum, matched ? max(energy, separation(lead.match)) : energy);
  const width = separation(lead.width);
  const broadens = width >= EVIDENCE.WIDE_RATIO && energy >= EVIDENCE.WIDE_RATIO;
  if (broadens) makeLogOdds(wideSum, width);
  const sign = i32x4.splat(1 << 31);
  const like = f32x4.splat(KINDS.LIKE * KINDS.LIKE);
  const least = f32x4.splat(matched ? lead.beatAt(lead.beatCount - 1).amplitude / 2 : Infinity);
  const place = placeOf(from);
  for (let i = 0; i < BLOCK; i += 4) {
    const narrow = v128.load(sum.at(i));
    const wide = broadens ? bounded(v128.load(wideSum.at(i))) : f32x4.splat(NOTHING);
    const sharpness = f32x4.div(v128.load(group.energy.at(at + i)), v128.load(group.width.at(at + i)));
    v128.store(lead.evidence.at(place + i), f32x4.max(wide, narrow));
    v128.store(lead.sharpness.at(place + i), v128.bitselect(narrow, sharpness, sign));
    const projection = v128.load(group.projection.at(at + i));
    const isLike = f32x4.gt(v128.load(group.match.at(at + i)), f32x4.mul(like, projection));
    const isBeat = v128.and(isLike, f32x4.gt(projection, least));
    v128.store(lead.kinds.at(place + i), v128.and(v128.load(group.kinds.at(at + i)), isBeat));
  }
}

/** Whether hum outweighs all else. */
export function hums(lead: Lead): bool {
  return lead.fast > HUM.MOST * lead.slow;
}

/**
 * Whether beats may be those of harmonics of the hum that the sampling, `period` seconds apart, brings down to the rates of hearts: the first
 * one has the number of samples in a period of the mains, and the height of a sawtooth's or a square's is that part of the hum's, of which the
 * straight lines of resample.ts leave sinc^2, and their means another one.
 */
export function mayBeHum(lead: Lead, period: f64): bool {
  if (!hums(lead)) return false;
  if (isTooFast(lead)) return true;
  const phase = Math.PI * HUM.MAINS * period;
  const line = Math.sin(phase) / phase;
  const mean = Math.sin(HUM.PHASE) / HUM.PHASE;
  const height = Math.sqrt((2 * <f64>lead.fast) / <f64>(BLOCK - 2)) / Math.sin(HUM.PHASE);
  return <f64>lead.height * line * line * mean * mean < (Math.PI / 2) * height * HUM.MAINS * period;
}

/** Whether the newest beats follow each other too soon for the level to show a shift. */
function isTooFast(lead: Lead): bool {
  const interval = lead.beatCount ? lead.beatAt(lead.beatCount - 1).interval : 0;
  return interval > 0 && interval < (3.0 / <f32>ECG_HZ) * <f32>TEMPLATE_HALF;
}

/** Whether a wave is too slow for a QRS complex. */
export function isSlowWave(features: Stretch, i: i32): bool {
  return features.energy[i] < EVIDENCE.SLOW * features.width[i];
}

/** Where a link has lost data, it may draw a line to the next ones, which is far smoother than the noise between two beats. */
function watchSmooth(lead: Lead, energy: Row<f32>, at: i32, from: i32): void {
  const most = f32x4.splat(FLAT.SMOOTH * lead.calm);
  for (let i = 0; i < BLOCK; i += 4) {
    const bits = i32x4.bitmask(f32x4.lt(v128.load(energy.at(at + i)), most));
    if (bits) lead.flat = max(lead.flat, from + i + 32 - clz(bits));
  }
}

/** Limits evidence to MOST_WIDE and one more, smoothly, so that its maximum stays at the same place. */
function bounded(evidence: v128): v128 {
  const most = f32x4.splat(EVIDENCE.MOST_WIDE);
  const limited = f32x4.sub(f32x4.add(most, f32x4.splat(1)), f32x4.div(most, evidence));
  return v128.bitselect(limited, evidence, f32x4.gt(evidence, most));
}

/** Adds the position of a feature between noise (0) and beats (1), limited so that an artefact counts no more than a beat. */
function addPositions(sum: Row<f32>, feature: usize, level: Level): void {
  if (!(level.beat > 0)) return;
  const noise = f32x4.splat(level.noise);
  const scale = f32x4.splat(<f32>1 / (level.beat - level.noise));
  const weight = f32x4.splat(weightOf(level));
  for (let i = 0; i < BLOCK; i += 4) {
    const v = v128.load(feature + ((<usize>i) << 2));
    const present = f32x4.eq(v, v);
    const raw = f32x4.mul(f32x4.sub(v, noise), scale);
    const position = f32x4.pmin(f32x4.splat(EVIDENCE.FARTHEST), raw);
    const sums = v128.load(sum.at(i));
    const weights = v128.load(sum.at(BLOCK + i));
    v128.store(sum.at(i), f32x4.add(sums, v128.and(f32x4.mul(position, weight), present)));
    v128.store(sum.at(BLOCK + i), f32x4.add(weights, v128.and(weight, present)));
  }
}

/**
 * Converts sums to log odds of a beat; NOTHING if no feature has data. The odds are even at the geometric mean of noise and
 * beats. Their slope, 3 (q - 1), increases with the separation q of the two levels: at q = 2, where the noise between two
 * beats is often half as large as a beat, a typical beat has odds of 6 to 1.
 */
function makeLogOdds(sum: Row<f32>, q: f32): void {
  const slope = EVIDENCE.STEEPNESS * (q - 1);
  const steepness = f32x4.splat(max<f32>(EVIDENCE.STEEPNESS, slope));
  const even = f32x4.splat(<f32>1 / (<f32>1 + sqrt<f32>(q)));
  for (let i = 0; i < BLOCK; i += 4) {
    const weight = v128.load(sum.at(BLOCK + i));
    const odds = f32x4.mul(steepness, f32x4.sub(f32x4.div(v128.load(sum.at(i)), weight), even));
    v128.store(sum.at(i), v128.bitselect(odds, f32x4.splat(NOTHING), f32x4.gt(weight, f32x4.splat(0))));
  }
}

/** Whether a grid sample has the largest evidence within GUARD. */
export function isPeak(lead: Lead, sample: i32): bool {
  const v = evidenceAt(lead, sample);
  if (!(v > -EVIDENCE.MOST)) return false;
  for (let k = 1; k <= EVIDENCE.GUARD; k++) {
    if (evidenceAt(lead, sample - k) >= v || evidenceAt(lead, sample + k) > v) return false;
  }
  return true;
}

/** Position of the maximum of the evidence around a candidate, as a fraction of a grid sample. */
export function topOf(lead: Lead, sample: i32): f64 {
  const top = vertex<f32>(evidenceAt(lead, sample - 1), evidenceAt(lead, sample), evidenceAt(lead, sample + 1));
  return <f64>sample + <f64>top;
}

/** Clears the evidence. */
export function clearEvidence(lead: Lead): void {
  for (let i = 0; i < RECENT; i++) {
    lead.evidence[i] = NOTHING;
    lead.kinds[i] = 0;
  }
}
