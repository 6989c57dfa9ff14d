import { TWIDDLES_BYTES } from './fft';
import { HR_PPG_STATE, TABLES } from './layout';
import { BIN_HZ, BINS, FIRST_BIN } from './pulse_spectrum';
import { LIKELIHOOD, PERIODICITY, PULSE } from './pulse_window';

/**
 * The heart rate's probability over 30 to 220 bpm, carried from step to step (the forward pass of a hidden Markov model:
 * Rabiner 1989). The transition is Laplacian, the likelihood of a rate is the pulse spectrum there times the periodicity
 * at its period: a strong second harmonic has the spectrum but not the periodicity, a half rate the reverse.
 */

export const LOWEST: i32 = 30; // bpm
export const STATES: i32 = 191; // one per bpm
const BYTES: usize = 764;
/** Cells per minute: over a rate in bpm, its period in cells. */
export const GRID_PER_MINUTE: f32 = 1920; // 60 * SLOW_HZ

/** Decay of the change of rate in one second, bpm: the 8 s means of the recordings change by 1 to 3 bpm a second. */
const CHANGE: f32 = 2;
/** Probability per step that the track is lost and starts anew. */
const LOST: f32 = 1e-4;
/** What any rate's likelihood keeps in a bin without power. */
const FLOOR: f32 = 0.05;
/** Rates are centred on 75 bpm at rest (adults: 50 to 100); only at rest, as exercise says nothing of the kind. */
const CENTRE: f64 = 75;

const PRIOR: usize = TABLES + TWIDDLES_BYTES + 1024; // STATES x f32

// State, behind the spectrum's.
const LAST_END: usize = HR_PPG_STATE + 0; // f64, end of the step before
const TRACKING: usize = HR_PPG_STATE + 20; // i32, BELIEF holds something
const BELIEF: usize = HR_PPG_STATE + 1280; // STATES x f32

export function makePrior(): void {
  for (let s = 0; s < STATES; s++) {
    const octaves = Math.log(<f64>(LOWEST + s) / CENTRE);
    store<f32>(PRIOR + (<usize>s << 2), <f32>Math.exp(-octaves * octaves));
  }
}

/** Starts anew where there was no step for longer than the window. @returns whether it did */
export function resumeTrack(slot: usize, end: f64): bool {
  const since = end - load<f64>(slot + LAST_END);
  store<f64>(slot + LAST_END, end);
  if (load<i32>(slot + TRACKING) && since <= 8) return false;
  store<i32>(slot + TRACKING, 1);
  for (let s = 0; s < STATES; s++) store<f32>(slot + BELIEF + (<usize>s << 2), <f32>1 / <f32>STATES);
  return true;
}

/** Takes PULSE into the belief. */
export function updateTrack(slot: usize, motion: f32): void {
  periodicity();
  likelihoods(motion);
  predict(slot + BELIEF);
  let sum: f32 = 1e-30;
  for (let s: usize = 0; s < BYTES; s += 4) {
    const p = load<f32>(slot + BELIEF + s) * load<f32>(LIKELIHOOD + s);
    store<f32>(slot + BELIEF + s, p);
    sum += p;
  }
  const scale: f32 = <f32>1 / sum;
  for (let s: usize = 0; s < BYTES; s += 4) store<f32>(slot + BELIEF + s, load<f32>(slot + BELIEF + s) * scale);
}

/** Lags of the periods of 220 to 30 bpm, and a rest to interpolate. */
const LAGS: i32 = 68;

/** Autocorrelation of the pulse's slope, out of every second bin (enough for a window of half the length). */
function periodicity(): void {
  let total: f32 = 1e-30;
  for (let k = FIRST_BIN + 1; k < BINS; k += 2) total += slopePower(k);
  for (let lag = 0; lag < LAGS; lag += 4) {
    v128.store(PERIODICITY + (<usize>lag << 2), f32x4.mul(cosineSum(lag), f32x4.splat(<f32>1 / total)));
  }
}

// @ts-ignore: decorator
@inline
function slopePower(k: i32): f32 {
  const f = BIN_HZ * <f32>k;
  return load<f32>(PULSE + (<usize>k << 2)) * f * f;
}

/** Sum of power times cosine at lags lag ... lag + 3, the cosines by Chebyshev's recurrence. */
function cosineSum(lag: i32): v128 {
  const first = FIRST_BIN + 1;
  let now = cosines(first, lag);
  let before = cosines(first - 2, lag);
  const twice = f32x4.mul(cosines(2, lag), f32x4.splat(2));
  let sum = f32x4.splat(0);
  for (let k = first; k < BINS; k += 2) {
    sum = f32x4.add(sum, f32x4.mul(now, f32x4.splat(slopePower(k))));
    const next = f32x4.sub(f32x4.mul(twice, now), before);
    before = now;
    now = next;
  }
  return sum;
}

/** cos(2 pi k lag / 512) for four lags, from the table of 1024. */
function cosines(k: i32, lag: i32): v128 {
  return f32x4(cosine(k * lag), cosine(k * (lag + 1)), cosine(k * (lag + 2)), cosine(k * (lag + 3)));
}

// @ts-ignore: decorator
@inline
function cosine(i: i32): f32 {
  return load<f32>(TABLES + (<usize>((i << 1) & 1023) << 3));
}

function likelihoods(motion: f32): void {
  let most: f32 = 1e-30;
  for (let k = FIRST_BIN; k < 70; k++) most = max(most, load<f32>(PULSE + (<usize>k << 2)));
  const still: f32 = <f32>1 - motion;
  for (let s = 0; s < STATES; s++) {
    const bpm = <f32>(LOWEST + s);
    const line = Mathf.sqrt(max<f32>(0, between(PULSE, bpm / (60 * BIN_HZ)) / most)) + FLOOR;
    const period: f32 = <f32>1 + still * max<f32>(0, between(PERIODICITY, GRID_PER_MINUTE / bpm));
    const square = period * period;
    const prior = motion + still * load<f32>(PRIOR + (<usize>s << 2));
    store<f32>(LIKELIHOOD + (<usize>s << 2), line * line * square * square * prior);
  }
}

/** x at a fractional index. */
// @ts-ignore: decorator
@inline
function between(x: usize, at: f32): f32 {
  const i = <i32>at;
  const a = at - <f32>i;
  const p = x + (<usize>i << 2);
  return load<f32>(p) * (1 - a) + load<f32>(p, 4) * a;
}

/** Spreads the belief by the transition: a decaying exponential to both sides, as two first-order recursions. */
function predict(belief: usize): void {
  const r = Mathf.exp(<f32>-1 / CHANGE);
  const gain = ((<f32>1 - r) / (<f32>1 + r)) * (<f32>1 - LOST);
  let right: f32 = 0;
  for (let s: usize = 0; s < BYTES; s += 4) {
    right = right * r + load<f32>(belief + s);
    store<f32>(LIKELIHOOD + 1024 + s, right);
  }
  let left: f32 = 0;
  for (let s = <i32>BYTES - 4; s >= 0; s -= 4) {
    const p = load<f32>(belief + s);
    store<f32>(belief + s, (load<f32>(LIKELIHOOD + 1024 + s) + left) * gain + LOST / <f32>STATES);
    left = (left + p) * r;
  }
}

/** Half width of what counts as one rate: the 5 bpm of the confidence's definition. */
const NEAR: i32 = 5;

/** First state of the 11 that hold the most belief. */
function bestRun(belief: usize): i32 {
  let sum: f32 = 0;
  let best: f32 = -1;
  let first = 0;
  for (let s = 0; s < STATES; s++) {
    sum += load<f32>(belief + (<usize>s << 2));
    if (s > 2 * NEAR) sum -= load<f32>(belief + (<usize>(s - 2 * NEAR - 1) << 2));
    if (s >= 2 * NEAR && sum > best) {
      best = sum;
      first = s - 2 * NEAR;
    }
  }
  return first;
}

/** Belief in, and mean of, the likeliest run of rates; the mean in bpm. */
export let trackedBelief: f32 = 0;
export function trackedRate(slot: usize): f32 {
  const belief = slot + BELIEF;
  const first = bestRun(belief);
  let mass: f32 = 1e-30;
  let moment: f32 = 0;
  for (let s = first; s <= first + 2 * NEAR; s++) {
    const p = load<f32>(belief + (<usize>s << 2));
    mass += p;
    moment += p * <f32>(LOWEST + s);
  }
  trackedBelief = mass;
  return moment / mass;
}

/** Frequency of the strongest line of PULSE within `reach` bpm, as bpm; `bpm` itself where there is none inside. */
export function lineNear(bpm: f32, reach: f32): f32 {
  const from = max(FIRST_BIN + 1, <i32>Mathf.ceil((bpm - reach) / (60 * BIN_HZ)));
  const to = <i32>((bpm + reach) / (60 * BIN_HZ));
  let best = -1;
  let most: f32 = 0;
  for (let k = from; k <= to; k++) {
    const p = load<f32>(PULSE + (<usize>k << 2));
    if (p > most) {
      most = p;
      best = k;
    }
  }
  if (best < 0) return bpm;
  return peakOf(best, bpm);
}

/** Vertex of the parabola through the logarithms of three bins (exact for a Gaussian main lobe). */
function peakOf(k: i32, otherwise: f32): f32 {
  const a = Mathf.log(load<f32>(PULSE + (<usize>(k - 1) << 2)) + 1e-12);
  const b = Mathf.log(load<f32>(PULSE + (<usize>k << 2)) + 1e-12);
  const c = Mathf.log(load<f32>(PULSE + (<usize>(k + 1) << 2)) + 1e-12);
  if (!(b >= a && b > c)) return otherwise;
  return (<f32>k + (0.5 * (a - c)) / (a - 2 * b + c)) * 60 * BIN_HZ;
}
