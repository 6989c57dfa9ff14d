import { TWIDDLES_BYTES } from './fft';
import { HR_PPG_STATE, TABLES } from './layout';
import { BIN_HZ, BINS, FIRST_BIN } from './pulse_spectrum';
import { LEFT, LIKELIHOOD, PERIODICITY, PULSE, RIGHT, SLOPE_POWER } from './pulse_window';

/**
 * The heart rate's probability over 30 to 220 bpm, carried from step to step (the forward pass of a hidden Markov model:
 * Rabiner 1989). The transition is Laplacian; the likelihood of a rate is the pulse's spectrum there times its periodicity
 * at that period: a strong second harmonic has the spectrum but not the periodicity, a half rate the reverse.
 */

export const LOWEST: i32 = 30; // bpm
export const STATES: i32 = 191; // one per bpm
const BYTES: usize = 764; // of STATES f32
/** Cells per minute: over a rate in bpm, its period in cells. */
export const GRID_PER_MINUTE: f32 = 1920; // 60 * SLOW_HZ

/** Decay of the change of rate in one second, bpm: 8 s means change by 1 to 3 bpm a second in exercise. */
const CHANGE: f64 = 2;
/** Probability per step that the track is lost and starts anew. */
const LOST: f32 = 1e-4;
/** What any rate's likelihood keeps in a bin without power. */
const FLOOR: f32 = 0.05;
/** Rates are centred on 75 bpm at rest (adults: 50 to 100); only at rest, as exercise says nothing of the kind. */
const CENTRE: f64 = 75;
/** Strongest bin is looked for up to here: 4.4 Hz. */
const LAST_PULSE_BIN: i32 = 70;

// Tables, by four states: where a rate lies in the spectrum and among the lags (whole part, fraction), and its prior.
const TABLE: usize = TABLES + TWIDDLES_BYTES + 1024; // 48 x (bin i32x4, f32x4, lag i32x4, f32x4, prior f32x4)
const COLUMN: usize = 16;
const ROW: usize = 80;
// The cosines that the recurrence starts from, by lag: of bins FIRST_BIN + 1 and FIRST_BIN - 1, and twice that of bin 2.
const STARTS: usize = TABLE + 48 * ROW; // LAGS x (4 lags x (f32x4, f32x4, f32x4))

// State, offsets in the slot, behind the spectrum's.
const LAST_END: usize = HR_PPG_STATE; // f64, end of the step before
const TRACKING: usize = HR_PPG_STATE + 20; // i32, BELIEF holds something
const BELIEF: usize = HR_PPG_STATE + 1280; // STATES x f32

/** First lag of PERIODICITY, and how many: the periods of 220 to 30 bpm. */
const FIRST_LAG: i32 = 8;
const LAGS: i32 = 64;

export function makeTrackerTable(): void {
  for (let s = 0; s < STATES; s++) {
    const bpm = <f64>(LOWEST + s);
    const row = TABLE + <usize>(s >> 2) * ROW + (<usize>(s & 3) << 2);
    const bin = bpm / (60 * <f64>BIN_HZ);
    const lag = Math.min(<f64>GRID_PER_MINUTE / bpm, <f64>(FIRST_LAG + LAGS) - 1.001) - <f64>FIRST_LAG;
    store<i32>(row, <i32>bin << 2);
    store<f32>(row, <f32>(bin - Math.floor(bin)), COLUMN);
    store<i32>(row, <i32>lag << 2, 2 * COLUMN);
    store<f32>(row, <f32>(lag - Math.floor(lag)), 3 * COLUMN);
    store<f32>(row, <f32>Math.exp(-(Math.log(bpm / CENTRE) ** 2)), 4 * COLUMN);
  }
  for (let lag = 0; lag < LAGS; lag += 4) {
    const start = STARTS + <usize>lag * 12;
    v128.store(start, cosines(FIRST_BIN + 1, lag));
    v128.store(start, cosines(FIRST_BIN - 1, lag), 16);
    v128.store(start, f32x4.mul(cosines(2, lag), f32x4.splat(2)), 32);
  }
}

/** Starts anew where there was no step for longer than the window. @returns whether it did */
export function resumeTrack(slot: usize, end: f64): bool {
  const since = end - load<f64>(slot + LAST_END);
  store<f64>(slot + LAST_END, end);
  if (load<i32>(slot + TRACKING) && since <= 8) return false;
  store<i32>(slot + TRACKING, 1);
  for (let s: usize = 0; s < BYTES; s += 4) store<f32>(slot + BELIEF + s, <f32>1 / <f32>STATES);
  return true;
}

/** Takes PULSE into the belief. */
export function updateTrack(slot: usize, motion: f32): void {
  periodicity();
  likelihoods(motion);
  predict(slot + BELIEF);
  multiply(slot + BELIEF);
}

/** Autocorrelation of the pulse's slope, out of every second bin (enough for a window of half the length). */
function periodicity(): void {
  let total: f32 = 1e-30;
  for (let j = 0; j < SLOPE_BINS; j++) {
    const k = FIRST_BIN + 1 + 2 * j;
    const f = BIN_HZ * <f32>k;
    const power = load<f32>(PULSE + (<usize>k << 2)) * f * f;
    store<f32>(SLOPE_POWER + (<usize>j << 2), power);
    total += power;
  }
  for (let lag = 0; lag < LAGS; lag += 16) cosineSums(lag, <f32>1 / total);
}

/** Every second bin from FIRST_BIN + 1 to BINS - 1. */
const SLOPE_BINS: i32 = 45;

/** Sums of power times cosine at 16 lags, the cosines by Chebyshev's recurrence; four vectors hide its latency. */
function cosineSums(lag: i32, scale: f32): void {
  const start = STARTS + <usize>lag * 12;
  let a1 = v128.load(start);
  let b1 = v128.load(start, 48);
  let c1 = v128.load(start, 96);
  let d1 = v128.load(start, 144);
  let a0 = v128.load(start, 16);
  let b0 = v128.load(start, 64);
  let c0 = v128.load(start, 112);
  let d0 = v128.load(start, 160);
  const a2 = v128.load(start, 32);
  const b2 = v128.load(start, 80);
  const c2 = v128.load(start, 128);
  const d2 = v128.load(start, 176);
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (let j: usize = 0; j < <usize>SLOPE_BINS << 2; j += 4) {
    const power = v128.load32_splat(SLOPE_POWER + j);
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
  const to = PERIODICITY + (<usize>lag << 2);
  const s = f32x4.splat(scale);
  v128.store(to, f32x4.mul(a, s));
  v128.store(to, f32x4.mul(b, s), 16);
  v128.store(to, f32x4.mul(c, s), 32);
  v128.store(to, f32x4.mul(d, s), 48);
}

/** cos(2 pi k (FIRST_LAG + lag) / 512) for four lags, from the table of 1024. */
function cosines(k: i32, lag: i32): v128 {
  const l = FIRST_LAG + lag;
  return f32x4(cosine(k * l), cosine(k * (l + 1)), cosine(k * (l + 2)), cosine(k * (l + 3)));
}

// @ts-ignore: decorator
@inline
function cosine(i: i32): f32 {
  return load<f32>(TABLES + (<usize>((i << 1) & 1023) << 3));
}

function likelihoods(motion: f32): void {
  const scale = f32x4.splat(<f32>1 / strongest());
  const one = f32x4.splat(1);
  const moving = f32x4.splat(motion);
  const still = f32x4.sub(one, moving);
  let row = TABLE;
  for (let s: usize = 0; s < BYTES; s += 16) {
    const power = betweenFour(PULSE, row);
    const line = f32x4.add(f32x4.sqrt(f32x4.mul(power, scale)), f32x4.splat(FLOOR));
    const repeats = f32x4.pmax(f32x4.splat(0), betweenFour(PERIODICITY, row + 2 * COLUMN));
    const period = f32x4.add(one, f32x4.mul(still, repeats));
    const square = f32x4.mul(period, period);
    const prior = f32x4.add(moving, f32x4.mul(still, v128.load(row, 4 * COLUMN)));
    const looks = f32x4.mul(f32x4.mul(line, line), f32x4.mul(square, square));
    v128.store(LIKELIHOOD + s, f32x4.mul(looks, prior));
    row += ROW;
  }
}

/** Strongest bin of PULSE up to LAST_PULSE_BIN. */
function strongest(): f32 {
  let most: f32 = 1e-30;
  for (let k = FIRST_BIN; k < LAST_PULSE_BIN; k++) {
    const power = load<f32>(PULSE + (<usize>k << 2));
    most = power > most ? power : most;
  }
  return most;
}

/** Values of x between two cells, at the four places that the table names. */
// @ts-ignore: decorator
@inline
function betweenFour(x: usize, places: usize): v128 {
  // Pairs of neighbours, then the left ones apart from the right ones
  const ab = v128.load64_lane(x + load<i32>(places, 4), v128.load64_zero(x + load<i32>(places)), 1);
  const cd = v128.load64_lane(x + load<i32>(places, 12), v128.load64_zero(x + load<i32>(places, 8)), 1);
  const left = v128.shuffle<f32>(ab, cd, 0, 2, 4, 6);
  const right = v128.shuffle<f32>(ab, cd, 1, 3, 5, 7);
  const a = v128.load(places, COLUMN);
  return f32x4.add(f32x4.mul(left, f32x4.sub(f32x4.splat(1), a)), f32x4.mul(right, a));
}

/** Spreads the belief by the transition: a decaying exponential to both sides, as two first-order recursions. */
function predict(belief: usize): void {
  const r = <f32>Math.exp(-1 / CHANGE);
  let right: f32 = 0;
  let left: f32 = 0;
  for (let s: usize = 0; s < BYTES; s += 4) {
    right = right * r + load<f32>(belief + s);
    store<f32>(RIGHT + s, right);
    store<f32>(LEFT + (BYTES - 4 - s), left);
    left = (left + load<f32>(belief + (BYTES - 4 - s))) * r;
  }
  const gain = f32x4.splat(((<f32>1 - r) / (<f32>1 + r)) * (<f32>1 - LOST));
  const lost = f32x4.splat(LOST / <f32>STATES);
  for (let s: usize = 0; s < BYTES; s += 16) {
    const both = f32x4.add(v128.load(RIGHT + s), v128.load(LEFT + s));
    v128.store(belief + s, f32x4.add(f32x4.mul(both, gain), lost));
  }
  store<f32>(belief + BYTES, 0); // the vector's fourth lane is no state
}

/** Belief times likelihood, to a sum of one. */
function multiply(belief: usize): void {
  store<f32>(LIKELIHOOD + BYTES, 0);
  let sums = f32x4.splat(0);
  for (let s: usize = 0; s < BYTES; s += 16) {
    const p = f32x4.mul(v128.load(belief + s), v128.load(LIKELIHOOD + s));
    v128.store(belief + s, p);
    sums = f32x4.add(sums, p);
  }
  let sum = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1);
  sum += f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3);
  const scale = f32x4.splat(<f32>1 / max<f32>(sum, 1e-30));
  for (let s: usize = 0; s < BYTES; s += 16) v128.store(belief + s, f32x4.mul(v128.load(belief + s), scale));
}

/** Half width of what counts as one rate: the 5 bpm of the confidence's definition. */
const NEAR: i32 = 5;

/** Belief in the likeliest run of rates, after trackedRate. */
export let trackedBelief: f32 = 0;

/** Mean, in bpm, of the 11 neighbouring rates that hold the most belief. */
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

function bestRun(belief: usize): i32 {
  let best: f32 = -1;
  let first = 0;
  for (let s = 0; s < STATES - 2 * NEAR; s += 4) {
    const run = belief + (<usize>s << 2);
    let sum = v128.load(run);
    for (let j: usize = 4; j <= 8 * NEAR; j += 4) sum = f32x4.add(sum, v128.load(run + j));
    v128.store(RIGHT, sum);
    for (let lane = 0; lane < 4; lane++) {
      const mass = load<f32>(RIGHT + (<usize>lane << 2));
      if (mass > best && s + lane < STATES - 2 * NEAR) {
        best = mass;
        first = s + lane;
      }
    }
  }
  return first;
}

/** Rate of the strongest line of PULSE within `reach` of `bpm`; `bpm` itself where there is none inside. */
export function lineNear(bpm: f32, reach: f32): f32 {
  const from = max(FIRST_BIN + 1, <i32>ceil<f32>((bpm - reach) / (60 * BIN_HZ)));
  const to = min(BINS - 2, <i32>((bpm + reach) / (60 * BIN_HZ)));
  if (from > to) return bpm;
  let best = from;
  for (let k = from + 1; k <= to; k++) {
    if (load<f32>(PULSE + (<usize>k << 2)) > load<f32>(PULSE + (<usize>best << 2))) best = k;
  }
  return vertex(best, bpm);
}

/** Vertex of the parabola through the logarithms of three bins (exact for a Gaussian main lobe), as a rate. */
function vertex(k: i32, otherwise: f32): f32 {
  const a = load<f32>(PULSE + (<usize>(k - 1) << 2));
  const b = load<f32>(PULSE + (<usize>k << 2));
  const c = load<f32>(PULSE + (<usize>(k + 1) << 2));
  if (!(b >= a && b > c)) return otherwise;
  const left = Mathf.log((a + <f32>1e-12) / b);
  const right = Mathf.log((c + <f32>1e-12) / b);
  return (<f32>k + (0.5 * (left - right)) / (left + right)) * 60 * BIN_HZ;
}
