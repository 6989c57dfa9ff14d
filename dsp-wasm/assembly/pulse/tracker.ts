import { BINS, PulseState, STATES, STATES_ROW } from '../memory/pulse_state';
import { Row, rowAt } from '../memory/row';
import { FIRST_CANDIDATE } from './candidates';
import { BIN_HZ, FIRST_BIN, GRID_PER_MINUTE, LOWEST, Tracked, WINDOW_SECONDS } from './records';
import { SPECTRUM, TRACK } from './tuning';

/**
 * The probability of each heart rate from 30 to 220 bpm, updated at each step (the forward pass of a hidden Markov model:
 * Rabiner 1989). The transition is Laplacian, with a wider rise at the onset
 * of exercise. At rest, the likelihood of a rate is the product of the pulse's spectrum at the
 * rate and its periodicity at the period: a strong second harmonic has the first but not the second, half the rate the second
 * but not the first. The periodicity counts most: the lines of a slow pulse fill the whole spectrum. In motion, it comes from candidates.ts.
 */

/** Lags of the autocorrelation. */
const LAGS: i32 = 64;
/** First lag of PERIODICITY: with LAGS, the periods of 220 to 30 bpm. */
const FIRST_LAG: i32 = 8;
/** Every second bin from FIRST_BIN + 1 to BINS - 1. */
const SLOPE_BINS: i32 = 45;

/** Power spectrum of the pulse's slope, and its autocorrelation by lag. */
const SLOPE_POWER = changetype<Row<f32>>(memory.data(SLOPE_BINS * 4, 16));
const PERIODICITY = changetype<Row<f32>>(memory.data(LAGS * 4, 16));
/** Belief, spread to higher and to lower rates. */
const UPWARD = changetype<Row<f32>>(memory.data(STATES_ROW * 4, 16));
const DOWNWARD = changetype<Row<f32>>(memory.data(STATES_ROW * 4, 16));

/** The positions of four neighbouring rates in the spectrum and among the lags, and their prior. */
@unmanaged
class Place {
  /** Byte offsets of the bins below. */
  bin: v128;
  binFraction: v128;
  /** Byte offsets of the lags below. */
  lag: v128;
  lagFraction: v128;
  prior: v128;
}

/** Cosines at four lags that the recurrence starts from. */
@unmanaged
class CosineStart {
  /** Of bin FIRST_BIN + 1. */
  now: v128;
  /** Of bin FIRST_BIN - 1. */
  before: v128;
  /** Twice that of bin 2. */
  twice: v128;
}

const PLACES = changetype<Row<Place>>(memory.data((STATES_ROW / 4) * offsetof<Place>(), 16));
const STARTS = changetype<Row<CosineStart>>(memory.data((LAGS / 4) * offsetof<CosineStart>(), 16));

function makeTrackerTable(): void {
  for (let s = 0; s < STATES; s++) {
    const bpm = <f64>(LOWEST + s);
    const place = PLACES[s >> 2];
    const bin = bpm / (60 * <f64>BIN_HZ);
    const lag = Math.min(<f64>GRID_PER_MINUTE / bpm, <f64>(FIRST_LAG + LAGS) - 1.001) - <f64>FIRST_LAG;
    const at = changetype<usize>(place) + ((<usize>(s & 3)) << 2);
    store<i32>(at, (<i32>bin) << 2, offsetof<Place>('bin'));
    store<f32>(at, <f32>(bin - Math.floor(bin)), offsetof<Place>('binFraction'));
    store<i32>(at, (<i32>lag) << 2, offsetof<Place>('lag'));
    store<f32>(at, <f32>(lag - Math.floor(lag)), offsetof<Place>('lagFraction'));
    store<f32>(
      at,
      <f32>Math.exp(-(Math.log(Math.max(bpm, TRACK.USUAL_RATE) / TRACK.USUAL_RATE) ** 2)),
      offsetof<Place>('prior'),
    );
  }
  for (let lag = 0; lag < LAGS; lag += 4) {
    const start = STARTS[lag >> 2];
    start.now = cosines(FIRST_BIN + 1, lag);
    start.before = cosines(FIRST_BIN - 1, lag);
    start.twice = f32x4.mul(cosines(2, lag), f32x4.splat(2));
  }
}
makeTrackerTable();

/** cos(2 pi k (FIRST_LAG + lag) / 512) for four lags. */
function cosines(k: i32, lag: i32): v128 {
  const l = FIRST_LAG + lag;
  return f32x4(cosine(k * l), cosine(k * (l + 1)), cosine(k * (l + 2)), cosine(k * (l + 3)));
}

function cosine(i: i32): f32 {
  return <f32>Math.cos((2 * Math.PI * <f64>(i & 511)) / 512);
}

/** Starts again if there was no step for longer than the window. @returns whether it did */
export function resumeTrack(state: PulseState, end: f64): bool {
  const since = end - state.lastEnd;
  state.lastEnd = end;
  if (state.tracking && since <= WINDOW_SECONDS) return false;
  state.tracking = true;
  state.onset = 0;
  for (let s = 0; s < STATES; s++) state.belief[s] = <f32>1 / <f32>STATES;
  return true;
}

/**
 * Updates the belief with the window's spectrum and, in motion, with the likelihoods of the candidates.
 * @param scores of the candidates; not read at rest
 * @param likelihood of each rate in this window, as it is found; STATES_ROW
 */
export function updateTrack(
  state: PulseState,
  pulse: Row<f32>,
  motion: f32,
  scores: Row<f32>,
  likelihood: Row<f32>,
): void {
  if (motion > SPECTRUM.MOVING) {
    findLikelihoodsInMotion(scores, likelihood);
  } else {
    findPeriodicity(pulse);
    findLikelihoods(pulse, motion, likelihood);
  }
  for (let s = STATES; s < STATES_ROW; s++) likelihood[s] = 0;
  predict(state.belief, fastestRise(state, motion));
  multiply(state.belief, likelihood);
}

/** Share of a row of rates, such as the belief, that is near a rate. */
export function massNear(row: Row<f32>, bpm: f32): f32 {
  const middle = <i32>(bpm + <f32>0.5) - LOWEST;
  let all: f32 = 1e-30;
  let near: f32 = 0;
  for (let s = 0; s < STATES; s++) {
    all += row[s];
    if (abs(s - middle) <= TRACK.NEAR_RATE) near += row[s];
  }
  return near / all;
}

/** Autocorrelation of the pulse's slope, from every second bin (enough for a window of half the length). */
function findPeriodicity(pulse: Row<f32>): void {
  let total: f32 = 1e-30;
  for (let j = 0; j < SLOPE_BINS; j++) {
    const k = FIRST_BIN + 1 + 2 * j;
    const f = BIN_HZ * <f32>k;
    const power = pulse[k] * f * f;
    SLOPE_POWER[j] = power;
    total += power;
  }
  for (let lag = 0; lag < LAGS; lag += 16) sumCosines(lag, <f32>1 / total);
}

/** Sums of power times cosine at 16 lags, the cosines by Chebyshev's recurrence; four vectors hide its latency. */
function sumCosines(lag: i32, scale: f32): void {
  const start = lag >> 2;
  let a1 = STARTS[start].now;
  let b1 = STARTS[start + 1].now;
  let c1 = STARTS[start + 2].now;
  let d1 = STARTS[start + 3].now;
  let a0 = STARTS[start].before;
  let b0 = STARTS[start + 1].before;
  let c0 = STARTS[start + 2].before;
  let d0 = STARTS[start + 3].before;
  const a2 = STARTS[start].twice;
  const b2 = STARTS[start + 1].twice;
  const c2 = STARTS[start + 2].twice;
  const d2 = STARTS[start + 3].twice;
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (let j = 0; j < SLOPE_BINS; j++) {
    const power = v128.load32_splat(SLOPE_POWER.at(j));
    a = f32x4.add(a, f32x4.mul(a1, power));
    b = f32x4.add(b, f32x4.mul(b1, power));
    c = f32x4.add(c, f32x4.mul(c1, power));
    d = f32x4.add(d, f32x4.mul(d1, power));
    const an = f32x4.sub(f32x4.mul(a2, a1), a0);
    const bn = f32x4.sub(f32x4.mul(b2, b1), b0);
    const cn = f32x4.sub(f32x4.mul(c2, c1), c0);
    const dn = f32x4.sub(f32x4.mul(d2, d1), d0);
    a0 = a1;
    b0 = b1;
    c0 = c1;
    d0 = d1;
    a1 = an;
    b1 = bn;
    c1 = cn;
    d1 = dn;
  }
  const s = f32x4.splat(scale);
  v128.store(PERIODICITY.at(lag), f32x4.mul(a, s));
  v128.store(PERIODICITY.at(lag + 4), f32x4.mul(b, s));
  v128.store(PERIODICITY.at(lag + 8), f32x4.mul(c, s));
  v128.store(PERIODICITY.at(lag + 12), f32x4.mul(d, s));
}

function findLikelihoods(pulse: Row<f32>, motion: f32, to: Row<f32>): void {
  const scale = f32x4.splat(<f32>1 / strongest(pulse));
  const one = f32x4.splat(1);
  const moving = f32x4.splat(motion);
  const still = f32x4.sub(one, moving);
  for (let s = 0; s < STATES; s += 4) {
    const place = PLACES[s >> 2];
    const power = betweenFour(pulse, changetype<usize>(place) + offsetof<Place>('bin'), place.binFraction);
    const line = f32x4.add(f32x4.sqrt(f32x4.mul(power, scale)), f32x4.splat(TRACK.LIKELIHOOD_FLOOR));
    const repeats = f32x4.pmax(
      f32x4.splat(0),
      betweenFour(PERIODICITY, changetype<usize>(place) + offsetof<Place>('lag'), place.lagFraction),
    );
    const period = f32x4.add(one, f32x4.mul(still, repeats));
    const square = f32x4.mul(period, period);
    const prior = f32x4.add(moving, f32x4.mul(still, place.prior));
    const fourth = f32x4.mul(square, square);
    v128.store(to.at(s), f32x4.mul(f32x4.mul(f32x4.mul(line, line), f32x4.mul(fourth, fourth)), prior));
  }
}

/** In motion: interpolated between the candidates' scores. */
function findLikelihoodsInMotion(scores: Row<f32>, to: Row<f32>): void {
  const byBin = rowAt<f32>(scores.at(-FIRST_CANDIDATE));
  for (let s = 0; s < STATES; s += 4) {
    const place = PLACES[s >> 2];
    const likelihood = betweenFour(byBin, changetype<usize>(place) + offsetof<Place>('bin'), place.binFraction);
    v128.store(to.at(s), likelihood);
  }
}

function strongest(pulse: Row<f32>): f32 {
  let most: f32 = 1e-30;
  for (let k = FIRST_BIN; k < BINS; k++) most = pulse[k] > most ? pulse[k] : most;
  return most;
}

/** Values of x between its elements, at four byte offsets (i32) plus four fractions. */
function betweenFour(x: Row<f32>, offsets: usize, fractions: v128): v128 {
  // Pairs of neighbours, then separated into left and right ones
  const row = changetype<usize>(x);
  const a = v128.load64_zero(row + load<i32>(offsets));
  const ab = v128.load64_lane(row + load<i32>(offsets, 4), a, 1);
  const c = v128.load64_zero(row + load<i32>(offsets, 8));
  const cd = v128.load64_lane(row + load<i32>(offsets, 12), c, 1);
  const left = v128.shuffle<f32>(ab, cd, 0, 2, 4, 6);
  const right = v128.shuffle<f32>(ab, cd, 1, 3, 5, 7);
  return f32x4.add(f32x4.mul(left, f32x4.sub(f32x4.splat(1), fractions)), f32x4.mul(right, fractions));
}

/**
 * Decay of a rise of the rate in this step: at the onset of exercise after rest the rate rises faster than the window, which
 * smears its line, can show.
 */
function fastestRise(state: PulseState, motion: f32): f64 {
  const rises = motion > SPECTRUM.MOVING && state.onset > 0;
  state.onset =
    motion > SPECTRUM.MOVING ? max<f32>(0, state.onset - 1) : min<f32>(<f32>WINDOW_SECONDS, state.onset + 1);
  return rises ? TRACK.ONSET_CHANGE : TRACK.RATE_CHANGE;
}

/** Spreads the belief by the transition: a decaying exponential to each side, as two first-order recursions. */
function predict(belief: Row<f32>, rise: f64): void {
  const up = <f32>Math.exp(-1 / rise);
  const down = <f32>Math.exp(-1 / TRACK.RATE_CHANGE);
  let upward: f32 = 0;
  let downward: f32 = 0;
  for (let s = 0; s < STATES; s++) {
    upward = upward * up + belief[s];
    UPWARD[s] = upward;
    DOWNWARD[STATES - 1 - s] = downward;
    downward = (downward + belief[STATES - 1 - s]) * down;
  }
  const spread = <f32>1 / (<f32>1 - up) + down / (<f32>1 - down);
  const gain = f32x4.splat((<f32>1 - TRACK.LOST) / spread);
  const lost = f32x4.splat(TRACK.LOST / <f32>STATES);
  for (let s = 0; s < STATES; s += 4) {
    const both = f32x4.add(v128.load(UPWARD.at(s)), v128.load(DOWNWARD.at(s)));
    v128.store(belief.at(s), f32x4.add(f32x4.mul(both, gain), lost));
  }
  for (let s = STATES; s < STATES_ROW; s++) belief[s] = 0;
}

/** Belief times likelihood, scaled to a sum of one. */
function multiply(belief: Row<f32>, likelihood: Row<f32>): void {
  let sums = f32x4.splat(0);
  for (let s = 0; s < STATES; s += 4) {
    const p = f32x4.mul(v128.load(belief.at(s)), v128.load(likelihood.at(s)));
    v128.store(belief.at(s), p);
    sums = f32x4.add(sums, p);
  }
  let sum = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1);
  sum += f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3);
  const scale = f32x4.splat(<f32>1 / max<f32>(sum, 1e-30));
  for (let s = 0; s < STATES; s += 4) v128.store(belief.at(s), f32x4.mul(v128.load(belief.at(s)), scale));
}

/** Mean, in bpm, of the 11 neighbouring rates with the most belief, and the sum of their belief. */
export function findTracked(state: PulseState, to: Tracked): void {
  const first = bestRun(state.belief);
  let mass: f32 = 1e-30;
  let moment: f32 = 0;
  for (let s = first; s <= first + 2 * TRACK.NEAR_RATE; s++) {
    const p = state.belief[s];
    mass += p;
    moment += p * <f32>(LOWEST + s);
  }
  to.rate = moment / mass;
  to.belief = mass;
}

function bestRun(belief: Row<f32>): i32 {
  let best: f32 = -1;
  let first = 0;
  for (let s = 0; s < STATES - 2 * TRACK.NEAR_RATE; s += 4) {
    const run = belief.at(s);
    let sum = v128.load(run);
    for (let j: usize = 4; j <= 8 * TRACK.NEAR_RATE; j += 4) sum = f32x4.add(sum, v128.load(run + j));
    if (!v128.any_true(f32x4.gt(sum, f32x4.splat(best)))) continue;
    v128.store(UPWARD.at(0), sum);
    for (let lane = 0; lane < 4; lane++) {
      const mass = UPWARD[lane];
      if (mass > best && s + lane < STATES - 2 * TRACK.NEAR_RATE) {
        best = mass;
        first = s + lane;
      }
    }
  }
  return first;
}

/** Rate of the pulse's strongest line within `reach` of `bpm`; `bpm` itself if there is none. */
export function lineNear(pulse: Row<f32>, bpm: f32, reach: f32): f32 {
  const from = max(FIRST_BIN + 1, <i32>ceil<f32>((bpm - reach) / (60 * BIN_HZ)));
  const to = min(BINS - 2, <i32>((bpm + reach) / (60 * BIN_HZ)));
  if (from > to) return bpm;
  let best = from;
  for (let k = from + 1; k <= to; k++) if (pulse[k] > pulse[best]) best = k;
  return vertex(pulse, best, bpm);
}

/** Vertex of the parabola through the logarithms of three bins (exact for a Gaussian main lobe), as a rate. */
function vertex(pulse: Row<f32>, k: i32, otherwise: f32): f32 {
  const a = pulse[k - 1];
  const b = pulse[k];
  const c = pulse[k + 1];
  if (!(b >= a && b > c)) return otherwise;
  const left = Mathf.log((a + <f32>1e-12) / b);
  const right = Mathf.log((c + <f32>1e-12) / b);
  return (<f32>k + (0.5 * (left - right)) / (left + right)) * 60 * BIN_HZ;
}
