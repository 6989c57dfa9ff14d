import { completeBy, copyGrid, fillEmpty } from '../grid/window';
import { sumLanes } from '../math/vector';
import { Channel, KIND_ACCEL, SLOW_HZ } from '../memory/channel';
import { Row } from '../memory/row';
import { channelOfKind, MAX_OPTICAL, Session } from '../memory/session';
import { MARGIN, PulseWindow, Signals, WINDOW, WINDOW_SECONDS } from './records';
import { LOADING } from './tuning';

/** The first step: the last 8 s of the optical channels and of the accelerometer, and the quality of the waveforms. */

const SIGNAL_BYTES: usize = WINDOW * sizeof<f32>();
const SAMPLES_BYTES: usize = WINDOW * sizeof<v128>();
/** Four signals, one after the other. */
const LANES = changetype<Row<f32>>(memory.data(4 * WINDOW * 4, 16));

/** Loads the window that ends at `end`; returns whether an optical channel varies and has enough data. */
export function loadWindow(session: Session, end: f64, window: PulseWindow): bool {
  if (!loadOptical(session, end, window)) return false;
  const accel = channelOfKind(session, KIND_ACCEL);
  window.hasAxes = accel !== null && loadAxes(accel, end, window.axes);
  window.allAxes = window.hasAxes && allAxesMove(window.axes);
  window.motion = window.hasAxes && accel ? motionOf(accel, window.axes) : 0;
  return true;
}

/** Optical channels with enough data in the window: all bits of their lanes. */
export function usedLanes(window: PulseWindow): v128 {
  return i32x4.ge_s(v128.load(window.held.at(0)), i32x4.splat(LOADING.LEAST_HELD));
}

/** Number of grid samples of the fullest optical channel that have values. */
function fullest(window: PulseWindow): i32 {
  let held = 0;
  for (let lane = 0; lane < 4; lane++) held = max(held, window.held[lane]);
  return held;
}

/** Share of the window that the fullest optical channel has values for; the last few may be on their way. */
export function fullness(window: PulseWindow): f32 {
  return <f32>min(fullest(window) + 4, WINDOW) / <f32>WINDOW;
}

function loadOptical(session: Session, end: f64, window: PulseWindow): bool {
  for (let lane = 0; lane < MAX_OPTICAL; lane++) {
    const optical = session.opticals[lane];
    window.held[lane] =
      lane < session.opticalCount ? loadLane(optical.channel, optical.sub, end, lane) : emptyLane(lane);
  }
  interleave(window.optical.samples);
  v128.store(window.clipped.at(0), clipped(window.optical.samples));
  measureSteps(window);
  removeTrend(window.optical);
  // The rounding errors of a constant channel may have a rhythm
  v128.store(window.held.at(0), v128.and(v128.load(window.held.at(0)), varying(window.optical)));
  findLevels(session, window);
  return v128.any_true(usedLanes(window));
}

/** All bits of each lane that varies by more than the rounding of f32. */
function varying(signals: Signals): v128 {
  const most = f32x4.mul(signals.mean, f32x4.splat(LOADING.ROUNDING));
  return f32x4.gt(signals.energy, f32x4.mul(f32x4.mul(most, most), f32x4.splat(<f32>WINDOW)));
}

/** Writes the levels: a channel whose swings are too large for its level has lost its constant part. */
function findLevels(session: Session, window: PulseWindow): void {
  const levels = window.levels;
  v128.store(levels.at(0), f32x4.splat(0));
  for (let lane = 0; lane < session.opticalCount; lane++) {
    const optical = session.opticals[lane];
    levels[lane] = <f32>optical.channel.offsets[optical.sub];
  }
  const level = f32x4.add(window.optical.mean, v128.load(levels.at(0)));
  const most = f32x4.mul(level, f32x4.splat(LOADING.MOST_SWING));
  const energy = f32x4.mul(f32x4.mul(most, most), f32x4.splat(<f32>WINDOW));
  const own = v128.and(f32x4.gt(level, f32x4.splat(0)), f32x4.lt(window.optical.energy, energy));
  v128.store(levels.at(0), v128.and(own, level));
}

/** Loads the accelerometer's axes; returns whether it has enough data in the window, and is not stuck. */
function loadAxes(accel: Channel, end: f64, axes: Signals): bool {
  if (!accel.subs) return false;
  const subs = min(accel.subs, 3);
  let held = WINDOW;
  for (let lane = 0; lane < 4; lane++) {
    if (lane < subs) held = min(held, loadLane(accel, lane, end, lane));
    else emptyLane(lane);
  }
  interleave(axes.samples);
  removeTrend(axes);
  return held >= LOADING.LEAST_HELD && v128.any_true(varying(axes));
}

/** Whether three axes move, each in its own way: one that is missing, stuck or a copy does not. */
function allAxesMove(axes: Signals): bool {
  let apart = f32x4.splat(0);
  for (let i = 0; i < WINDOW; i++) {
    const sample = axes.samples[i];
    const difference = f32x4.sub(sample, v128.shuffle<f32>(sample, sample, 1, 2, 0, 3));
    apart = f32x4.add(apart, f32x4.mul(difference, difference));
  }
  const least = f32x4.splat(LOADING.ROUNDING * sumLanes(axes.energy));
  return (i32x4.bitmask(f32x4.gt(f32x4.pmin(axes.energy, apart), least)) & 7) === 7;
}

/** Share of the acceleration that is motion: variance against gravity (the mean vector), in [0, 1]. */
function motionOf(accel: Channel, axes: Signals): f32 {
  const x = meanOf(accel, 0, f32x4.extract_lane(axes.mean, 0));
  const y = meanOf(accel, 1, f32x4.extract_lane(axes.mean, 1));
  const z = meanOf(accel, 2, f32x4.extract_lane(axes.mean, 2));
  const variance = <f64>sumLanes(axes.energy) / <f64>WINDOW / (x * x + y * y + z * z + 1e-30);
  return <f32>(variance / (variance + LOADING.MOTION_G * LOADING.MOTION_G));
}

/** Mean of an axis, including its offset; a missing axis has no offset. */
function meanOf(accel: Channel, axis: i32, mean: f32): f64 {
  const offset = accel.offsets[axis];
  return <f64>mean + (isNaN(offset) ? 0 : offset);
}

/** Loads a sub-channel's window to a lane; returns the number of its grid samples with a value. */
function loadLane(channel: Channel, sub: i32, end: f64, lane: i32): i32 {
  const from = (<i32>end - WINDOW_SECONDS) * SLOW_HZ;
  const limit = completeBy(channel, end);
  const to = LANES.at(lane * WINDOW);
  const held = copyGrid(channel, sub, from, WINDOW, limit, to);
  if (held < WINDOW) fill(to, held, min(WINDOW, limit - from));
  return held;
}

/** Fills empty grid samples: usually only those after `known`, for which no sample has arrived yet. */
function fill(x: usize, held: i32, known: i32): void {
  if (held < known || known <= 0) {
    fillEmpty(x, WINDOW);
    return;
  }
  const last = load<f32>(x + ((<usize>(known - 1)) << 2));
  for (let i = known; i < WINDOW; i++) store<f32>(x + ((<usize>i) << 2), last);
}

function emptyLane(lane: i32): i32 {
  memory.fill(LANES.at(lane * WINDOW), 0, SIGNAL_BYTES);
  return 0;
}

/** LANES to one vector per grid sample: 4 x 4 transpositions. */
function interleave(to: Row<v128>): void {
  let y = to.at(0);
  for (let x = LANES.at(0); x < LANES.at(WINDOW); x += 16) {
    const a = v128.load(x);
    const b = v128.load(x, SIGNAL_BYTES);
    const c = v128.load(x, 2 * SIGNAL_BYTES);
    const d = v128.load(x, 3 * SIGNAL_BYTES);
    const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const ef = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    const gh = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    v128.store(y, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
    v128.store(y, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), 16);
    v128.store(y, v128.shuffle<f32>(ef, gh, 0, 1, 4, 5), 32);
    v128.store(y, v128.shuffle<f32>(ef, gh, 2, 3, 6, 7), 48);
    y += 64;
  }
}

/** Subtracts mean and slope (least squares) from each lane. */
function removeTrend(signals: Signals): void {
  const x = signals.samples.at(0);
  // Two grid samples at a time, because sums wait for each other
  const two = f32x4.splat(2);
  const first = f32x4.splat(<f32>-0.5 * <f32>(WINDOW - 1));
  const second = f32x4.add(first, f32x4.splat(1));
  let sumA = f32x4.splat(0);
  let sumB = sumA;
  let tiltA = sumA;
  let tiltB = sumA;
  let atA = first;
  let atB = second;
  for (let i: usize = 0; i < SAMPLES_BYTES; i += 32) {
    const a = v128.load(x + i);
    const b = v128.load(x + i, 16);
    sumA = f32x4.add(sumA, a);
    sumB = f32x4.add(sumB, b);
    tiltA = f32x4.add(tiltA, f32x4.mul(a, atA));
    tiltB = f32x4.add(tiltB, f32x4.mul(b, atB));
    atA = f32x4.add(atA, two);
    atB = f32x4.add(atB, two);
  }
  const n = <f32>WINDOW;
  const mean = f32x4.mul(f32x4.add(sumA, sumB), f32x4.splat(<f32>1 / n));
  const slope = f32x4.mul(f32x4.add(tiltA, tiltB), f32x4.splat(<f32>12 / (n * (n * n - <f32>1))));
  atA = first;
  atB = second;
  sumA = f32x4.splat(0);
  sumB = sumA;
  for (let i: usize = 0; i < SAMPLES_BYTES; i += 32) {
    const a = f32x4.sub(v128.load(x + i), f32x4.add(mean, f32x4.mul(slope, atA)));
    const b = f32x4.sub(v128.load(x + i, 16), f32x4.add(mean, f32x4.mul(slope, atB)));
    v128.store(x + i, a);
    v128.store(x + i, b, 16);
    sumA = f32x4.add(sumA, f32x4.mul(a, a));
    sumB = f32x4.add(sumB, f32x4.mul(b, b));
    atA = f32x4.add(atA, two);
    atB = f32x4.add(atB, two);
  }
  signals.mean = mean;
  signals.energy = f32x4.add(sumA, sumB);
}

/** Share of each optical channel that rests at its highest or lowest value, as at the end of a range. */
function clipped(samples: Row<v128>): v128 {
  let low = samples[0];
  let high = low;
  for (let i = 0; i < WINDOW; i++) {
    low = f32x4.pmin(low, samples[i]);
    high = f32x4.pmax(high, samples[i]);
  }
  let count = i32x4.splat(0);
  let before = samples[0];
  for (let i = 0; i < WINDOW; i++) {
    const v = samples[i];
    const rests = f32x4.eq(v, before);
    count = i32x4.sub(count, v128.and(rests, v128.or(f32x4.le(v, low), f32x4.ge(v, high))));
    before = v;
  }
  return f32x4.mul(f32x4.convert_i32x4_s(count), f32x4.splat(<f32>1 / <f32>WINDOW));
}

/**
 * Measures the distribution of each optical channel's power around its mean, including drift. `swings`, the power of
 * x[i - 8] - 2 x[i] + x[i + 8], is 1 to 16 for a sine of 36 to 170 bpm and near 0 for a drift. `jumps`, the power of
 * x[i] - x[i - 1], is below 0.35 for a sine of up to 180 bpm, 2 for white noise and 4 at the grid's Nyquist frequency.
 * `still` is near 1 if only the converter's last bit changes.
 */
function measureSteps(window: PulseWindow): void {
  const samples = window.optical.samples;
  const half = SLOW_HZ / 4;
  let jumps = f32x4.splat(0);
  let swings = jumps;
  let sum = jumps;
  let squares = jumps;
  const first = samples[0];
  let before = jumps;
  let still = i32x4.splat(0);
  for (let i = 0; i < WINDOW; i++) {
    const v = f32x4.sub(samples[i], first);
    const jump = f32x4.sub(v, before);
    still = i32x4.sub(still, f32x4.eq(v, before));
    before = v;
    sum = f32x4.add(sum, v);
    squares = f32x4.add(squares, f32x4.mul(v, v));
    jumps = f32x4.add(jumps, f32x4.mul(jump, jump));
    if (i < half || i >= WINDOW - half) continue;
    const about = f32x4.sub(f32x4.add(samples[i - half], samples[i + half]), f32x4.add(first, first));
    const swing = f32x4.sub(about, f32x4.add(v, v));
    swings = f32x4.add(swings, f32x4.mul(swing, swing));
  }
  const all = f32x4.sub(squares, f32x4.mul(f32x4.mul(sum, sum), f32x4.splat(<f32>1 / <f32>WINDOW)));
  const scale = f32x4.div(f32x4.splat(1), f32x4.max(all, f32x4.splat(1e-30)));
  v128.store(window.swings.at(0), f32x4.mul(swings, scale));
  v128.store(window.jumps.at(0), f32x4.mul(jumps, scale));
  // Filled ends of the window are constant and must not count
  const held = v128.load(window.held.at(0));
  const counts = f32x4.convert_i32x4_s(i32x4.max_s(held, i32x4.splat(1)));
  const filled = i32x4.sub(i32x4.splat(WINDOW), held);
  v128.store(window.still.at(0), f32x4.div(f32x4.convert_i32x4_s(i32x4.sub(still, filled)), counts));
}

/** Repeats the outermost samples in the margins. */
export function fillMargins(samples: Row<v128>): void {
  for (let i = 0; i < MARGIN; i++) {
    samples[i - MARGIN] = samples[0];
    samples[WINDOW + i] = samples[WINDOW - 1];
  }
}
