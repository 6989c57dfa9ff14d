import { activityOf } from '../grid/activity';
import { TRUSTED } from '../grid/tuning';
import { growthOver, usualAfter } from '../grid/usual';
import { completeBy, copyGrid } from '../grid/window';
import { total } from '../math/vector';
import { Channel, KIND_PPG_IR, KIND_PPG_RED, SLOW_HZ } from '../memory/channel';
import { Estimate } from '../memory/map';
import { Row, rowAt, rowOf } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { confidenceOf, ratioFeatures } from './confidence';
import { centre } from './pulsatility';
import { RATIO } from './tuning';
import { flatShare, meanOf, Pooled, SECOND, SECONDS, Sums, WINDOW } from './window';

/**
 * SpO2 as the ratio of ratios R = (AC red / DC red) / (AC infrared / DC infrared) (Webster, Design of Pulse Oximeters,
 * 1997, chapter 4), by regression over the whole pulse instead of peaks and troughs. The AC is the slope of an optical
 * channel over 1/8 s, which removes drift without a filter that must settle: half a window is enough. The regression
 * covers one second, about a beat, at a time, and only seconds whose two channels agree are pooled, so a jolt in one of
 * them is left out, and so is a second whose own ratio is far from the median's: a wearable that changes its light makes a step in
 * both channels, with a ratio of about one. The levels are those of the pooled seconds, too: a gain that changes in one channel changes its pulse and its
 * level alike. The line is the reduced major axis (std / std): noise in infrared does not reduce R, as it would with least squares.
 *
 * Motion reaches both channels alike and in rhythm, as a pulse does, but with a ratio of about one: it reads as 82 to 92 %, whatever the
 * saturation. So a moving wearer's reading is not trusted, and the confidence weighs how much the light moves like a pulse (pulsatility.ts), and
 * whether something else moves both channels (confidence.ts).
 */

/** Grid samples that a slope reaches back: 4 apart, each smoothed over 3. */
const REACH: i32 = 6;
/** Sum of the smoothing's weights, the factor by which slopes are too large. */
const GAIN: f64 = 4;
/** Grid samples before a row that slopes reach back to, up to whole vectors. */
const MARGIN: i32 = 8;

/** One optical channel, and the slopes of the two, each after a margin. */
const RAW = changetype<Row<f32>>(memory.data((MARGIN + WINDOW) * 4, 16) + MARGIN * 4);
const RED = changetype<Row<f32>>(memory.data((MARGIN + WINDOW) * 4, 16) + MARGIN * 4);
const INFRARED = changetype<Row<f32>>(memory.data((MARGIN + WINDOW) * 4, 16) + MARGIN * 4);
/** By second; of the slopes, and of the slopes over 1/4 s. */
const SUMS = rowOf<Sums>(SECONDS);
const WIDE = rowOf<Sums>(SECONDS);
/** By second: mean levels. */
const RED_LEVELS = rowOf<f64>(SECONDS);
const INFRARED_LEVELS = rowOf<f64>(SECONDS);
const pooled = new Pooled();

/** Estimate of the window that ends at `end` (seconds): writes R and confidence; false for none. */
export function estimateSpo2(session: Session, end: f64, to: Estimate): bool {
  const red = channelOfKind(session, KIND_PPG_RED);
  const infrared = channelOfKind(session, KIND_PPG_IR);
  session.spo2.agree = false;
  if (!red || !infrared) return false;
  const still = activityOf(session, end, RAW.at(0)).stillness;
  const redLevel = findSlopes(red, end, RED, RED_LEVELS);
  // While the wearer moves, there is nothing to ask of the waveform
  const asks = still > 0;
  const redFlat = asks ? flatShare(RAW) : 0;
  const infraredLevel = findSlopes(infrared, end, INFRARED, INFRARED_LEVELS);
  const flat = asks ? max(redFlat, flatShare(RAW)) : 0;
  if (!(redLevel > 0 && infraredLevel > 0)) return false;
  const held = sumSeconds(RED, INFRARED, asks);
  if (held < RATIO.LEAST_SECONDS) return false;
  pool(RATIO.ACCEPTED, RATIO.MOST_DIFFERENCE, usualRatio(held), pooled);
  const accepted = pooled.seconds;
  if (!accepted) pool(-1, Infinity, 1, pooled);
  const sums = pooled.near;
  session.spo2.agree = sums.both >= RATIO.ACCEPTED * Math.sqrt(sums.red * sums.infrared);
  if (!(sums.red > 0 && sums.infrared > 0)) return false;
  const perfusion = Math.sqrt(sums.infrared / <f64>(max(accepted, 1) * SECOND)) / GAIN / infraredLevel;
  const levels = pooled.infraredLevel / pooled.redLevel;
  to.value = Math.sqrt(sums.red / sums.infrared) * levels;
  to.confidence = 0;
  if (!asks || !accepted || !(perfusion <= RATIO.MOST_PERFUSION)) return true;
  const share = <f64>accepted / <f64>held;
  const features = ratioFeatures(pooled, share, flat, to.value, levels, INFRARED, centre(INFRARED));
  const size = Math.log(perfusion);
  const usual = session.spo2.usualPerfusion;
  // A larger pulse may be a movement, and becomes the usual one only if nothing but its size is in doubt
  session.spo2.usualPerfusion = usualAfter<f64>(usual, size, still * confidenceOf(features, 0) >= TRUSTED);
  to.confidence = still * confidenceOf(features, growthOver<f64>(usual, size));
  return true;
}

/**
 * Writes the window's slopes (NaN where a grid sample is missing) to `to`, and the mean level of each second; returns that of the window, 0 if there is none.
 */
function findSlopes(channel: Channel, end: f64, to: Row<f32>, levels: Row<f64>): f64 {
  const from = <i32>end * SLOW_HZ - WINDOW;
  if (!copyGrid(channel, 0, from, WINDOW, completeBy(channel, end), RAW.at(0))) return 0;
  for (let i = 0; i < WINDOW; i += 4) v128.store(to.at(i), f32x4.sub(smooth(RAW.at(i)), smooth(RAW.at(i - 4))));
  // The margin before the window does not belong to it.
  for (let i = 0; i < REACH; i++) to[i] = NaN;
  for (let s = 0; s < SECONDS; s++) levels[s] = channel.offsets[0] + meanOf(rowAt<f32>(RAW.at(s * SECOND)), SECOND);
  return channel.offsets[0] + meanOf(RAW, WINDOW);
}

/** Four grid samples, each with the two before it, weights 1, 2, 1. */
function smooth(x: usize): v128 {
  const middle = v128.load(x - 4);
  return f32x4.add(f32x4.add(v128.load(x), v128.load(x - 8)), f32x4.add(middle, middle));
}

/** Sums the products of each second's slopes, to WIDE only if `wide`; returns the number of seconds with enough data. */
function sumSeconds(red: Row<f32>, infrared: Row<f32>, wide: bool): i32 {
  let held = 0;
  for (let s = 0; s < SECONDS; s++) {
    const isHeld = 2 * sumSecond(red, infrared, s * SECOND, false, SUMS[s]) >= SECOND;
    if (!isHeld) SUMS[s].red = NaN;
    if (wide) sumSecond(red, infrared, s * SECOND, true, WIDE[s]);
    held += <i32>isHeld;
  }
  return held;
}

/**
 * Writes a second's sums; returns the number of slopes that exist. A slope that is missing in one channel counts in neither.
 * @param wide sum slopes over 1/4 s, each of two that follow each other. The first of the window reach back to the margin; they are
 *   missing in any case (findSlopes).
 */
function sumSecond(reds: Row<f32>, infrareds: Row<f32>, from: i32, wide: bool, sums: Sums): f64 {
  let n = f32x4.splat(0);
  let a = n;
  let b = n;
  let aa = n;
  let ab = n;
  let bb = n;
  for (let i = from; i < from + SECOND; i += 4) {
    let red = v128.load(reds.at(i));
    let infrared = v128.load(infrareds.at(i));
    if (wide) {
      red = f32x4.add(red, v128.load(reds.at(i - 4)));
      infrared = f32x4.add(infrared, v128.load(infrareds.at(i - 4)));
    }
    const both = v128.and(f32x4.eq(red, red), f32x4.eq(infrared, infrared));
    const x = v128.and(red, both);
    const y = v128.and(infrared, both);
    n = f32x4.add(n, v128.and(f32x4.splat(1), both));
    a = f32x4.add(a, x);
    b = f32x4.add(b, y);
    aa = f32x4.add(aa, f32x4.mul(x, x));
    ab = f32x4.add(ab, f32x4.mul(x, y));
    bb = f32x4.add(bb, f32x4.mul(y, y));
  }
  const count = total(n);
  const sumA = total(a);
  const sumB = total(b);
  sums.red = total(aa) - (sumA * sumA) / count;
  sums.both = total(ab) - (sumA * sumB) / count;
  sums.infrared = total(bb) - (sumB * sumB) / count;
  sums.whole = total(bb);
  return count;
}

/** Median over the held seconds of red² / infrared²; of two in the middle, the lower one. */
function usualRatio(held: i32): f64 {
  let median = Infinity;
  for (let s = 0; s < SECONDS; s++) {
    const own = SUMS[s].red / SUMS[s].infrared;
    let below = 0;
    for (let other = 0; other < SECONDS; other++) below += <i32>(SUMS[other].red / SUMS[other].infrared <= own);
    if (2 * below >= held) median = min(median, own);
  }
  return median;
}

/**
 * Adds up the seconds whose two channels correlate at least this much, and whose red² / infrared² is within a factor of `most` of the
 * usual one.
 */
function pool(least: f64, most: f64, usual: f64, to: Pooled): void {
  to.seconds = 0;
  to.squares = 0;
  to.redLevel = 0;
  to.infraredLevel = 0;
  to.near.clear();
  to.wide.clear();
  for (let s = 0; s < SECONDS; s++) {
    const sums = SUMS[s];
    const own = sums.red / sums.infrared / usual;
    if (own > most || own * most < 1) continue;
    if (!(sums.red * sums.infrared > 0) || !(sums.both >= least * Math.sqrt(sums.red * sums.infrared))) continue;
    to.seconds++;
    to.squares += sums.infrared * sums.infrared;
    to.redLevel += RED_LEVELS[s];
    to.infraredLevel += INFRARED_LEVELS[s];
    to.near.add(sums);
    to.wide.add(WIDE[s]);
  }
}
