import { ramp } from '../math/ramp.js';
import { Artefact, lineAt } from './artefact.js';
import { beats, sum } from './beats.js';
import { type Counted, countBeats } from './count.js';
import { Harmonics, hasEvenOnly, powerOf } from './harmonics.js';
import { type MotionLikelihood, motionLikelihood } from './motion.js';
import { BINS, powers, WINDOW } from './powers.js';
import { Residual } from './residual.js';
import { Tone } from './tone.js';

/** Heart rate from the optical channels, as assembly/pulse/heart_rate.ts, in plain double precision. */

const FIRST = 7;
const BIN_BPM = 3.75;
const RATES = Array.from({ length: 191 }, (_, s) => 30 + s);

interface PulseEstimate {
  readonly value: number;
  readonly confidence: number;
}

interface Spectra {
  readonly pulse: readonly number[];
  readonly noise: readonly number[];
  /** Greatest power of any axis. */
  readonly loudest: readonly number[];
}

/** The tracker of one session; steps are a second apart. */
export class PulseRate {
  #belief = RATES.map(() => 1 / RATES.length);
  #means: Spectra | null = null;
  #slowRate: number | null = null;
  #value: number | null = null;
  #seen: number | null = null;
  #support: number | null = null;
  #unexplained: number | null = null;
  #onset = 0;
  #expected: number | null = null;
  readonly #residual = new Residual();
  readonly #artefact = new Artefact();
  readonly #harmonics = new Harmonics();
  readonly #tone = new Tone();

  /**
   * @param windows grid samples of each optical channel, NaN where empty
   * @param accel grid samples of the accelerometer's axes, null where there is none
   * @param lights places of red and infrared among the windows, if the device has both
   */
  step(
    windows: readonly number[][],
    accel: readonly number[][] | null,
    lights: readonly [number, number] | null = null,
  ): PulseEstimate | null {
    const axes = accel?.some((a) => isVarying(filled(a))) ? accel : null;
    const opticals = windows.filter((w) => heldOf(w) >= 102 && isVarying(filled(w)));
    const signals = opticals.map((w) => withoutTrend(filled(w)));
    if (opticals.length === 0) return null;
    const motion = axes ? motionOf(axes.map(filled)) : 0;
    const spectra = spectraOf(signals, motion);
    if (spectra.length === 0) return null;
    const [clean, apart, loudest] = this.#clean(meanOf(spectra), axes, motion);
    const axesLeft = (axes ?? []).map((a) => withoutTrend(filled(a)));
    const allAxes = allMove(axesLeft);
    if (allAxes) this.#artefact.know();
    else if (!axes) this.#artefact.forget();
    if (motion <= 0.5) this.#residual.reset();
    const left = motion > 0.5 ? this.#residual.powers(signals, axesLeft) : null;
    const moving = left ? motionLikelihood(signals, axesLeft, left, motion, fullness(opticals)) : null;
    this.#update(clean, motion, moving?.at ?? null);
    const { rate, belief } = bestRun(this.#belief);
    const found = beats(signals, rate);
    const track = Math.log((belief + 1e-3) / (1.001 - belief));
    const support = this.#supportOf(moving, rate);
    const unexplained = this.#unexplainedOf(moving, rate);
    const unrest = this.#unrest(rate);
    const seenApart = this.#seenApart(apart(rate), unrest);
    const seen = ramp(seenApart, 0.45, 0.5);
    const room = Math.max(1, (Math.max(...opticals.map(heldOf)) * rate) / 1920 - 1);
    const covered = motion + (1 - motion) * ramp((found?.intervals ?? 0) / room, 0.3, 0.7);
    const shown = seen * quality(opticals);
    const heights = fullness(opticals) < 0.9 ? null : heightsOf(signals, motion);
    if (support !== null && unexplained !== null) {
      this.#artefact.guess(heights);
      const confidence = covered * quality(opticals) * likelyInMotion(track, support, seenApart, unexplained);
      this.#expect(motion);
      const own = inMotion(clean, rate, found?.rate ?? 0);
      const light = found?.best ?? signals[0] ?? [];
      const lamp = this.#lampLike(light, own, 1, unrest);
      const power = powerOf(left?.[signals.findIndex((signal) => Object.is(signal, light))] ?? [], false);
      const unsure =
        this.#harmonics.hasHalf(own, loudest(own / 2) > 0.1) ||
        hasEvenOnly(own, power) ||
        this.#harmonics.hasOldLine(own, power);
      const alike = Math.max(lamp, movedAlike(lights, opticals, left ?? [], rate));
      return this.#answer(
        this.#leaning(own, confidence),
        Math.min(0.45 + 0.55 * (allAxes && !unsure ? 1 - alike : 0), confidence),
      );
    }
    const odds = -2.85 + 0.74 * track + looksOf(clean, rate, found?.likeness ?? 0, apart(rate), unrest);
    const confidence = (covered * shown) / (1 + Math.exp(-odds));
    const line = { value: atRest(clean, rate, found?.rate ?? 0), confidence };
    const counted = countBeats(found?.best ?? signals[0] ?? []);
    const chosen = counted ? likelier(line, counted, covered * shown, shown) : line;
    const step = this.#towards(chosen.value, counted ? blur(counted) : 1);
    const irregular = counted && counted.variation > 0.12 && counted.likeness > 0.95;
    const value = irregular ? chosen.value : chosen.value + step;
    const doubt = counted ? 0.4 * Math.max(0, Math.abs(step) - 2) : 0;
    const trust = chosen.confidence;
    const doubted = trust / (trust + (1 - trust) * Math.exp(doubt));
    const alike =
      movedAlike(lights, opticals, emphasised(signals, 0), value) * (allAxes ? Math.min(1, motion / 0.1) : 1);
    const own = { bpm: value, skew: counted?.skew ?? 0, alike, belief: doubted, hasAxes: axes !== null };
    const light = found?.best ?? signals[0] ?? [];
    const spectrum = spectraOf([[...light]], 0)[0] ?? [];
    const most = this.#artefact.most(spectrum, heights, own);
    const lamp = this.#lampLike(light, value, beside(clean, value), unrest);
    const power = powerOf(spectrum, true);
    const alternating =
      counted !== null && counted.shortest >= 15.4 && counted.pairVariation <= 0.06 && counted.variation > 0.12;
    const unsure =
      hasEvenOnly(value, power) ||
      this.#harmonics.hasOldLine(value, power) ||
      (!alternating && this.#harmonics.hasHalf(value, false));
    const guessed = counted !== null && (counted.lost > 1 || leavesOutRun(counted, value));
    const trusted = counted ? doubtedCount(counted, doubted, chosen.value) : doubted;
    return this.#answer(
      this.#leaning(value, trusted),
      Math.min(trusted, guessed || unsure ? 0.45 : Math.min(most, 1 - 0.55 * lamp)),
    );
  }

  #lampLike(light: readonly number[], bpm: number, beside: number, unrest: number): number {
    this.#harmonics.note(light, bpm, unrest);
    return this.#tone.lampLike(light, bpm, beside, this.#harmonics.secondInStep);
  }

  /** Moves the rate that is expected after the last one that was trusted. */
  #expect(motion: number): void {
    if (this.#expected === null) return;
    const target = Math.min(160, 75 + 100 * 0.03 * Math.sqrt(motion / (1 - motion)));
    this.#expected += 0.033 * (target - this.#expected);
  }

  /** A rate that hardly anything speaks for leans towards the expected one. */
  #leaning(rate: number, confidence: number): number {
    const share = Math.max(0, 1 - confidence / 0.05);
    return share * (this.#expected ?? rate) + (1 - share) * rate;
  }

  #answer(value: number, confidence: number): PulseEstimate {
    this.#value = value;
    if (confidence >= 0.5) this.#expected = value;
    this.#harmonics.noteTrust(value, confidence >= 0.5);
    return { value, confidence };
  }

  #clean(
    pulse: number[],
    axes: readonly number[][] | null,
    motion: number,
  ): [number[], (bpm: number) => number, (bpm: number) => number] {
    if (!axes || motion <= 0.01) {
      this.#means = null;
      return [pulse, () => 1, () => 0];
    }
    const spectra = spectraOf(
      axes.map((a) => withoutTrend(filled(a))),
      motion,
    );
    const amplitude = (k: number) => sum(spectra.map((p) => Math.sqrt(p[k] ?? 0))) / 3;
    const noise = pulse.map((_, k) => amplitude(k) ** 2);
    const lined = spectra.map((p) => ramp((BINS - FIRST) / sum(p), 4, 7));
    const loudest = pulse.map((_, k) => Math.max(0, ...spectra.map((p, axis) => (lined[axis] ?? 0) * (p[k] ?? 0))));
    const last = this.#means ?? { pulse, noise, loudest };
    const mean = (now: readonly number[], before: readonly number[]) => now.map((v, k) => 0.5 * (v + (before[k] ?? 0)));
    const means = {
      pulse: mean(pulse, last.pulse),
      noise: mean(noise, last.noise),
      loudest: mean(loudest, last.loudest),
    };
    this.#means = means;
    const share = (k: number, noise: number, least: number) =>
      (means.pulse[k] ?? 0) / ((means.pulse[k] ?? 0) + noise + least);
    const felt = Math.min(1, motion / 0.1);
    const loudestAt = (rate: number) => means.loudest[Math.floor(rate / BIN_BPM + 0.5)] ?? 0;
    const apart = (bpm: number) => {
      const k = Math.floor(bpm / BIN_BPM + 0.5);
      const both = (rate: number) => Math.min(means.pulse[Math.floor(rate / BIN_BPM + 0.5)] ?? 0, loudestAt(rate));
      const swing = Math.max(bpm < 90 ? both(bpm / 2) : 0, Math.min(loudestAt(bpm / 3), both((2 * bpm) / 3)));
      return share(k, 2 * felt * Math.max(means.loudest[k] ?? 0, 0.5 * swing), 0.005);
    };
    return [pulse.map((v, k) => v * share(k, 6 * motion * (means.noise[k] ?? 0), 1e-9)), apart, loudestAt];
  }

  /** Share of the likelihood that the rate had of late; null at rest. */
  #supportOf(moving: MotionLikelihood | null, rate: number): number | null {
    const share = moving?.shareNear(rate);
    const before = this.#support ?? share;
    this.#support =
      share === undefined || before === undefined ? null : before + (share < before ? 0.4 : 0.1) * (share - before);
    return this.#support;
  }

  /** Share of the line that the axes did not explain of late; null at rest. */
  #unexplainedOf(moving: MotionLikelihood | null, rate: number): number | null {
    const share = moving ? this.#residual.unexplainedAt(Math.floor(rate / BIN_BPM + 0.5)) : null;
    const before = this.#unexplained ?? share;
    this.#unexplained = share === null || before === null ? null : before + 0.5 * (share - before);
    return this.#unexplained;
  }

  #seenApart(apart: number, unrest: number): number {
    const before = this.#seen ?? apart;
    this.#seen = before + (apart > before ? 0.5 : Math.min(1, Math.max(0.05, 0.8 * unrest ** 2))) * (apart - before);
    return this.#seen;
  }

  #update(pulse: readonly number[], motion: number, moving: ((bpm: number) => number) | null): void {
    const likelihood = moving ?? resting(pulse, motion);
    const [up, down] = [motion > 0.9 && this.#onset > 0 ? Math.exp(-1 / 4) : Math.exp(-1 / 2), Math.exp(-1 / 2)];
    this.#onset = motion > 0.5 ? Math.max(0, this.#onset - 1) : Math.min(15, this.#onset + 1);
    const spread = 1 / (1 - up) + down / (1 - down);
    const posterior = RATES.map((bpm, s) => {
      const moved = sum(this.#belief.map((p, j) => p * (j < s ? up : down) ** Math.abs(s - j)));
      return ((moved / spread) * (1 - 1e-4) + 1e-4 / RATES.length) * likelihood(bpm);
    });
    const total = sum(posterior);
    this.#belief = posterior.map((p) => p / total);
  }

  #towards(value: number, blur: number): number {
    const change = (this.#value ?? value) - value;
    return Math.abs(change) > 12 ? 0 : 0.5 * blur * change;
  }

  #unrest(rate: number): number {
    const before = this.#slowRate ?? rate;
    this.#slowRate = before + 0.2 * (rate - before);
    return Math.min(2, Math.abs(rate - this.#slowRate) / 10);
  }
}

/** How uncertain the times of the beats are: 1 from 16 ms on. */
function blur({ jitter }: Counted): number {
  return Math.min(1, jitter / 0.5);
}

/** The more likely of the rate by line and period and that of the beats counted one by one. */
function likelier(line: PulseEstimate, counted: Counted, lineShown: number, shown: number): PulseEstimate {
  const difference = (most: number) => Math.min(1, Math.abs(counted.rate - line.value) / most);
  const unlikeness = Math.log(Math.max(0.02, 1.02 - counted.likeness));
  const slowness = Math.max(0, (55 - counted.rate) / 10);
  const [edge, gap] = [ramp(counted.edge, 1, 3) * 2, ramp(counted.gap, 1.2, 3.2) * 2];
  const alternating = counted.shortest >= 15.4 && counted.pairVariation <= 0.06;
  const paused = counted.evenness > 0.35 && isSame(counted.longest, 2 * counted.shortest);
  const skipping = paused && isSame(1920 / counted.shortest, line.value);
  const threeHalves = isSame(1.5 * counted.rate, line.value) && !skipping;
  const bigeminy = alternating && (isSame(counted.rate, 2 * line.value) || threeHalves);
  const followed = counted.followed >= 0.6;
  const run = isRun(counted, line.value);
  const countOdds =
    1.57 -
    1.53 * counted.variation -
    1.12 * counted.steadiness -
    0.46 * unlikeness -
    0.68 * Math.log(counted.margin) +
    2.87 * Math.min(0, counted.shortest / 32 - 0.6) -
    0.29 * Math.max(0, counted.longest / 32 - 1.2) +
    0.19 * counted.skew -
    1.5 * slowness -
    (bigeminy ? 0 : 2.52) * difference(5) -
    1.03 * edge -
    1.37 * gap -
    (followed || skipping ? 4 : 0);
  const lineOdds =
    3.31 -
    0.74 * counted.variation +
    0.6 * counted.skew +
    0.3 * Math.log((line.confidence + 1e-3) / (1.001 - line.confidence)) -
    2.82 * difference(5) -
    0.37 * difference(20) -
    slowness -
    0.43 * edge -
    0.91 * gap +
    0.42 * unlikeness -
    (followed || bigeminy || run ? 4 : 0);
  const byCount = shown / (1 + Math.exp(-countOdds));
  const byLine = lineShown / (1 + Math.exp(-lineOdds));
  if (Math.abs(counted.rate - line.value) <= 5) {
    const share = counted.variation > 0.12 ? 0 : 0.5 * blur(counted);
    const value = counted.rate + share * (line.value - counted.rate);
    return { value, confidence: Math.max(byCount, byLine) };
  }
  if (byCount > Math.max(0.5, byLine)) return { value: counted.rate, confidence: byCount };
  return { value: line.value, confidence: byLine };
}

/** Less, for a counted rate, where beats come at irregular times and other upstrokes are nearly as steep. */
function doubtedCount({ rate, disorder, margin }: Counted, confidence: number, chosen: number): number {
  if (Math.abs(rate - chosen) > 5) return confidence;
  const doubt = 45 * Math.max(0, disorder * Math.min(1, margin) - 0.03);
  return Math.max(Math.min(confidence, 0.05), confidence / (confidence + (1 - confidence) * Math.exp(doubt)));
}

const isSame = (a: number, b: number) => Math.abs(a - b) <= 0.1 * Math.max(a, b);

/** Whether weak pulses in a row, which the rate leaves out, may be beats. */
function leavesOutRun({ likeness, withRuns, variation, edge }: Counted, rate: number): boolean {
  return likeness > 0.85 && withRuns > rate + 5 && (variation > 0.05 || edge > 1);
}

/** Whether three fast beats come in a row, beside a slower line. */
function isRun({ rate, likeness, intervals }: Counted, line: number): boolean {
  const fast = (interval: number | undefined) => (interval ?? Number.POSITIVE_INFINITY) < (0.8 * 1920) / line;
  const threeFast = intervals.some((v, i) => fast(v) && fast(intervals[i + 1]) && fast(intervals[i + 2]));
  return likeness > 0.85 && rate > line && rate <= 1.7 * line && threeFast;
}

const heldOf = (x: readonly number[]) => x.filter((v) => !Number.isNaN(v)).length;
const fullness = (opticals: readonly number[][]) => Math.min(Math.max(...opticals.map(heldOf)) + 4, WINDOW) / WINDOW;

/** Quality of the optical channels, by their waveforms alone. */
function quality(opticals: readonly number[][]): number {
  const share = 0.5 + 0.5 * fullness(opticals);
  const kept = Math.min(...opticals.map((w) => clipped(filled(w))));
  const pace = Math.min(1, Math.max(0, ...opticals.map((w) => paced(filled(w), heldOf(w)))));
  return share * ramp(1 - kept, 0.4, 0.6) * pace;
}

function filled(x: readonly number[]): number[] {
  const known = x.flatMap((v, i) => (Number.isNaN(v) ? [] : [i]));
  return x.map((v, i) => {
    if (!Number.isNaN(v)) return v;
    const before = known.findLast((k) => k < i);
    const after = known.find((k) => k > i);
    if (before === undefined || after === undefined) return x[before ?? after ?? 0] ?? 0;
    const [a, b] = [x[before] ?? 0, x[after] ?? 0];
    return a + ((b - a) * (i - before)) / (after - before);
  });
}

/** Whether what is left without the trend is more than the rounding of f32. */
function isVarying(x: readonly number[]): boolean {
  const mean = sum(x) / x.length;
  return sum(withoutTrend(x).map((v) => v * v)) > x.length * (3e-6 * mean) ** 2;
}

/** Share of the values within 2 % of the range of the highest or lowest. */
function clipped(x: readonly number[]): number {
  const [low, high] = [Math.min(...x), Math.max(...x)];
  const margin = 0.02 * (high - low);
  return x.filter((v) => v <= low + margin || v >= high - margin).length / x.length;
}

/** 1 and more where the optical channel swings at a pulse's pace; 0 and less where it only drifts, hums, stands still or leaps. */
function paced(x: readonly number[], held: number): number {
  const at = (i: number) => x[i] ?? 0;
  const mean = sum(x) / x.length;
  const all = sum(x.map((v) => (v - mean) ** 2));
  const swings = sum(x.slice(8, -8).map((v, i) => (at(i) - 2 * v + at(i + 16)) ** 2)) / all;
  const steps = x.slice(1).map((v, i) => v - at(i));
  const jumps = sum(steps.map((v) => v * v));
  const still = (steps.filter((v) => v === 0).length - (x.length - held)) / held;
  const even = sum(steps.map(Math.abs)) ** 2 / Math.max(held * jumps, 1e-30);
  const drifts = Math.sqrt(swings) / 0.05 - 1;
  return Math.min(drifts, 4 * (1 - jumps / all), 10 * (0.6 - still), 20 * (even - 0.1));
}

function withoutTrend(x: readonly number[]): number[] {
  const middle = (x.length - 1) / 2;
  const mean = sum(x) / x.length;
  const slope = (12 * sum(x.map((v, i) => v * (i - middle)))) / (x.length * (x.length ** 2 - 1));
  return x.map((v, i) => v - mean - slope * (i - middle));
}

function motionOf(axes: readonly number[][]): number {
  const gravity = sum(axes.map((a) => (sum(a) / a.length) ** 2));
  const power = sum(axes.map((a) => sum(withoutTrend(a).map((v) => v * v)))) / WINDOW / (gravity + 1e-30);
  return power / (power + 0.03 ** 2);
}

/** Whether there are three axes, none of which moves less than a thousandth of all, or is a copy. */
function allMove(axes: readonly number[][]): boolean {
  const power = (a: readonly number[]) => sum(a.map((v) => v * v));
  const least = 1e-6 * sum(axes.map(power));
  const apart = axes.map((a, n) => power(a.map((v, i) => v - (axes[(n + 1) % 3]?.[i] ?? 0))));
  return axes.length >= 3 && [...axes.map(power), ...apart].every((p) => p > least);
}

/** The signals' emphasised spectra, each of a maximum of one; without the flat ones. */
function spectraOf(signals: readonly number[][], motion: number): number[][] {
  return emphasised(signals, motion).map((p) => p.map((v) => v / Math.max(...p)));
}

/** Logarithms of the amplitudes of the signals' strongest lines. */
function heightsOf(signals: readonly number[][], motion: number): number[] {
  return emphasised(signals, motion).map((p) => Math.log(Math.max(...p)) / 2);
}

function emphasised(signals: readonly number[][], motion: number): number[][] {
  return signals
    .map(powers)
    .map((p) => p.map((v, k) => (k < FIRST ? 0 : v * (motion + ((1 - motion) * k) / 16))))
    .filter((p) => Math.max(...p) > 1e-20);
}

/**
 * How far red and infrared move alike at a rate, as a movement would move them.
 * @param lights their places among the windows
 */
function movedAlike(
  lights: readonly [number, number] | null,
  windows: readonly number[][],
  spectra: readonly number[][],
  bpm: number,
): number {
  const [red = 0, infrared = 1] = (lights ?? []).map((place) => {
    const x = filled(windows[place] ?? []);
    const level = sum(x) / x.length;
    const swing = Math.sqrt(sum(withoutTrend(x).map((v) => v * v)) / x.length);
    return swing < 0.1 * level ? Math.sqrt(lineAt(spectra[place] ?? [], bpm)) / level : 0;
  });
  return infrared > 0 ? ramp(red / infrared, 0.55, 0.8) : 0;
}

/** Likelihood of a rate at rest. */
function resting(pulse: readonly number[], motion: number): (bpm: number) => number {
  const most = Math.max(...pulse.slice(FIRST, 70));
  const periodicity = periodicityOf(pulse);
  return (bpm) => {
    const line = (Math.sqrt(between(pulse, bpm / BIN_BPM) / most) + 0.05) ** 2;
    const period = (1 + (1 - motion) * Math.max(0, between(periodicity, Math.min(1920 / bpm, 70.999)))) ** 4;
    const prior = motion + (1 - motion) * Math.exp(-(Math.log(bpm / 75) ** 2));
    return line * period * prior;
  };
}

function meanOf(spectra: readonly number[][]): number[] {
  return Array.from({ length: BINS }, (_, k) => sum(spectra.map((p) => p[k] ?? 0)) / spectra.length);
}

function periodicityOf(pulse: readonly number[]): number[] {
  const bins = Array.from({ length: 45 }, (_, j) => FIRST + 1 + 2 * j);
  const power = bins.map((k) => (pulse[k] ?? 0) * (k / 16) ** 2);
  const total = sum(power);
  const at = (lag: number) =>
    sum(power.map((p, j) => p * Math.cos((2 * Math.PI * (bins[j] ?? 0) * lag) / 512))) / total;
  return Array.from({ length: 72 }, (_, lag) => at(lag));
}

function between(x: readonly number[], at: number): number {
  const i = Math.floor(at);
  return (x[i] ?? 0) * (1 - at + i) + (x[i + 1] ?? 0) * (at - i);
}

function bestRun(belief: readonly number[]): { rate: number; belief: number } {
  const masses = belief.slice(10).map((_, s) => sum(belief.slice(s, s + 11)));
  const first = masses.indexOf(Math.max(...masses));
  const mass = masses[first] ?? 0;
  return { rate: sum(belief.slice(first, first + 11).map((p, j) => p * (30 + first + j))) / mass, belief: mass };
}

function atRest(pulse: readonly number[], tracked: number, beat: number): number {
  return Math.abs(beat - tracked) > 12 ? lineNear(pulse, tracked, 7) : beat;
}

function inMotion(pulse: readonly number[], tracked: number, beat: number): number {
  const double = lineNear(pulse, 2 * tracked, 14);
  const parts = [tracked, lineNear(pulse, tracked, 7)];
  if (double !== 2 * tracked) parts.push(double / 2);
  if (Math.abs(beat - tracked) <= 7) parts.push(beat);
  return sum(parts) / parts.length;
}

function lineNear(pulse: readonly number[], bpm: number, reach: number): number {
  const from = Math.max(FIRST + 1, Math.ceil((bpm - reach) / BIN_BPM));
  const to = Math.min(BINS - 2, Math.floor((bpm + reach) / BIN_BPM));
  if (from > to) return bpm;
  const bins = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const k = bins.reduce((a, b) => ((pulse[b] ?? 0) > (pulse[a] ?? 0) ? b : a), from);
  const [a, b, c] = [pulse[k - 1] ?? 0, pulse[k] ?? 0, pulse[k + 1] ?? 0];
  if (!(b >= a && b > c)) return bpm;
  const [left, right] = [Math.log((a + 1e-12) / b), Math.log((c + 1e-12) / b)];
  return (k + (0.5 * (left - right)) / (left + right)) * BIN_BPM;
}

/** Confidence in motion, by the log odds of the belief, the support, and how far apart, and unexplained, the line was of late. */
function likelyInMotion(track: number, support: number, seen: number, unexplained: number): number {
  const odds = -4 + 2 * track + 1.5 * Math.min(0, Math.log((support + 0.02) / 0.67)) + 6 * seen;
  const trusted = Math.min(ramp(seen, 0.45, 0.5), ramp(unexplained, 0.1, 0.25), ramp(odds, 2, 2.5));
  return Math.min(0.45 + 0.55 * trusted, 1 / (1 + Math.exp(-odds)));
}

/** What the looks of the window add to the log odds. */
function looksOf(pulse: readonly number[], rate: number, ...terms: [number, number, number]): number {
  const [likeness, apart, unrest] = terms;
  return (
    1.02 * Math.log(shareNear(pulse, rate, 7) + shareNear(pulse, 2 * rate, 7) + 0.02) -
    1.99 * Math.log(Math.max(0.02, 1.02 - likeness)) +
    0.5 * Math.log(apart) -
    0.4 * unrest
  );
}

/** Share of the pulse's power near a rate. */
function shareNear(pulse: readonly number[], bpm: number, width: number): number {
  const near = pulse.filter((_, k) => k >= FIRST && k * BIN_BPM >= bpm - width && k * BIN_BPM <= bpm + width);
  return sum(near) / (sum(pulse) + 1e-30);
}

/** Share of the pulse's power that is not the line's at a rate. */
const beside = (pulse: readonly number[], bpm: number) => 1 - shareNear(pulse, bpm, 15);
