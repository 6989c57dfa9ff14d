import { correlation } from '../math/correlation';
import { insert } from '../math/order';
import { clearVectors, sumLanes } from '../math/vector';
import { Row, rowAt } from '../memory/row';
import { variation } from './beats';
import { isSame } from './octave';
import { Count, GRID_PER_MINUTE, MAX_RISES, PulseWindow, RISES_MARGIN, WINDOW } from './records';
import { BEAT, COUNT, LOADING, OCTAVE, RATE } from './tuning';

/**
 * Beats of the window counted one by one, whatever their rhythm: the upstrokes of the pulses in the steadiest optical
 * channel. A premature beat has a weak pulse or none; it is known by the pause after it.
 */

/** Grid samples on each side of a slope that its Gaussian takes in, and one side of its derivative. */
const REACH: i32 = 5;
const KERNEL = changetype<Row<f32>>(memory.data(REACH * 4, 16));
/** One optical channel, with margins before and after. */
const LIGHT = changetype<Row<f32>>(memory.data((WINDOW + 2 * RISES_MARGIN) * 4, 16));
/** Rises that are weak beats in pauses, the newest first. */
const WEAK_AT = changetype<Row<i32>>(memory.data(MAX_RISES * 4, 16));
/** Times, sorted. */
const SORTED = changetype<Row<f32>>(memory.data(MAX_RISES * 4, 16));
/** Grid samples around an upstroke that are compared with those of the others; the upstrokes' slopes, and their sum. */
const STROKE: i32 = 16;
const STROKE_BYTES: usize = STROKE * sizeof<f32>();
const STROKES = changetype<Row<f32>>(memory.data(MAX_RISES * STROKE * 4, 16));
const STROKE_SUM = changetype<Row<f32>>(memory.data(STROKE * 4, 16));

/** Counts the beats of an optical channel; only how close they can be depends on a rate that is expected, bpm. */
export function countBeats(window: PulseWindow, lane: i32, bpm: f32, to: Count): void {
  clear(to);
  to.closest = min<f32>(COUNT.CLOSEST, (BEAT.SHORTEST_INTERVAL * GRID_PER_MINUTE) / bpm);
  if (window.held[lane] < LOADING.LEAST_HELD) return;
  findSlopes(window.optical.samples, lane, to);
  findRises(to);
  if (to.rises < 3) return;
  const usual = usualHeight(to);
  chooseClear(to, usual);
  if (to.beats < 3) return;
  to.found = true;
  const period = describeClear(to);
  addWeak(to, usual, period);
  describeAll(to, usual, period);
  to.followed = followedShare(to, usual);
  to.likeness = likeness(to);
  to.midway = midwayLikeness(to, usual);
  to.withRuns = rateWithRuns(to, usual);
}

/** The count of a window without beats. */
function clear(to: Count): void {
  to.found = false;
  to.rate = 0;
  to.lost = 0;
  to.variation = 1;
  to.steadiness = 1;
  to.likeness = 0;
  to.skew = 0;
  to.margin = 1;
  to.shortest = 0;
  to.longest = <f32>WINDOW;
  to.gap = 3;
  to.edge = 3;
  to.beats = 0;
  to.pairVariation = 1;
  to.evenness = 0;
  to.disorder = 1;
  to.followed = 0;
  to.midway = 0;
  to.withRuns = 0;
}

/** Writes the slopes, so that the pulses' upstrokes, which are the steepest, are above zero; and their skewness. */
function findSlopes(samples: Row<v128>, lane: i32, to: Count): void {
  for (let j = 1; j <= REACH; j++) {
    const u = <f32>j / COUNT.WIDTH;
    KERNEL[j - 1] = u * <f32>Mathf.exp(-0.5 * u * u);
  }
  const from = samples.at(0) + ((<usize>lane) << 2);
  const light = rowAt<f32>(LIGHT.at(RISES_MARGIN));
  for (let i = 0; i < WINDOW; i++) light[i] = load<f32>(from + ((<usize>i) << 4));
  for (let i = 1; i <= RISES_MARGIN; i++) {
    light[-i] = light[0];
    light[WINDOW - 1 + i] = light[WINDOW - 1];
  }
  let squares = f32x4.splat(0);
  let cubes = squares;
  for (let i = 0; i < WINDOW; i += 4) {
    let sum = f32x4.splat(0);
    for (let j = 1; j <= REACH; j++) {
      const rise = f32x4.sub(v128.load(light.at(i + j)), v128.load(light.at(i - j)));
      sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(KERNEL.at(j - 1)), rise));
    }
    v128.store(to.slopes.at(i), sum);
    const square = f32x4.mul(sum, sum);
    squares = f32x4.add(squares, square);
    cubes = f32x4.add(cubes, f32x4.mul(square, sum));
  }
  const power = max<f32>(1e-30, sumLanes(squares) / <f32>WINDOW);
  const skew = sumLanes(cubes) / <f32>WINDOW / (power * sqrt<f32>(power));
  to.skew = abs<f32>(skew);
  if (skew >= 0) return;
  for (let i = 0; i < WINDOW; i += 4) v128.store(to.slopes.at(i), f32x4.neg(v128.load(to.slopes.at(i))));
}

/** Writes every rise's steepest point. */
function findRises(to: Count): void {
  let count = 0;
  for (let i = 1; i < WINDOW - 1 && count < MAX_RISES; i++) {
    const b = to.slopes[i];
    if (!(b > 0)) continue;
    const a = to.slopes[i - 1];
    const c = to.slopes[i + 1];
    if (!(b >= a && b > c)) continue;
    const rise = to.all[count++];
    rise.time = <f32>i + (<f32>0.5 * (a - c)) / (a - b - b + c);
    rise.height = b;
  }
  to.rises = count;
}

/** Median of the steepest rises of the window's four quarters. */
function usualHeight(count: Count): f32 {
  let held = 0;
  let i = 0;
  for (let end = WINDOW / 4; end <= WINDOW; end += WINDOW / 4) {
    let top: f32 = 0;
    for (; i < count.rises && count.all[i].time < <f32>end; i++) top = max(top, count.all[i].height);
    held = insert(SORTED, held, top);
  }
  return <f32>0.5 * (SORTED[1] + SORTED[2]);
}

/** Chooses the clear upstrokes, but not the dicrotic wave of a pulse. */
function chooseClear(to: Count, usual: f32): void {
  let count = 0;
  for (let i = 0; i < to.rises; i++) {
    const rise = to.all[i];
    if (rise.height < COUNT.CLEAR * usual) continue;
    if (count > 0) {
      const last = to.beat(count - 1);
      const since = rise.time - last.time;
      if (since < to.closest) {
        if (rise.height > last.height) to.chosen[count - 1] = i;
        continue;
      }
      if (since < COUNT.LATEST_DICROTIC && rise.height < COUNT.DICROTIC_SHARE * last.height) continue;
    }
    to.chosen[count++] = i;
  }
  to.beats = count;
}

/** Writes how much the intervals vary that are not long; returns their median. */
function describeClear(to: Count): f32 {
  let count = 0;
  for (let beat = 1; beat < to.beats; beat++) count = insert(SORTED, count, to.interval(beat));
  const median = <f32>0.5 * (SORTED[(count - 1) >> 1] + SORTED[count >> 1]);
  let n: f32 = 0;
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let k = 0; k < count && SORTED[k] <= COUNT.LONG * median; k++) {
    n++;
    sum += SORTED[k];
    squares += SORTED[k] * SORTED[k];
  }
  to.steadiness = variation(n, sum, squares);
  return median;
}

/**
 * Adds the weak upstrokes in the pauses. What comes as long after the other beats, too, is a pulse's dicrotic wave. In an
 * otherwise regular rhythm a rare pause that holds two intervals has a beat without a pulse. A pause after an early beat
 * hides nothing. `lost` counts those without a pulse.
 */
function addWeak(to: Count, usual: f32, period: f32): void {
  const beats = to.beats;
  let added = 0;
  let lost = 0;
  for (let beat = beats - 1; beat > 0; beat--) {
    const pause = to.interval(beat);
    if (pause <= COUNT.LONG * period) continue;
    if (beat > 1 && to.interval(beat - 1) <= COUNT.EARLY * period) continue;
    // A premature beat is sooner after the one before than the next one is after it
    const weak = greatestBetween(to, beat, COUNT.WEAK * usual, to.closest, pause / (1 + COUNT.EARLY));
    if (weak >= 0) WEAK_AT[added++] = weak;
    else if (pause > BEAT.LONGEST_INTERVAL * period && to.steadiness < RATE.IRREGULAR) lost++;
  }
  // More pauses are a rhythm of their own, such as bigeminy
  to.lost = lost > 2 * COUNT.MOST_GUESSED ? 0 : lost;
  // From the last to the first, as they were found
  for (let at = beats + added - 1, next = 0, beat = beats - 1; next < added; at--) {
    const isWeak = beat < 0 || WEAK_AT[next] > to.chosen[beat];
    to.chosen[at] = isWeak ? WEAK_AT[next++] : to.chosen[beat--];
  }
  to.beats = beats + added;
}

/** The greatest upstroke between a beat and the one before of those so high, and so long after that one (grid samples); -1 for none. */
function greatestBetween(count: Count, beat: i32, least: f32, from: f32, to: f32): i32 {
  const start = count.beat(beat - 1).time;
  let best = -1;
  for (let i = count.chosen[beat - 1] + 1; i < count.chosen[beat]; i++) {
    const since = count.all[i].time - start;
    if (since < from || since > to || count.all[i].height < least) continue;
    least = count.all[i].height;
    best = i;
  }
  return best;
}

/** Writes the rate, and what tells a good count from a bad one. */
function describeAll(to: Count, usual: f32, period: f32): void {
  const first = to.beat(0).time;
  const last = to.beat(to.beats - 1).time;
  let shortest: f32 = Infinity;
  let longest: f32 = 0;
  let least: f32 = to.beat(0).height;
  let greatest = least;
  let refused: f32 = 0;
  let next = to.chosen[0];
  for (let beat = 1; beat < to.beats; beat++) {
    const interval = to.interval(beat);
    shortest = min(shortest, interval);
    longest = max(longest, interval);
    least = min(least, to.beat(beat).height);
    greatest = max(greatest, to.beat(beat).height);
    for (next++; next < to.chosen[beat]; next++) refused = max(refused, to.all[next].height);
  }
  to.rate = rateOf(to);
  to.jitter = jitter(to);
  to.evenness = least / greatest;
  to.variation = variationOver(to, 1);
  to.pairVariation = variationOver(to, 2);
  to.disorder = disorder(to);
  to.margin = max<f32>(<f32>0.05 * usual, refused) / least;
  to.shortest = shortest;
  to.longest = longest;
  to.gap = longest / period;
  to.edge = max(first, <f32>(WINDOW - 1) - last) / period;
}

/**
 * Heart rate of the beats, bpm. A pulse at the window's start is of a heartbeat before it, so it is left out where three beats
 * remain and none is without a pulse: up to the shortest interval, as the delay to a finger is 0.2 to 0.3 s.
 */
function rateOf(count: Count): f32 {
  let first = 0;
  if (count.lost === 0) while (first < count.beats - 3 && count.beat(first).time < count.closest) first++;
  const intervals = <f32>(count.beats - 1 - first + count.lost);
  return (GRID_PER_MINUTE * intervals) / (count.beat(count.beats - 1).time - count.beat(first).time);
}

/**
 * From the third differences of the beats' times, which a rhythm that changes slowly does not have: of errors that are
 * independent they have twenty times the variance. Infinite where there are not four beats.
 */
function jitter(count: Count): f32 {
  let squares: f32 = 0;
  for (let beat = 3; beat < count.beats; beat++) {
    const middle = count.beat(beat - 1).time - count.beat(beat - 2).time;
    const third = count.beat(beat).time - count.beat(beat - 3).time - <f32>3 * middle;
    squares += third * third;
  }
  return count.beats > 3 ? sqrt<f32>(squares / (<f32>20 * <f32>(count.beats - 3))) : Infinity;
}

/** The most intervals in a row, between the beats, that are shorter than `limit` grid samples. */
export function shortInARow(count: Count, limit: f32): i32 {
  let most = 0;
  let row = 0;
  for (let beat = 1; beat < count.beats; beat++) {
    row = count.interval(beat) < limit ? row + 1 : 0;
    most = max(most, row);
  }
  return most;
}

/** Variation of the times over `span` intervals: over two it is small also where short and long ones alternate. */
function variationOver(count: Count, span: i32): f32 {
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let beat = span; beat < count.beats; beat++) {
    const time = count.beat(beat).time - count.beat(beat - span).time;
    sum += time;
    squares += time * time;
  }
  return variation(<f32>(count.beats - span), sum, squares);
}

/**
 * Variation of the intervals that is no pattern of two or three, as of bigeminy and trigeminy: times over n independent intervals vary
 * less, by the root of n. Three such times are the fewest that show a pattern.
 */
function disorder(count: Count): f32 {
  let least = count.variation;
  if (count.beats >= 5) least = min(least, sqrt<f32>(2) * count.pairVariation);
  if (count.beats >= 6) least = min(least, sqrt<f32>(3) * variationOver(count, 3));
  return least;
}

/**
 * The share of the intervals whose greatest weak upstroke is before or about their middle, but too late for a dicrotic wave, and as late
 * as in the others.
 */
function followedShare(to: Count, usual: f32): f32 {
  let count = 0;
  for (let beat = 1; beat < to.beats; beat++) {
    const interval = to.interval(beat);
    const weak = greatestBetween(to, beat, COUNT.WEAK * usual, to.closest, interval - to.closest);
    if (weak < 0) continue;
    const delay = to.all[weak].time - to.beat(beat - 1).time;
    const twice = delay + delay;
    if (delay >= COUNT.LATEST_DICROTIC && (twice < interval || isSame(twice, interval)))
      count = insert(SORTED, count, delay);
  }
  let alike: f32 = 0;
  for (let k = 0; k < count; k++) if (isSame(SORTED[k], SORTED[count >> 1])) alike++;
  return alike < 3 ? 0 : alike / <f32>(to.beats - 1);
}

/**
 * The mean correlation of the upstrokes midway between two beats with those of the beats before them; 0 where fewer than half of the
 * intervals have one. A weak beat rises as a strong one does; a dicrotic wave rises more slowly, and seldom comes midway.
 */
function midwayLikeness(count: Count, usual: f32): f32 {
  let found = 0;
  let sum: f32 = 0;
  for (let beat = 1; beat < count.beats; beat++) {
    const before: f32 = <f32>0.5 * (<f32>1 - OCTAVE.SAME_RATE) * count.interval(beat);
    const after: f32 = (<f32>0.5 * count.interval(beat)) / (<f32>1 - OCTAVE.SAME_RATE);
    const midway = greatestBetween(count, beat, COUNT.WEAK * usual, max<f32>(COUNT.CLOSEST, before), after);
    if (midway < 0) continue;
    const a = <i32>(count.beat(beat - 1).time + <f32>0.5) - STROKE / 4;
    const b = <i32>(count.all[midway].time + <f32>0.5) - STROKE / 4;
    if (a < 0 || b >= WINDOW - STROKE / 2) continue;
    sum += correlation(rowAt<f32>(count.slopes.at(a)), rowAt<f32>(count.slopes.at(b)), STROKE / 2 + 1);
    found++;
  }
  return 2 * found < count.beats - 1 ? 0 : sum / <f32>found;
}

/**
 * Heart rate if weak upstrokes are beats, too, wherever at least RUN of them come in a row (a run of premature beats has three or more);
 * 0 where none do. Of a weak and a strong one that are too close, the strong one counts.
 */
function rateWithRuns(count: Count, usual: f32): f32 {
  let beats = 0;
  let weak = 0;
  let runs = 0;
  let first: f32 = 0;
  let last: f32 = 0;
  let before: f32 = -Infinity;
  for (let i = 0; i < count.rises; i++) {
    const stroke = count.all[i];
    const isNear = stroke.time - before < count.closest;
    if (stroke.height >= COUNT.STRONG * usual) {
      if (isNear && weak === 0) continue;
      if (isNear) weak--;
      if (weak >= COUNT.RUN) runs += weak;
      else if (beats === 0) first = stroke.time;
      weak = 0;
      beats++;
      last = stroke.time;
    } else {
      if (isNear || stroke.height < COUNT.WEAK * usual) continue;
      if (++weak === 1 && beats === 0) first = stroke.time;
      if (weak >= COUNT.RUN) last = stroke.time;
    }
    before = stroke.time;
  }
  if (weak >= COUNT.RUN) runs += weak;
  return runs > 0 ? (GRID_PER_MINUTE * <f32>(beats + runs - 1)) / (last - first) : 0;
}

/** The mean correlation of each upstroke's slopes with the sum of the others'; 0 where there are not three whole ones. */
function likeness(count: Count): f32 {
  let whole = 0;
  clearVectors(STROKE_SUM.at(0), STROKE / 4);
  for (let beat = 0; beat < count.beats; beat++) {
    const from = <i32>(count.beat(beat).time + <f32>0.5) - STROKE / 2;
    if (from < 0 || from + STROKE > WINDOW) continue;
    const to = STROKES.at(whole++ * STROKE);
    let squares = f32x4.splat(0);
    for (let j: usize = 0; j < STROKE_BYTES; j += 16) {
      const x = v128.load(count.slopes.at(from) + j);
      v128.store(to + j, x);
      squares = f32x4.add(squares, f32x4.mul(x, x));
    }
    addScaled(to, <f32>1 / sqrt<f32>(sumLanes(squares) + <f32>1e-30));
  }
  if (whole < 3) return 0;
  let sum: f32 = 0;
  for (let i = 0; i < whole; i++) sum += likenessToOthers(STROKES.at(i * STROKE));
  return sum / <f32>whole;
}

/** Scales an upstroke, and adds it to STROKE_SUM. */
function addScaled(stroke: usize, scale: f32): void {
  for (let j: usize = 0; j < STROKE_BYTES; j += 16) {
    const x = f32x4.mul(v128.load(stroke + j), f32x4.splat(scale));
    v128.store(stroke + j, x);
    v128.store(STROKE_SUM.at(0) + j, f32x4.add(v128.load(STROKE_SUM.at(0) + j), x));
  }
}

/** Correlation of an upstroke of unit length with the others of the sum; if it included itself, even noise would correlate. */
function likenessToOthers(stroke: usize): f32 {
  let products = f32x4.splat(0);
  let squares = products;
  for (let j: usize = 0; j < STROKE_BYTES; j += 16) {
    const x = v128.load(stroke + j);
    const others = f32x4.sub(v128.load(STROKE_SUM.at(0) + j), x);
    products = f32x4.add(products, f32x4.mul(x, others));
    squares = f32x4.add(squares, f32x4.mul(others, others));
  }
  return sumLanes(products) / sqrt<f32>(sumLanes(squares) + <f32>1e-30);
}
