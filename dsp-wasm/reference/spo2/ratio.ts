import { ramp } from '../math/ramp.js';

/**
 * The ratio of ratios in plain double precision, as assembly/spo2/ratio.ts finds it.
 *
 * @param red, infrared raw optical channels of the window, 32 grid samples a second, NaN where empty
 * @returns R and its confidence, or null if fewer than three seconds have data
 */
export function ratioOfRatios(red: readonly number[], infrared: readonly number[]) {
  const [dcRed, dcInfrared] = [mean(red), mean(infrared)];
  const [a, b] = [slopes(red), slopes(infrared)];
  const [wideA, wideB] = [wide(a), wide(b)];
  const seconds = blocks(a.length, 32)
    .map((places) => ({ ...known(places, a, b), wide: known(places, wideA, wideB) }))
    .filter((s) => s.count >= 16);
  const squares = seconds.map((s) => s.aa / s.bb).toSorted((x, y) => x - y);
  const usual = squares[Math.ceil(squares.length / 2) - 1] ?? 1;
  const isUsual = (s: Products) => s.aa / s.bb <= 2 * usual && 2 * (s.aa / s.bb) >= usual;
  const accepted = seconds.filter((s) => s.ab >= 0.7 * Math.sqrt(s.aa * s.bb) && s.aa * s.bb > 0 && isUsual(s));
  const sum = pool(accepted.length > 0 ? accepted : seconds);
  if (seconds.length < 3 || !(dcRed > 0 && dcInfrared > 0 && sum.aa > 0 && sum.bb > 0)) return null;
  const perfusion = Math.sqrt(sum.bb / (32 * Math.max(1, accepted.length))) / 4 / dcInfrared;
  const perfused = ramp(perfusion, 0.00005, 0.0002) * (1 - ramp(perfusion, 0.1, 0.2));
  const channels = ramp(sum.ab / Math.sqrt(sum.aa * sum.bb), 0.6, 0.9) * perfused;
  const ratio = (Math.sqrt(sum.aa / sum.bb) * dcInfrared) / dcRed;
  const accepts = accepted.length > 0 ? accepted : seconds;
  const powers = accepts.reduce((total, s) => total + s.bb ** 2, 0);
  const spread = sum.bb ** 2 / (powers * Math.max(1, accepted.length));
  const evenness = ramp(spread, 0.2, 0.4) * ramp(sum.bb / sum.whole, 0.05, 0.2);
  const flat = 1 - ramp(Math.max(flatShare(red), flatShare(infrared)), 0.05, 0.15);
  const wideSum = pool(accepts.map((s) => s.wide));
  const raised = ramp(ratio - withoutMovement(wideSum, dcInfrared / dcRed), 0.05, 0.11);
  const rest = 1 - wideSum.ab ** 2 / (wideSum.aa * wideSum.bb);
  const alike = Math.max(1 - ramp(rest, 0.002, 0.006), ramp(skewness(centred(b)), 0.7, 1));
  const told = ramp(Math.abs(1 - ratio), 0.05, 0.11);
  const pulseOnly = told * (1 - raised) + (1 - told) * alike;
  return {
    ratio,
    confidence:
      (channels * flat * evenness * pulsatility(b) * steadiness(b) * accepted.length * pulseOnly) / seconds.length,
  };
}

/** The smoothed value (of three grid samples, weights 1, 2, 1) minus the one four grid samples earlier. */
function slopes(x: readonly number[]): number[] {
  const at = (i: number) => x[i] ?? Number.NaN;
  const smooth = (i: number) => at(i) + 2 * at(i - 1) + at(i - 2);
  return x.map((_, i) => smooth(i) - smooth(i - 4));
}

/** Each slope plus the one four grid samples earlier. */
function wide(slope: readonly number[]): number[] {
  return slope.map((v, i) => v + (slope[i - 4] ?? Number.NaN));
}

/** The ratio if a movement that moves both channels alike is taken out of them; infinite if it cannot be told. */
function withoutMovement(sum: Products, levels: number): number {
  const [aa, ab] = [sum.aa * levels ** 2, sum.ab * levels];
  return ab < sum.bb ? (aa - ab) / (ab - sum.bb) : Infinity;
}

/** Products of the slopes that exist in both channels. */
function known(places: readonly number[], a: readonly number[], b: readonly number[]): Products {
  return products(
    places.filter((i) => !Number.isNaN((a[i] ?? 0) + (b[i] ?? 0))),
    a,
    b,
  );
}

interface Products {
  readonly count: number;
  readonly aa: number;
  readonly ab: number;
  readonly bb: number;
  /** Sum of infrared², before its mean is subtracted. */
  readonly whole: number;
}

function products(places: readonly number[], a: readonly number[], b: readonly number[]): Products {
  const x = places.map((i) => a[i] ?? 0);
  const y = places.map((i) => b[i] ?? 0);
  const [mx, my] = [mean(x), mean(y)];
  const sum = (f: (i: number) => number) => x.reduce((s, _, i) => s + f(i), 0);
  const [dx, dy] = [(i: number) => (x[i] ?? 0) - mx, (i: number) => (y[i] ?? 0) - my];
  return {
    count: x.length,
    aa: sum((i) => dx(i) ** 2),
    ab: sum((i) => dx(i) * dy(i)),
    bb: sum((i) => dy(i) ** 2),
    whole: sum((i) => (y[i] ?? 0) ** 2),
  };
}

function pool(seconds: readonly Products[]): Products {
  const total = (f: (s: Products) => number) => seconds.reduce((sum, s) => sum + f(s), 0);
  return {
    count: total((s) => s.count),
    aa: total((s) => s.aa),
    ab: total((s) => s.ab),
    bb: total((s) => s.bb),
    whole: total((s) => s.whole),
  };
}

/** Share of the steps that are none, from the fifth grid sample on; rounding makes them 1e-9 of the level at most. */
function flatShare(x: readonly number[]): number {
  const steps = x.map((v, i) => Math.abs(v / (x[i - 1] ?? Number.NaN) - 1)).slice(4);
  const known = steps.filter((step) => !Number.isNaN(step));
  return known.filter((step) => step <= 1e-9).length / Math.max(1, known.length);
}

/** Resemblance to a pulse: repetition, or a steeper rise than fall. */
function pulsatility(slope: readonly number[]): number {
  const x = centred(slope);
  return Math.max(0.2, ramp(periodicity(x), 0.3, 0.6), 0.7 * ramp(skewness(x), 0.7, 1));
}

/** Slopes that rise and fall alike may be a movement's; of a first window, which has not grown. */
function steadiness(slope: readonly number[]): number {
  return Math.max(0.2, 1 - ramp(-skewness(centred(slope)), -0.4, -0.1));
}

/** From the first slope that exists; missing ones are 0. */
function centred(slope: readonly number[]): number[] {
  const level = mean(slope);
  const first = slope.findIndex((v) => !Number.isNaN(v));
  return slope.slice(first).map((v) => (Number.isNaN(v) ? 0 : v - level));
}

function skewness(x: readonly number[]): number {
  const moment = (power: number) => x.reduce((sum, v) => sum + v ** power, 0) / x.length;
  return Math.abs(moment(3) / moment(2) ** 1.5);
}

/** Highest local maximum of the autocorrelation at lags of 8 to 70 grid samples, at every second lag. */
function periodicity(x: readonly number[]): number {
  const last = Math.min(70, Math.floor(x.length / 2));
  const lags = Array.from({ length: Math.max(0, Math.floor((last - 8) / 2) + 1) }, (_, i) => 8 + 2 * i);
  const r = lags.map((lag) => correlation(x.slice(0, -lag), x.slice(lag)));
  const peaks = r.filter((v, i) => i > 0 && i < r.length - 1 && v >= (r[i - 1] ?? 0) && v >= (r[i + 1] ?? 0));
  return hums(x) ? 0 : Math.max(0, ...peaks);
}

/** Whether the autocorrelation has a peak above 0.5 at lags of 3 to 6 grid samples, too short for a heart. */
function hums(x: readonly number[]): boolean {
  const at = (lag: number) => x.slice(lag).reduce((total, v, i) => total + v * (x[i] ?? 0), 0);
  const energy = at(0);
  return Array.from({ length: 4 }, (_, i) => i + 3).some((lag) => {
    const before = at(lag - 1);
    return at(lag) > 0.5 * energy && at(lag) > before && at(lag) >= at(lag + 1);
  });
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, v, i) => sum + v * (b[i] ?? 0), 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y) + 1e-300);
}

/** Indices 0 ... count - 1 in runs of `size`. */
function blocks(count: number, size: number): number[][] {
  return Array.from({ length: count / size }, (_, b) => Array.from({ length: size }, (_, i) => b * size + i));
}

function mean(x: readonly number[]): number {
  const known = x.filter((v) => !Number.isNaN(v));
  return known.reduce((sum, v) => sum + v, 0) / known.length;
}
