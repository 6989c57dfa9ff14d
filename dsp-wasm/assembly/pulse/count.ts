import { clearVectors, sumLanes } from '../math/vector';
import {
  BEATS,
  COUNTED,
  HELD,
  INTERVALS,
  KERNEL,
  MAX_STROKES,
  OPTICAL,
  Peak,
  RISES,
  RISES_MARGIN,
  STROKE,
  STROKE_BEATS,
  STROKE_SUM,
  STROKES,
  WAVES,
  WEAK_AT,
  WINDOW,
} from './scratch';
import { GRID_PER_MINUTE } from './tracker';
import {
  CLEAR_STROKE,
  CLOSEST_STROKE,
  COMPENSATION,
  DICROTIC_SAMPLES,
  DICROTIC_SHARE,
  EARLY_SHARE,
  HABIT_SAMPLES,
  HABIT_SHARE,
  HABITUAL,
  LATEST_ALTERNATE,
  LATEST_DICROTIC,
  LEAST_HELD,
  LONG_SHARE,
  LOST_SHARE,
  MOST_LOST,
  PULSE_DELAY,
  RUN,
  RUN_STROKE,
  STEADY_VARIATION,
  STROKE_WIDTH,
  STRONG_STROKE,
  WEAK_STROKE,
} from './tuning';

/**
 * Beats of the window counted one by one, whatever their rhythm: the upstrokes of the pulses in the steadiest optical
 * channel, without a rate that is expected. A premature beat has a weak pulse or none; it is known by the pause after it.
 */

/** Grid samples on each side of a slope that its Gaussian takes in. */
const REACH: i32 = 5;

/** Counts the beats; false where there are no three of them. Comes after findBeats. Writes COUNTED. */
export function countBeats(): bool {
  const lane = max(0, BEATS.best) & 3;
  if (HELD[lane] < LEAST_HELD) return false;
  findRises(lane);
  const found = findStrokes();
  if (found < 3) return false;
  const usual = usualHeight(found);
  const beats = chooseClear(found, usual);
  if (beats < 3) return false;
  const period = describeClear(beats);
  const all = addWeak(found, beats, usual, period);
  describeAll(all, usual, period);
  COUNTED.followed = followedShare(found, all, usual);
  COUNTED.likeness = likeness(all);
  COUNTED.withRuns = rateWithRuns(found, usual);
  return true;
}

/** Writes the slopes of one optical channel to RISES, so that the pulses' upstrokes, which are its steepest, are above zero. */
function findRises(lane: i32): void {
  for (let j = 1; j <= REACH; j++) {
    const u = <f32>j / STROKE_WIDTH;
    KERNEL[j - 1] = u * <f32>Mathf.exp(-0.5 * u * u);
  }
  const from = OPTICAL.at(0) + ((<usize>lane) << 2);
  for (let i = 0; i < WINDOW; i++) RISES[i] = load<f32>(from + ((<usize>i) << 4));
  for (let i = 1; i <= RISES_MARGIN; i++) {
    RISES[-i] = RISES[0];
    RISES[WINDOW - 1 + i] = RISES[WINDOW - 1];
  }
  let squares = f32x4.splat(0);
  let cubes = squares;
  for (let i = 0; i < WINDOW; i += 4) {
    let sum = f32x4.splat(0);
    for (let j = 1; j <= REACH; j++) {
      const rise = f32x4.sub(v128.load(RISES.at(i + j)), v128.load(RISES.at(i - j)));
      sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(KERNEL.at(j - 1)), rise));
    }
    v128.store(STROKE.at(i), sum);
    const square = f32x4.mul(sum, sum);
    squares = f32x4.add(squares, square);
    cubes = f32x4.add(cubes, f32x4.mul(square, sum));
  }
  const power = max<f32>(1e-30, sumLanes(squares) / <f32>WINDOW);
  const skew = sumLanes(cubes) / <f32>WINDOW / (power * sqrt<f32>(power));
  COUNTED.skew = abs<f32>(skew);
  const sign = f32x4.splat(skew < 0 ? -1 : 1);
  for (let i = 0; i < WINDOW; i += 4) v128.store(RISES.at(i), f32x4.mul(v128.load(STROKE.at(i)), sign));
}

/** Writes every rise's steepest point to STROKES; returns how many. */
function findStrokes(): i32 {
  let count = 0;
  for (let i = 1; i < WINDOW - 1 && count < MAX_STROKES; i++) {
    const b = RISES[i];
    if (!(b > 0)) continue;
    const a = RISES[i - 1];
    const c = RISES[i + 1];
    if (!(b >= a && b > c)) continue;
    const stroke = STROKES[count++];
    stroke.time = <f32>i + (<f32>0.5 * (a - c)) / (a - b - b + c);
    stroke.height = b;
  }
  return count;
}

/** Median of the steepest rises of the window's four quarters. */
function usualHeight(found: i32): f32 {
  let tops = f32x4.splat(0);
  for (let i = 0; i < found; i++) {
    const stroke = STROKES[i];
    const quarter = <i32>stroke.time / (WINDOW / 4);
    const own = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(quarter));
    tops = f32x4.pmax(tops, v128.and(own, f32x4.splat(stroke.height)));
  }
  const swapped = v128.shuffle<f32>(tops, tops, 1, 0, 3, 2);
  const low = f32x4.pmin(tops, swapped); // of each pair
  const high = f32x4.pmax(tops, swapped);
  const a = max<f32>(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 2));
  const b = min<f32>(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 2));
  return <f32>0.5 * (a + b);
}

function strokeOf(beat: i32): Peak {
  return STROKES[STROKE_BEATS[beat]];
}

function intervalBefore(beat: i32): f32 {
  return strokeOf(beat).time - strokeOf(beat - 1).time;
}

/** Chooses the clear upstrokes, but not the second wave of a pulse: writes STROKE_BEATS, returns how many. */
function chooseClear(found: i32, usual: f32): i32 {
  let count = 0;
  for (let i = 0; i < found; i++) {
    const stroke = STROKES[i];
    if (stroke.height < CLEAR_STROKE * usual) continue;
    if (count > 0) {
      const last = strokeOf(count - 1);
      const since = stroke.time - last.time;
      if (since < CLOSEST_STROKE) {
        if (stroke.height > last.height) STROKE_BEATS[count - 1] = i;
        continue;
      }
      if (since < DICROTIC_SAMPLES && stroke.height < DICROTIC_SHARE * last.height) continue;
    }
    STROKE_BEATS[count++] = i;
  }
  return count;
}

/** Writes how much the intervals vary that are not long; returns their median. */
function describeClear(beats: i32): f32 {
  const count = beats - 1;
  for (let k = 0; k < count; k++) {
    const interval = intervalBefore(k + 1);
    let at = k;
    for (; at > 0 && INTERVALS[at - 1] > interval; at--) INTERVALS[at] = INTERVALS[at - 1];
    INTERVALS[at] = interval;
  }
  const median = <f32>0.5 * (INTERVALS[(count - 1) >> 1] + INTERVALS[count >> 1]);
  let n: f32 = 0;
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let k = 0; k < count && INTERVALS[k] <= LONG_SHARE * median; k++) {
    n++;
    sum += INTERVALS[k];
    squares += INTERVALS[k] * INTERVALS[k];
  }
  COUNTED.steadiness = sqrt<f32>(max<f32>(0, squares * n - sum * sum)) / sum;
  return median;
}

/**
 * Adds the weak upstrokes in the pauses. What comes as long after the other beats, too, is a pulse's second wave. In an
 * otherwise regular rhythm a rare pause that holds two intervals has a beat without a pulse. A pause after an early beat
 * hides nothing. Returns the number of beats in STROKE_BEATS; COUNTED.lost has those without a pulse.
 */
function addWeak(found: i32, beats: i32, usual: f32, period: f32): i32 {
  let added = 0;
  COUNTED.lost = 0;
  for (let beat = beats - 1; beat > 0; beat--) {
    const pause = intervalBefore(beat);
    if (pause <= LONG_SHARE * period) continue;
    if (beat > 1 && intervalBefore(beat - 1) <= EARLY_SHARE * period) continue;
    const weak = weakIn(found, beat, usual);
    if (weak >= 0 && !isHabitual(found, beats, beat, weak, period)) WEAK_AT[added++] = weak;
    else if (pause > LOST_SHARE * period && COUNTED.steadiness < STEADY_VARIATION) COUNTED.lost++;
  }
  if (COUNTED.lost > MOST_LOST) COUNTED.lost = 0;
  // From the last to the first, as they were found
  for (let at = beats + added - 1, next = 0, beat = beats - 1; next < added; at--) {
    const isWeak = beat < 0 || WEAK_AT[next] > STROKE_BEATS[beat];
    STROKE_BEATS[at] = isWeak ? WEAK_AT[next++] : STROKE_BEATS[beat--];
  }
  return beats + added;
}

/** The largest upstroke in the pause before a beat that can be a premature one; -1 where there is none. */
function weakIn(found: i32, beat: i32, usual: f32): i32 {
  const from = strokeOf(beat - 1).time;
  const to = strokeOf(beat).time;
  let best = -1;
  let height = WEAK_STROKE * usual;
  for (let i = STROKE_BEATS[beat - 1] + 1; i < STROKE_BEATS[beat] && i < found; i++) {
    const time = STROKES[i].time;
    if (time - from < CLOSEST_STROKE || to - time < COMPENSATION * (time - from)) continue;
    if (STROKES[i].height < height) continue;
    height = STROKES[i].height;
    best = i;
  }
  return best;
}

/** Whether an upstroke like a weak one comes as long after other beats, too. */
function isHabitual(found: i32, beats: i32, beat: i32, weak: i32, period: f32): bool {
  const delay = STROKES[weak].time - strokeOf(beat - 1).time;
  const least = HABIT_SHARE * STROKES[weak].height;
  let others = 0;
  let alike = 0;
  for (let other = 1; other < beats; other++) {
    const interval = intervalBefore(other);
    if (other === beat || interval <= delay + 2 * HABIT_SAMPLES || interval > LONG_SHARE * period) continue;
    others++;
    const at = strokeOf(other - 1).time + delay;
    for (let i = STROKE_BEATS[other - 1] + 1; i < found && STROKES[i].time < at + HABIT_SAMPLES; i++) {
      if (STROKES[i].time <= at - HABIT_SAMPLES || STROKES[i].height <= least) continue;
      alike++;
      break;
    }
  }
  return others > 0 && <f32>alike >= HABITUAL * <f32>others;
}

/** Writes the rate, and what tells a good count from a bad one. */
function describeAll(beats: i32, usual: f32, period: f32): void {
  const first = strokeOf(0).time;
  const last = strokeOf(beats - 1).time;
  let shortest: f32 = Infinity;
  let longest: f32 = 0;
  let least: f32 = strokeOf(0).height;
  let greatest = least;
  let refused: f32 = 0;
  let next = STROKE_BEATS[0];
  for (let beat = 1; beat < beats; beat++) {
    const interval = intervalBefore(beat);
    shortest = min(shortest, interval);
    longest = max(longest, interval);
    least = min(least, strokeOf(beat).height);
    greatest = max(greatest, strokeOf(beat).height);
    for (next++; next < STROKE_BEATS[beat]; next++) refused = max(refused, STROKES[next].height);
  }
  COUNTED.rate = rateOf(beats);
  COUNTED.jitter = jitter(beats);
  COUNTED.beats = beats;
  COUNTED.evenness = least / greatest;
  COUNTED.variation = variationOver(beats, 1);
  COUNTED.pairVariation = variationOver(beats, 2);
  COUNTED.disorder = disorder(beats);
  COUNTED.margin = max<f32>(<f32>0.05 * usual, refused) / least;
  COUNTED.shortest = shortest;
  COUNTED.longest = longest;
  COUNTED.gap = longest / period;
  COUNTED.edge = max(first, <f32>(WINDOW - 1) - last) / period;
}

/**
 * Heart rate of the beats, bpm. A pulse at the window's start is of a heartbeat before it, so it is left out where three beats
 * remain and none is without a pulse.
 */
function rateOf(beats: i32): f32 {
  let first = 0;
  if (COUNTED.lost === 0) while (first < beats - 3 && strokeOf(first).time < PULSE_DELAY) first++;
  const intervals = <f32>(beats - 1 - first + COUNTED.lost);
  return (GRID_PER_MINUTE * intervals) / (strokeOf(beats - 1).time - strokeOf(first).time);
}

/**
 * From the third differences of the beats' times, which a rhythm that changes slowly does not have: of errors that are
 * independent they have twenty times the variance. Infinite where there are not four beats.
 */
function jitter(beats: i32): f32 {
  let squares: f32 = 0;
  for (let beat = 3; beat < beats; beat++) {
    const middle = strokeOf(beat - 1).time - strokeOf(beat - 2).time;
    const third = strokeOf(beat).time - strokeOf(beat - 3).time - <f32>3 * middle;
    squares += third * third;
  }
  return beats > 3 ? sqrt<f32>(squares / (<f32>20 * <f32>(beats - 3))) : Infinity;
}

/** The most intervals in a row, between the beats of COUNTED, that are shorter than `limit` grid samples. */
export function shortInARow(limit: f32): i32 {
  let most = 0;
  let row = 0;
  for (let beat = 1; beat < COUNTED.beats; beat++) {
    row = intervalBefore(beat) < limit ? row + 1 : 0;
    most = max(most, row);
  }
  return most;
}

/** Variation of the times over `span` intervals: over two it is small also where short and long ones alternate. */
function variationOver(beats: i32, span: i32): f32 {
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let beat = span; beat < beats; beat++) {
    const time = strokeOf(beat).time - strokeOf(beat - span).time;
    sum += time;
    squares += time * time;
  }
  return sqrt<f32>(max<f32>(0, squares * <f32>(beats - span) - sum * sum)) / sum;
}

/**
 * Variation of the intervals that is no pattern of two or three, as of bigeminy and trigeminy: times over n independent intervals vary
 * less, by the root of n. Three such times are the fewest that show a pattern.
 */
function disorder(beats: i32): f32 {
  let least = COUNTED.variation;
  if (beats >= 5) least = min(least, sqrt<f32>(2) * COUNTED.pairVariation);
  if (beats >= 6) least = min(least, sqrt<f32>(3) * variationOver(beats, 3));
  return least;
}

/**
 * The share of the intervals whose greatest weak upstroke is before or about their middle, but too late for a second wave, and as late
 * as in the others.
 */
function followedShare(found: i32, beats: i32, usual: f32): f32 {
  let count = 0;
  for (let beat = 1; beat < beats; beat++) {
    const delay = greatestBetween(found, beat, WEAK_STROKE * usual);
    if (delay < LATEST_DICROTIC || delay >= LATEST_ALTERNATE * intervalBefore(beat)) continue;
    let at = count++;
    for (; at > 0 && INTERVALS[at - 1] > delay; at--) INTERVALS[at] = INTERVALS[at - 1];
    INTERVALS[at] = delay;
  }
  let alike: f32 = 0;
  for (let k = 0; k < count; k++) if (abs<f32>(INTERVALS[k] - INTERVALS[count >> 1]) <= HABIT_SAMPLES) alike++;
  return alike / <f32>(beats - 1);
}

/** Delay after the beat before of the greatest upstroke between it and a beat; 0 where none is as high as `least`. */
function greatestBetween(found: i32, beat: i32, least: f32): f32 {
  const from = strokeOf(beat - 1).time;
  const to = strokeOf(beat).time;
  let delay: f32 = 0;
  let height = least;
  for (let i = STROKE_BEATS[beat - 1] + 1; i < STROKE_BEATS[beat] && i < found; i++) {
    const time = STROKES[i].time;
    if (STROKES[i].height < height || time - from < CLOSEST_STROKE || to - time < CLOSEST_STROKE) continue;
    height = STROKES[i].height;
    delay = time - from;
  }
  return delay;
}

/**
 * Heart rate if weak upstrokes are beats, too, wherever at least RUN of them come in a row (a run of premature beats has three or more);
 * 0 where none do. Of a weak and a strong one that are too close, the strong one counts.
 */
function rateWithRuns(found: i32, usual: f32): f32 {
  let beats = 0;
  let weak = 0;
  let runs = 0;
  let first: f32 = 0;
  let last: f32 = 0;
  let before: f32 = -Infinity;
  for (let i = 0; i < found; i++) {
    const stroke = STROKES[i];
    const isNear = stroke.time - before < CLOSEST_STROKE;
    if (stroke.height >= STRONG_STROKE * usual) {
      if (isNear && weak === 0) continue;
      if (isNear) weak--;
      if (weak >= RUN) runs += weak;
      else if (beats === 0) first = stroke.time;
      weak = 0;
      beats++;
      last = stroke.time;
    } else {
      if (isNear || stroke.height < RUN_STROKE * usual) continue;
      if (++weak === 1 && beats === 0) first = stroke.time;
      if (weak >= RUN) last = stroke.time;
    }
    before = stroke.time;
  }
  if (weak >= RUN) runs += weak;
  return runs > 0 ? (GRID_PER_MINUTE * <f32>(beats + runs - 1)) / (last - first) : 0;
}

/** Grid samples around an upstroke that are compared with those of the others. */
const STROKE_LENGTH: i32 = 16;

/** The mean correlation of each upstroke's slopes with the sum of the others'; 0 where there are not three whole ones. */
function likeness(beats: i32): f32 {
  let whole = 0;
  clearVectors(STROKE_SUM.at(0), STROKE_LENGTH / 4);
  for (let beat = 0; beat < beats; beat++) {
    const from = <i32>(strokeOf(beat).time + <f32>0.5) - STROKE_LENGTH / 2;
    if (from < 0 || from + STROKE_LENGTH > WINDOW) continue;
    const to = WAVES.at(whole * STROKE_LENGTH);
    let squares = f32x4.splat(0);
    for (let j: usize = 0; j < 4 * <usize>STROKE_LENGTH; j += 16) {
      const x = v128.load(RISES.at(from) + j);
      squares = f32x4.add(squares, f32x4.mul(x, x));
    }
    const scale = f32x4.splat(<f32>1 / sqrt<f32>(sumLanes(squares) + <f32>1e-30));
    for (let j: usize = 0; j < 4 * <usize>STROKE_LENGTH; j += 16) {
      const x = f32x4.mul(v128.load(RISES.at(from) + j), scale);
      v128.store(to + j, x);
      v128.store(STROKE_SUM.at(0) + j, f32x4.add(v128.load(STROKE_SUM.at(0) + j), x));
    }
    whole++;
  }
  if (whole < 3) return 0;
  let sum: f32 = 0;
  for (let i = 0; i < whole; i++) sum += alikeness(WAVES.at(i * STROKE_LENGTH));
  return sum / <f32>whole;
}

function alikeness(wave: usize): f32 {
  let products = f32x4.splat(0);
  let squares = products;
  for (let j: usize = 0; j < 4 * <usize>STROKE_LENGTH; j += 16) {
    const x = v128.load(wave + j);
    const others = f32x4.sub(v128.load(STROKE_SUM.at(0) + j), x);
    products = f32x4.add(products, f32x4.mul(x, others));
    squares = f32x4.add(squares, f32x4.mul(others, others));
  }
  return sumLanes(products) / sqrt<f32>(sumLanes(squares) + <f32>1e-30);
}
