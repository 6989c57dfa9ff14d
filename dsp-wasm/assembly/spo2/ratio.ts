import { stillness } from '../grid/activity';
import { TRUSTED } from '../grid/tuning';
import { growthOver, usualAfter } from '../grid/usual';
import { completeBy, copyGrid } from '../grid/window';
import { total } from '../math/vector';
import { Channel, KIND_PPG_IR, KIND_PPG_RED, SLOW_HZ } from '../memory/channel';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { Spo2State } from '../memory/spo2_state';
import { pulseOnly, ratioConfidence } from './confidence';
import { flatShare } from './flat';
import { meanOf } from './mean';
import { steadiness } from './pulsatility';
import { INFRARED, POOLED, RAW, RED, SECOND, SECONDS, SecondSums, SUMS, WIDE, WINDOW } from './scratch';
import { ACCEPTED, ENOUGH_SLOPES, LEAST_SECONDS, MOST_DIFFERENCE } from './tuning';

/**
 * SpO2 as the ratio of ratios R = (AC red / DC red) / (AC infrared / DC infrared) (Webster, Design of Pulse Oximeters,
 * 1997, chapter 4), by regression over the whole pulse instead of peaks and troughs. The AC is the slope of an optical
 * channel over 1/8 s, which removes drift without a filter that must settle: half a window is enough. The regression
 * covers one second, about a beat, at a time, and only seconds whose two channels agree are pooled, so a jolt in one of
 * them is left out, and so is a second whose own ratio is far from the median's: a wearable that changes its light makes a step in
 * both channels, with a ratio of about one. The line is the reduced major axis (std / std): noise in infrared does not reduce R, as it would
 * with least squares.
 *
 * Motion reaches both channels alike and in rhythm, as a pulse does, but with a ratio of about one: it reads as 82 to 92 %, whatever the
 * saturation. So a moving wearer's reading is not trusted, nor one from light that moves like a movement (pulsatility.ts), or in which
 * something else than the pulse moves both channels (confidence.ts).
 */

/** Grid samples that a slope reaches back: 4 apart, each smoothed over 3. */
const REACH: i32 = 6;
/** Sum of the smoothing's weights, the factor by which slopes are too large. */
const GAIN: f64 = 4;

/** Estimate of the window that ends at `end` (seconds): writes R and confidence; false for none. */
export function estimateSpo2(session: Session, end: f64, to: Estimate): bool {
  const red = channelOfKind(session, KIND_PPG_RED);
  const infrared = channelOfKind(session, KIND_PPG_IR);
  if (!red || !infrared) return false;
  const still = stillness(session, end, RAW.at(0));
  const redLevel = findSlopes(red, end, RED);
  const redFlat = flatShare();
  const infraredLevel = findSlopes(infrared, end, INFRARED);
  const flat = max(redFlat, flatShare());
  if (!(redLevel > 0 && infraredLevel > 0)) return false;
  const held = sumSeconds();
  if (held < LEAST_SECONDS) return false;
  pool(ACCEPTED, MOST_DIFFERENCE, usualRatio(held));
  const accepted = POOLED.seconds;
  if (!accepted) pool(-1, Infinity, 1);
  if (!(POOLED.red > 0 && POOLED.infrared > 0)) return false;
  const perfusion = Math.sqrt(POOLED.infrared / <f64>(max(accepted, 1) * SECOND)) / GAIN / infraredLevel;
  const levels = infraredLevel / redLevel;
  to.value = Math.sqrt(POOLED.red / POOLED.infrared) * levels;
  // While the wearer moves, there is nothing to ask of the waveform
  const channels = still > 0 ? ratioConfidence(accepted, held, perfusion, flat) * still : 0;
  const confidence = channels > 0 ? channels * pulseOnly(to.value, levels) : 0;
  const grown = growth(session.spo2, perfusion, confidence);
  to.confidence = confidence > 0 ? confidence * steadiness(grown) : 0;
  return true;
}

/** Whether the two channels of the last estimate agree, so that there is nothing but its ratio to doubt. */
export function agree(): bool {
  return POOLED.both >= ACCEPTED * Math.sqrt(POOLED.red * POOLED.infrared);
}

/** How much larger the pulse is than usual, natural logarithm. Only a pulse that is trusted otherwise changes what is usual. */
function growth(state: Spo2State, perfusion: f64, confidence: f64): f64 {
  const size = Math.log(perfusion);
  const before = state.usualPerfusion;
  state.usualPerfusion = usualAfter<f64>(before, size, confidence >= TRUSTED);
  return growthOver<f64>(before, size);
}

/**
 * Writes the window's slopes (NaN where a grid sample is missing) to `to`; returns the mean level, 0 if there is none.
 */
function findSlopes(channel: Channel, end: f64, to: Row<f32>): f64 {
  const from = <i32>end * SLOW_HZ - WINDOW;
  if (!copyGrid(channel, 0, from, WINDOW, completeBy(channel, end), RAW.at(0))) return 0;
  for (let i = 0; i < WINDOW; i += 4) v128.store(to.at(i), f32x4.sub(smooth(RAW.at(i)), smooth(RAW.at(i - 4))));
  // The margin before the window does not belong to it.
  for (let i = 0; i < REACH; i++) to[i] = NaN;
  return channel.offsets[0] + meanOf(RAW);
}

/** Four grid samples, each with the two before it, weights 1, 2, 1. */
function smooth(x: usize): v128 {
  const middle = v128.load(x - 4);
  return f32x4.add(f32x4.add(v128.load(x), v128.load(x - 8)), f32x4.add(middle, middle));
}

/** Sums the products of each second's slopes; returns the number of seconds with enough data. */
function sumSeconds(): i32 {
  let held = 0;
  for (let s = 0; s < SECONDS; s++) {
    const isHeld = sumSecond(s * SECOND, false, SUMS[s]) >= ENOUGH_SLOPES;
    if (!isHeld) SUMS[s].red = NaN;
    sumSecond(s * SECOND, true, WIDE[s]);
    held += <i32>isHeld;
  }
  return held;
}

/**
 * Writes a second's sums; returns the number of slopes that exist. A slope that is missing in one channel counts in neither.
 * @param wide sum slopes over 1/4 s, each of two that follow each other. The first of the window reach back to before it, where other arrays
 *   are; they are missing in any case (findSlopes).
 */
function sumSecond(from: i32, wide: bool, sums: SecondSums): f64 {
  let n = f32x4.splat(0);
  let a = n;
  let b = n;
  let aa = n;
  let ab = n;
  let bb = n;
  for (let i = from; i < from + SECOND; i += 4) {
    let red = v128.load(RED.at(i));
    let infrared = v128.load(INFRARED.at(i));
    if (wide) {
      red = f32x4.add(red, v128.load(RED.at(i - 4)));
      infrared = f32x4.add(infrared, v128.load(INFRARED.at(i - 4)));
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
 * usual one: writes POOLED.
 */
function pool(least: f64, most: f64, usual: f64): void {
  POOLED.seconds = 0;
  POOLED.red = 0;
  POOLED.both = 0;
  POOLED.infrared = 0;
  POOLED.squares = 0;
  POOLED.whole = 0;
  POOLED.wideRed = 0;
  POOLED.wideBoth = 0;
  POOLED.wideInfrared = 0;
  for (let s = 0; s < SECONDS; s++) {
    const sums = SUMS[s];
    const own = sums.red / sums.infrared / usual;
    if (own > most || own * most < 1) continue;
    if (!(sums.red * sums.infrared > 0) || !(sums.both >= least * Math.sqrt(sums.red * sums.infrared))) continue;
    POOLED.seconds++;
    POOLED.red += sums.red;
    POOLED.both += sums.both;
    POOLED.infrared += sums.infrared;
    POOLED.squares += sums.infrared * sums.infrared;
    POOLED.whole += sums.whole;
    POOLED.wideRed += WIDE[s].red;
    POOLED.wideBoth += WIDE[s].both;
    POOLED.wideInfrared += WIDE[s].infrared;
  }
}
