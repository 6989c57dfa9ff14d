import { vertex } from '../math/parabola';
import { clearVectors } from '../math/vector';
import { Channel } from '../memory/channel';
import { EcgState, Lead, Level, RECENT, TEMPLATES } from '../memory/ecg_state';
import { Row } from '../memory/row';
import { groupFeatures, prepareGroup } from './features';
import { separation, weightOf } from './levels';
import { BLOCK, ENERGY, MATCH, SUM, WIDE_SUM, WIDTH } from './scratch';
import {
  CLEAR_RATIO,
  FARTHEST_POSITION,
  GUARD,
  LEAST_EVIDENCE,
  LEAST_STEEPNESS,
  LOWEST_POSITION,
  MOST_STEEPNESS,
  PAST_BOUND,
  SMOOTH_SHARE,
  STEEPNESS,
  TEMPLATE_BEATS,
  WIDE_EVIDENCE,
  WIDE_RATIO,
} from './tuning';

/**
 * The evidence for a beat at each grid sample, as log odds, from its morphology alone: the mean position of the features of
 * all leads between the levels of noise and of beats, each weighted by how well it separates these two.
 */

/** Evidence without data. */
const NOTHING: f32 = -1000;

/** Log odds of a beat at a grid sample. */
export function evidenceAt(ecg: EcgState, sample: i32): f32 {
  return ecg.evidence[sample & (RECENT - 1)];
}

/** Whether the evidence for a beat at a grid sample comes only from its breadth. */
export function isWide(ecg: EcgState, sample: i32): bool {
  return ecg.wide[sample & (RECENT - 1)];
}

/** Whether the lead has a template. */
export function isMatched(lead: Lead): bool {
  for (let k = 0; k < TEMPLATES; k++) if (lead.templateAt(k).learnt >= TEMPLATE_BEATS) return true;
  return false;
}

/**
 * Computes the evidence of BLOCK grid samples from `from` on, from all features of all leads. Uses no grid sample at or
 * after `limit`.
 * @param first first grid sample of the first block ever
 */
export function weighBlock(ecg: EcgState, channel: Channel, first: i32, from: i32, limit: i32): void {
  prepareGroup(channel, channel.subs, first, from, from + BLOCK, limit);
  let q: f32 = 1;
  let qEnergy: f32 = 1;
  let qWide: f32 = 1;
  clearVectors(SUM.at(0), BLOCK / 2);
  clearVectors(WIDE_SUM.at(0), BLOCK / 2);
  for (let k = 0; k < channel.subs; k++) {
    const lead = ecg.leadAt(k);
    const matched = isMatched(lead);
    groupFeatures(k, lead, from, BLOCK, matched);
    if (k === ecg.lead) watchSmooth(ecg, lead.calm, from);
    addPositions(SUM, ENERGY, lead.energy);
    addPositions(WIDE_SUM, WIDTH, lead.width);
    if (matched) addPositions(SUM, MATCH, lead.match);
    qEnergy = max(qEnergy, separation(lead.energy));
    qWide = max(qWide, separation(lead.width));
    if (matched) q = max(q, separation(lead.match));
  }
  q = max(q, qEnergy);
  makeLogOdds(SUM, q);
  if (qWide >= WIDE_RATIO && qEnergy >= CLEAR_RATIO) makeLogOdds(WIDE_SUM, qWide);
  else for (let i = 0; i < BLOCK; i++) WIDE_SUM[i] = NaN;
  for (let i = 0; i < BLOCK; i++) {
    const narrow = SUM[i];
    const wide = bounded(WIDE_SUM[i]);
    ecg.evidence[(from + i) & (RECENT - 1)] = wide > narrow ? wide : narrow;
    ecg.wide[(from + i) & (RECENT - 1)] = narrow < 0;
  }
}

/** Where a link has lost data, it may draw a line to the next ones, which is far smoother than the noise between two beats. */
function watchSmooth(ecg: EcgState, calm: f32, from: i32): void {
  for (let i = 0; i < BLOCK; i++) if (ENERGY[i] < SMOOTH_SHARE * calm) ecg.flat = max(ecg.flat, from + i + 1);
}

/** Limits evidence smoothly to about WIDE_EVIDENCE, so that its maximum stays at the same place. */
function bounded(evidence: f32): f32 {
  return evidence > WIDE_EVIDENCE ? WIDE_EVIDENCE + PAST_BOUND * (evidence - WIDE_EVIDENCE) : evidence;
}

/** Adds the position of a feature between noise (0) and beats (1), limited so that an artefact counts no more than a beat. */
function addPositions(sum: Row<f32>, feature: Row<f32>, level: Level): void {
  if (!(level.beat > 0)) return;
  const noise = f32x4.splat(level.noise);
  const scale = f32x4.splat(<f32>1 / (level.beat - level.noise));
  const weight = f32x4.splat(weightOf(level));
  for (let i = 0; i < BLOCK; i += 4) {
    const v = v128.load(feature.at(i));
    const present = f32x4.eq(v, v);
    const raw = f32x4.mul(f32x4.sub(v, noise), scale);
    const position = f32x4.pmin(f32x4.splat(FARTHEST_POSITION), f32x4.pmax(f32x4.splat(LOWEST_POSITION), raw));
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
  const steepness = f32x4.splat(min<f32>(MOST_STEEPNESS, max<f32>(LEAST_STEEPNESS, STEEPNESS * (q - 1))));
  const even = f32x4.splat(<f32>1 / (<f32>1 + sqrt<f32>(q)));
  for (let i = 0; i < BLOCK; i += 4) {
    const weight = v128.load(sum.at(BLOCK + i));
    const odds = f32x4.mul(steepness, f32x4.sub(f32x4.div(v128.load(sum.at(i)), weight), even));
    v128.store(sum.at(i), v128.bitselect(odds, f32x4.splat(NOTHING), f32x4.gt(weight, f32x4.splat(0))));
  }
}

/** Whether a grid sample has the largest evidence within GUARD. */
export function isPeak(ecg: EcgState, sample: i32): bool {
  const v = evidenceAt(ecg, sample);
  if (!(v > LEAST_EVIDENCE)) return false;
  for (let k = 1; k <= GUARD; k++) {
    if (evidenceAt(ecg, sample - k) >= v || evidenceAt(ecg, sample + k) > v) return false;
  }
  return true;
}

/** Position of the maximum of the evidence around a candidate, as a fraction of a grid sample. */
export function topOf(ecg: EcgState, sample: i32): f64 {
  const top = vertex<f32>(evidenceAt(ecg, sample - 1), evidenceAt(ecg, sample), evidenceAt(ecg, sample + 1));
  return <f64>sample + <f64>top;
}

/** Clears the evidence. */
export function clearEvidence(ecg: EcgState): void {
  for (let i = 0; i < RECENT; i++) ecg.evidence[i] = NOTHING;
}
