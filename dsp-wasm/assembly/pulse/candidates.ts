import { exp4, log4 } from '../math/log';
import { clearVectors, mostLane, productsOf, sumLanes, sumsOf } from '../math/vector';
import { BINS, BINS_ROW } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { MOTION_WEIGHTS } from './motion_weights';
import { BIN_HZ, LEVELS, Spectra } from './records';
import { CANDIDATE } from './tuning';

/**
 * The likelihood of a rate in motion. Arms and steps cause lines in the optical channels that may be far stronger than the
 * pulse's, so the strongest line is not enough. A small network separates the pulse's line from the motion's by fifteen traits
 * of each candidate: the power of the optical channels, of the accelerometer, and of what the accelerometer does not explain of
 * the optical channels (residual.ts), at half the rate, the rate, one and a half times, twice and three times the rate. A line
 * that the accelerometer also shows is no evidence for or against a rate, unless its phase tells more.
 */

/** Number of rates that are compared in motion, one per bin, and traits of each. */
export const CANDIDATES: i32 = 52;
const TRAIT_COUNT: i32 = 15;
/** Bin of the first candidate, 30 bpm. */
export const FIRST_CANDIDATE: i32 = 8;
/** Bins over which powers are scaled to a mean of one: 45 to 300 bpm. */
const FIRST_SCALED: i32 = 12;
const PAST_SCALED: i32 = 80;
const SCALED: f32 = 68;

/** Traits of the candidates, CANDIDATES apart, and room for those of four more, which are not used. */
export const TRAITS = changetype<Row<f32>>(memory.data((TRAIT_COUNT * CANDIDATES + 4) * 4, 16));
/** Power of the axes together. */
const AXES_POWER = changetype<Row<f32>>(memory.data(BINS_ROW * 4, 16));

/** Logarithm of each candidate's rate against 100 bpm. */
const PACE = changetype<Row<f32>>(memory.data(CANDIDATES * 4, 16));

function makePaces(): void {
  for (let i = 0; i < CANDIDATES; i++) PACE[i] = <f32>Math.log(0.6 * <f64>BIN_HZ * <f64>(FIRST_CANDIDATE + i));
}
makePaces();

/** Writes the mean of the logarithms of the powers of the used optical channels, each scaled to a mean of one. */
export function findOpticalLevels(power: Row<v128>, lanes: v128, levels: Row<f32>): void {
  let sum = f32x4.splat(0);
  for (let k = FIRST_SCALED; k < PAST_SCALED; k++) sum = f32x4.add(sum, power[k]);
  const used = v128.and(lanes, f32x4.gt(sum, f32x4.splat(1e-20)));
  const scale = v128.and(used, f32x4.div(f32x4.splat(SCALED), f32x4.max(sum, f32x4.splat(1e-20))));
  const share = f32x4.splat(<f32>1 / <f32>max(1, popcnt(i32x4.bitmask(used))));
  for (let k = 4; k < BINS; k += 4) {
    const a = floored(power[k], scale, used);
    const b = floored(power[k + 1], scale, used);
    const c = floored(power[k + 2], scale, used);
    const d = floored(power[k + 3], scale, used);
    v128.store(levels.at(k), f32x4.mul(log4(productsOf(a, b, c, d)), share));
  }
  fillPast(levels);
}

/** Power, scaled, plus its floor; 1, whose logarithm is 0, in unused lanes. */
function floored(power: v128, scale: v128, used: v128): v128 {
  return v128.bitselect(f32x4.add(f32x4.mul(power, scale), f32x4.splat(CANDIDATE.FLOOR)), f32x4.splat(1), used);
}

/** The same of the axes together. */
export function findAxesLevels(powers: Row<v128>, motion: f32, levels: Row<f32>): void {
  let sum = f32x4.splat(0);
  for (let k = 4; k < BINS; k += 4) {
    const power = sumsOf(powers[k], powers[k + 1], powers[k + 2], powers[k + 3]);
    v128.store(AXES_POWER.at(k), power);
    if (k >= FIRST_SCALED && k < PAST_SCALED) sum = f32x4.add(sum, power);
  }
  const scale = f32x4.splat((motion * SCALED) / max<f32>(1e-20, sumLanes(sum)));
  for (let k = 4; k < BINS; k += 4) {
    const power = v128.load(AXES_POWER.at(k));
    v128.store(levels.at(k), log4(f32x4.add(f32x4.mul(power, scale), f32x4.splat(CANDIDATE.FLOOR))));
  }
  fillPast(levels);
}

/** Fills the bins after the spectrum's whole vectors. */
function fillPast(levels: Row<f32>): void {
  for (let k = BINS - 1; k < LEVELS; k += 4) v128.store(levels.at(k), f32x4.splat(CANDIDATE.PAST_LEVEL));
}

/**
 * Writes the likelihood of each candidate relative to the most likely one to `scores`, CANDIDATES and four that are not used.
 * @param full share of the window that has values
 */
export function scoreCandidates(spectra: Spectra, full: f32, scores: Row<f32>): void {
  for (let i = 0; i < CANDIDATES; i += 4) writeTraits(spectra, i);
  for (let i = 0; i < CANDIDATES; i += 28) weigh(i, scores);
  let most = f32x4.splat(-1e9);
  for (let i = 0; i < CANDIDATES; i += 4) most = f32x4.pmax(most, v128.load(scores.at(i)));
  const top = f32x4.splat(mostLane(most));
  const temper = f32x4.splat(CANDIDATE.TEMPER * full);
  for (let i = 0; i < CANDIDATES; i += 4) {
    const below = f32x4.mul(f32x4.sub(v128.load(scores.at(i)), top), temper);
    v128.store(scores.at(i), exp4(f32x4.pmax(f32x4.splat(-40), below)));
  }
}

/** The traits of four candidates. */
function writeTraits(spectra: Spectra, i: i32): void {
  const light = spectra.opticalLevel;
  const axes = spectra.axesLevel;
  const rest = spectra.residualLevel;
  const k = FIRST_CANDIDATE + i;
  const own = v128.load(light.at(k));
  const about = f32x4.add(v128.load(light.at(k - 4)), v128.load(light.at(k + 4)));
  putTrait(0, i, halves(light, k));
  putTrait(1, i, own);
  putTrait(2, i, oneAndHalves(light, k));
  putTrait(3, i, doubles(light, k));
  putTrait(4, i, triples(light, k));
  putTrait(5, i, halves(axes, k));
  putTrait(6, i, v128.load(axes.at(k)));
  putTrait(7, i, oneAndHalves(axes, k));
  putTrait(8, i, doubles(axes, k));
  putTrait(9, i, v128.load(rest.at(k)));
  putTrait(10, i, f32x4.sub(own, f32x4.mul(about, f32x4.splat(0.5))));
  putTrait(11, i, v128.load(PACE.at(i)));
  putTrait(12, i, halves(rest, k));
  putTrait(13, i, doubles(rest, k));
  const left = f32x4.add(v128.load(rest.at(k - 4)), v128.load(rest.at(k + 4)));
  putTrait(14, i, f32x4.sub(v128.load(rest.at(k)), f32x4.mul(left, f32x4.splat(0.5))));
}

function putTrait(trait: i32, i: i32, values: v128): void {
  v128.store(TRAITS.at(trait * CANDIDATES + i), values);
}

/** Levels at half of the bins k to k + 3, k a multiple of four. */
function halves(levels: Row<f32>, k: i32): v128 {
  const whole = v128.load(levels.at(k / 2));
  const between = f32x4.mul(f32x4.add(whole, v128.load(levels.at(k / 2 + 1))), f32x4.splat(0.5));
  return v128.shuffle<f32>(whole, between, 0, 4, 1, 5);
}

/** Levels at one and a half times these bins. */
function oneAndHalves(levels: Row<f32>, k: i32): v128 {
  const first = k + k / 2;
  return v128.shuffle<f32>(wholeAndHalf(levels.at(first)), wholeAndHalf(levels.at(first + 3)), 0, 1, 4, 5);
}

/** The level at a place, and the level one and a half bins further. */
function wholeAndHalf(place: usize): v128 {
  const x = v128.load(place);
  const between = f32x4.mul(f32x4.add(x, v128.load(place, 4)), f32x4.splat(0.5));
  return v128.shuffle<f32>(x, between, 0, 5, 2, 3);
}

/** Levels at twice these bins. */
function doubles(levels: Row<f32>, k: i32): v128 {
  return v128.shuffle<f32>(v128.load(levels.at(2 * k)), v128.load(levels.at(2 * k + 4)), 0, 2, 4, 6);
}

/** Levels at three times these bins. */
function triples(levels: Row<f32>, k: i32): v128 {
  const first = levels.at(3 * k);
  const three = v128.shuffle<f32>(v128.load(first), v128.load(first, 16), 0, 3, 6, 6);
  return v128.shuffle<f32>(three, v128.load(first, 32), 0, 1, 2, 5);
}

/** Address of the network's weights: HIDDEN rows of TRAIT_COUNT + 2. */
export function motionWeights(): usize {
  return changetype<usize>(MOTION_WEIGHTS);
}

/**
 * Writes the log likelihoods of 28 candidates: one hidden layer of leaky rectifiers. Seven sums fit into registers, so that
 * each weight is loaded once for all.
 */
function weigh(i: i32, scores: Row<f32>): void {
  const to = scores.at(i);
  clearVectors(to, 7);
  for (let unit = 0; unit < CANDIDATE.HIDDEN; unit++) {
    const weights = motionWeights() + <usize>(unit * (TRAIT_COUNT + 2)) * sizeof<f32>();
    let a = v128.load32_splat(weights, TRAIT_COUNT * sizeof<f32>());
    let b = a;
    let c = a;
    let d = a;
    let e = a;
    let f = a;
    let g = a;
    let traits = TRAITS.at(i);
    for (let w = weights; w < weights + TRAIT_COUNT * sizeof<f32>(); w += sizeof<f32>()) {
      const weight = v128.load32_splat(w);
      a = f32x4.add(a, f32x4.mul(v128.load(traits), weight));
      b = f32x4.add(b, f32x4.mul(v128.load(traits, 16), weight));
      c = f32x4.add(c, f32x4.mul(v128.load(traits, 32), weight));
      d = f32x4.add(d, f32x4.mul(v128.load(traits, 48), weight));
      e = f32x4.add(e, f32x4.mul(v128.load(traits, 64), weight));
      f = f32x4.add(f, f32x4.mul(v128.load(traits, 80), weight));
      g = f32x4.add(g, f32x4.mul(v128.load(traits, 96), weight));
      traits += CANDIDATES * sizeof<f32>();
    }
    const out = v128.load32_splat(weights, (TRAIT_COUNT + 1) * sizeof<f32>());
    addOutput(to, a, out);
    addOutput(to + 16, b, out);
    addOutput(to + 32, c, out);
    addOutput(to + 48, d, out);
    addOutput(to + 64, e, out);
    addOutput(to + 80, f, out);
    addOutput(to + 96, g, out);
  }
}

/** Adds the output of a hidden unit to four scores. */
function addOutput(score: usize, x: v128, weight: v128): void {
  const rectified = f32x4.pmax(x, f32x4.mul(x, f32x4.splat(CANDIDATE.LEAK)));
  v128.store(score, f32x4.add(v128.load(score), f32x4.mul(rectified, weight)));
}

/** Share of the candidates' likelihood within two bins of a rate, bpm. */
export function likelihoodShare(scores: Row<f32>, bpm: f32): f32 {
  const place = bpm / (60 * BIN_HZ) - <f32>FIRST_CANDIDATE;
  let near: f32 = 0;
  let all: f32 = 1e-6;
  for (let i = 0; i < CANDIDATES; i++) {
    all += scores[i];
    if (abs<f32>(<f32>i - place) < 2) near += scores[i];
  }
  return near / all;
}
