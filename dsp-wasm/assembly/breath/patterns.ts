import { Row } from '../memory/row';
import { BEAT_KNOWN, BEAT_VALUES, Beats, DEVIATIONS, FIRST_HALF, SECOND_HALF, WEIGHTS } from './scratch';
import { BEAT } from './tuning';

/**
 * Patterns in which the beats repeat as with no breath: the same beat of every second to sixth is weak, as in a block of the conduction, with a
 * pacemaker, or where the second wave of a long beat passes for a pulse. Such a pattern holds much of the variance of a series in both halves of the
 * window, and is not one sinusoid. One of two or three beats always is; there, none of a breath is so steady.
 */

/** Cosines and sines of the parts of a turn: of `length` equal ones, part k is at LONGEST x length + k. */
const LONGEST: i32 = 16;
const COSINES = changetype<Row<f32>>(memory.data(LONGEST * LONGEST * 4, 16));
const SINES = changetype<Row<f32>>(memory.data(LONGEST * LONGEST * 4, 16));

function makeTurns(): void {
  for (let length = 1; length <= BEAT.LONGEST_CYCLE; length++) {
    for (let part = 0; part < length; part++) {
      const angle = (2 * Math.PI * <f64>part) / <f64>length;
      COSINES[length * LONGEST + part] = <f32>Math.cos(angle);
      SINES[length * LONGEST + part] = <f32>Math.sin(angle);
    }
  }
}
makeTurns();

/** Lane of the heights. */
const HEIGHT: u8 = 1;
const NOT_INTERVAL = i32x4(0, -1, -1, -1);

/** Lanes of intervals, heights and baselines that have a pattern, all bits set. Intervals have none of two or three beats. */
export function patterned(beats: Beats): v128 {
  const count = beats.count;
  const least = f32x4.mul(weighDeviations(beats), f32x4.splat(BEAT.REPEATED));
  let found = i32x4.splat(0);
  for (let length = 2; length <= min(BEAT.LONGEST_CYCLE, count / 2); length++) {
    const shared = sharedBy(count, length);
    const repeats = f32x4.gt(shared, least);
    if (!v128.any_true(repeats)) continue;
    let patterns = v128.andnot(repeats, areRound(length, shared));
    if (length < 4) patterns = v128.and(patterns, NOT_INTERVAL);
    // Where a weak beat is found, and the mean about it and its neighbours, its interval and baseline differ too, in whichever shape
    const isWeak = i32x4.extract_lane(patterns, HEIGHT) && !i32x4.extract_lane(found, HEIGHT);
    found = v128.or(found, isWeak ? repeats : patterns);
  }
  return found;
}

/** Writes how the values differ from the mean of those about them, weighted; returns their weighted variance. */
function weighDeviations(beats: Beats): v128 {
  const count = beats.count;
  for (let i = 0; i < count; i++) {
    const values = f32x4(beats.interval[i], beats.height[i], beats.baseline[i], NaN);
    const known = f32x4.eq(values, values);
    BEAT_VALUES[i] = v128.and(values, known);
    BEAT_KNOWN[i] = v128.and(f32x4.splat(1), known);
  }
  let squares = f32x4.splat(0);
  let weights = squares;
  for (let i = 0; i < count; i++) {
    let sum = f32x4.splat(0);
    let known = sum;
    for (let k = max(0, i - BEAT.LONGEST_CYCLE); k < min(count, i + BEAT.LONGEST_CYCLE); k++) {
      sum = f32x4.add(sum, BEAT_VALUES[k]);
      known = f32x4.add(known, BEAT_KNOWN[k]);
    }
    const isKnown = f32x4.ne(BEAT_KNOWN[i], f32x4.splat(0));
    const deviation = v128.and(f32x4.sub(BEAT_VALUES[i], f32x4.div(sum, known)), isKnown);
    // Less towards the ends of the window, as in the spectra
    const weight = f32x4.splat(<f32>min(i + 1, count - i));
    DEVIATIONS[i] = f32x4.mul(weight, deviation);
    WEIGHTS[i] = v128.and(weight, isKnown);
    squares = f32x4.add(squares, f32x4.mul(DEVIATIONS[i], deviation));
    weights = f32x4.add(weights, WEIGHTS[i]);
  }
  return f32x4.div(squares, weights);
}

/** Writes the patterns of each half of the window; returns the mean products of the two, which noise does not raise. */
function sharedBy(count: i32, length: i32): v128 {
  const middle = count / 2;
  let shared = f32x4.splat(0);
  for (let k = 0; k < length; k++) {
    const second = k + length * ((middle - k + length - 1) / length);
    FIRST_HALF[k] = meanOfEvery(length, k, middle);
    SECOND_HALF[k] = meanOfEvery(length, second, count);
    shared = f32x4.add(shared, f32x4.mul(FIRST_HALF[k], SECOND_HALF[k]));
  }
  return f32x4.div(shared, f32x4.splat(<f32>length));
}

/** Weighted mean of every `step`-th deviation from `from` to before `past`. */
function meanOfEvery(step: i32, from: i32, past: i32): v128 {
  let sum = f32x4.splat(0);
  let weights = sum;
  for (let i = from; i < past; i += step) {
    sum = f32x4.add(sum, DEVIATIONS[i]);
    weights = f32x4.add(weights, WEIGHTS[i]);
  }
  return f32x4.div(sum, weights);
}

/** Whether the patterns are those of a breath: a sinusoid, or of a few beats, and then not at the same place in both. */
function areRound(length: i32, shared: v128): v128 {
  let round = i32x4.splat(0);
  const part = f32x4.splat(BEAT.ROUND);
  if (length > 3) {
    for (let cycles = 1; 2 * cycles < length; cycles++)
      round = v128.or(round, f32x4.gt(sharedAt(length, cycles), f32x4.mul(part, shared)));
    return round;
  }
  let own = f32x4.splat(0);
  for (let k = 0; k < length; k++) own = f32x4.add(own, f32x4.add(squareOf(FIRST_HALF[k]), squareOf(SECOND_HALF[k])));
  return f32x4.gt(f32x4.div(f32x4.mul(part, own), f32x4.splat(<f32>length)), f32x4.add(shared, shared));
}

/** Part of what the patterns share at so many cycles in their length. */
function sharedAt(length: i32, cycles: i32): v128 {
  let re1 = f32x4.splat(0);
  let im1 = re1;
  let re2 = re1;
  let im2 = re1;
  for (let k = 0; k < length; k++) {
    const turn = length * LONGEST + ((k * cycles) % length);
    const cos = v128.load32_splat(COSINES.at(turn));
    const sin = v128.load32_splat(SINES.at(turn));
    re1 = f32x4.add(re1, f32x4.mul(FIRST_HALF[k], cos));
    im1 = f32x4.add(im1, f32x4.mul(FIRST_HALF[k], sin));
    re2 = f32x4.add(re2, f32x4.mul(SECOND_HALF[k], cos));
    im2 = f32x4.add(im2, f32x4.mul(SECOND_HALF[k], sin));
  }
  const both = f32x4.add(f32x4.mul(re1, re2), f32x4.mul(im1, im2));
  return f32x4.div(f32x4.add(both, both), f32x4.splat(<f32>(length * length)));
}

function squareOf(x: v128): v128 {
  return f32x4.mul(x, x);
}
