import { paddedFft4 } from '../math/fft';
import { mostOf, sumsOf } from '../math/vector';
import { countLanes } from '../memory/lanes';
import { BINS, BINS_ROW, PulseState } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { Session } from '../memory/session';
import { findAxesLevels, findOpticalLevels } from './candidates';
import { BIN_HZ, FIRST_BIN, POINTS, PulseWindow, Spectra } from './records';
import { residualPowers } from './residual';
import { RESIDUAL, SPECTRUM } from './tuning';
import { usedLanes } from './window';

/**
 * The pulse's power spectrum over the optical channels, cleaned of the lines that the accelerometer has too: a Wiener
 * filter whose noise is the accelerometer's spectrum (Temko, "Accurate wearable heart rate monitoring during physical
 * exercises using PPG", IEEE TBME 2017), weighted by how much the wrist moves.
 *
 * The window is thinned to every second grid sample first, by the weights 1, 3, 3, 1: of the power above 10 Hz at most a
 * tenth falls on the bins that are kept. What the weights take off those bins is made good.
 */

/** Transform length: the points padded to twice, bins of 3.75 bpm under a main lobe of 30 bpm. */
const LENGTH: i32 = 2 * POINTS;

/** The decimated window, followed by the same number of zeros; and the transform's working array. */
const FFT_IN = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
const FFT_WORK = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
/** Power of the signals that were transformed last. */
const POWER = changetype<Row<v128>>(memory.data(BINS_ROW * 16, 16));
/** Power spectrum of the acceleration, and the greatest power of an axis. */
const NOISE = changetype<Row<f32>>(memory.data(BINS_ROW * 4, 16));
const LOUDEST = changetype<Row<f32>>(memory.data(BINS_ROW * 4, 16));

/** A quarter of the Hann window, by point. */
const HANN = changetype<Row<f32>>(memory.data(POINTS * 4, 16));
/** What thinning took off the power, by bin. */
const GAIN = changetype<Row<f32>>(memory.data(BINS * 4, 16));

function makeHann(): void {
  for (let i = 0; i < POINTS; i++) {
    const phase = (2 * Math.PI * (<f64>i + 0.5)) / <f64>POINTS;
    HANN[i] = <f32>(0.25 * (0.5 - 0.5 * Math.cos(phase)));
  }
  for (let k = 0; k < BINS; k++) {
    const passed = Math.cos((Math.PI * <f64>k) / <f64>(4 * POINTS));
    GAIN[k] = <f32>(passed ** -6);
  }
}
makeHann();

/** Forgets the running means. */
export function resetSpectrum(state: PulseState): void {
  state.warm = false;
  state.filtering = false;
}

/**
 * Writes the spectra of the window; returns whether an optical channel varies. Those of the accelerometer and what it does not explain of the
 * light are made in motion only.
 */
export function pulseSpectrum(session: Session, window: PulseWindow, to: Spectra): bool {
  const motion = window.motion;
  powers(window.optical.samples, session.opticalCount, to.optical);
  const used = usedLanes(window);
  if (!combineOptical(motion, used, to)) return false;
  if (motion > SPECTRUM.MOVING) findOpticalLevels(POWER, used, to.opticalLevel);
  if (motion > SPECTRUM.FELT_MOTION) {
    powers(window.axes.samples, 3, to.axes);
    combineAxes(motion);
    clean(session.pulse, motion, to.pulse);
  } else {
    session.pulse.warm = false;
  }
  if (motion > SPECTRUM.MOVING) {
    findAxesLevels(POWER, motion, to.axesLevel);
    residualPowers(session.pulse, to);
    findOpticalLevels(to.residual, used, to.residualLevel);
  } else {
    session.pulse.filtering = false;
  }
  return true;
}

/** Power spectra of `count` signals, side by side, under a Hann window, to POWER and `spectra`, BINS vectors; scales are the callers'. */
function powers(signals: Row<v128>, count: i32, spectra: Row<v128>): void {
  countLanes(count, POINTS);
  thin(signals);
  paddedFft4(FFT_IN.at(0), FFT_WORK.at(0), LENGTH, BINS, spectra.at(0));
  for (let k = 0; k < BINS; k++) {
    const re = spectra[2 * k];
    const im = spectra[2 * k + 1];
    const power = f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im));
    POWER[k] = f32x4.mul(power, v128.load32_splat(GAIN.at(k)));
  }
}

/** Writes every second grid sample, weighed by the window, to FFT_IN; the window's ends weigh nothing. */
function thin(signals: Row<v128>): void {
  FFT_IN[0] = f32x4.splat(0);
  FFT_IN[POINTS - 1] = f32x4.splat(0);
  for (let i = 1; i < POINTS - 1; i++) {
    const at = signals.at(2 * i);
    const outer = f32x4.add(v128.load(at - 16), v128.load(at, 32));
    const inner = f32x4.add(v128.load(at), v128.load(at, 16));
    const sum = f32x4.add(outer, f32x4.mul(inner, f32x4.splat(3)));
    FFT_IN[i] = f32x4.mul(sum, v128.load32_splat(HANN.at(i)));
  }
}

/** At rest power is weighted by f, which takes the slow baseline down; in motion, where high lines are noise, it is not. */
function emphasis(k: i32, motion: f32): f32 {
  return motion + (<f32>1 - motion) * (BIN_HZ * <f32>k);
}

/** Emphasis of four bins from k on. */
function emphases(k: i32, motion: f32): v128 {
  const bins = f32x4.add(f32x4.splat(<f32>k), f32x4(0, 1, 2, 3));
  return f32x4.add(f32x4.splat(motion), f32x4.mul(f32x4.splat((<f32>1 - motion) * BIN_HZ), bins));
}

/** Power of a bin of one optical channel, emphasised as at rest, where its strongest is one. */
export function opticalPower(spectra: Spectra, lane: i32, k: i32): f32 {
  const at = spectra.optical.at(2 * k) + ((<usize>lane) << 2);
  const re = load<f32>(at);
  const im = load<f32>(at, 16);
  return (re * re + im * im) * GAIN[k] * emphasis(k, 0) * spectra.scale[lane];
}

/** The strongest bin of an optical channel at a rate, or beside it, as at rest. */
export function lineAt(spectra: Spectra, lane: i32, bpm: f32): f32 {
  const k = innerBinOf(bpm);
  return max(
    max(opticalPower(spectra, lane, k - 1), opticalPower(spectra, lane, k)),
    opticalPower(spectra, lane, k + 1),
  );
}

/** The same of what the axes do not explain of an optical channel, in motion, without emphasis and scale. */
export function residualAt(spectra: Spectra, lane: i32, bpm: f32): f32 {
  const at = spectra.residual.at(innerBinOf(bpm)) + ((<usize>lane) << 2);
  return max(max(load<f32>(at - 16), load<f32>(at)), load<f32>(at, 16));
}

/** The bin of a rate that has one on each side. */
function innerBinOf(bpm: f32): i32 {
  return max(FIRST_BIN + 1, min(BINS - 2, binOf(bpm)));
}

/** Share of the pulse's power within `width` bpm of a rate. */
export function shareNear(pulse: Row<f32>, bpm: f32, width: f32): f32 {
  let total: f32 = 1e-30;
  for (let k = FIRST_BIN; k < BINS; k++) total += pulse[k];
  const from = max(FIRST_BIN, <i32>ceil<f32>((bpm - width) / (60 * BIN_HZ)));
  const to = min(BINS - 1, <i32>((bpm + width) / (60 * BIN_HZ)));
  let sum: f32 = 0;
  for (let k = from; k <= to; k++) sum += pulse[k];
  return sum / total;
}

/** What thinning took off an amplitude. */
export function amplitudeGain(k: i32): f32 {
  return Mathf.sqrt(GAIN[k]);
}

/** Reciprocal of each lane's strongest emphasised bin; 0 for a lane that is flat or not in `mask`. */
function scaleOf(motion: f32, mask: v128): v128 {
  let most = f32x4.splat(0);
  for (let k = FIRST_BIN; k < BINS; k++) {
    most = f32x4.pmax(most, f32x4.mul(POWER[k], f32x4.splat(emphasis(k, motion))));
  }
  const used = v128.and(mask, f32x4.gt(most, f32x4.splat(1e-20)));
  return v128.and(used, f32x4.div(f32x4.splat(1), f32x4.pmax(most, f32x4.splat(1e-20))));
}

/** Writes the pulse: mean of the optical channels' spectra, each scaled to a maximum of one; false where all are flat. */
function combineOptical(motion: f32, used: v128, to: Spectra): bool {
  const scale = scaleOf(motion, used);
  v128.store(to.scale.at(0), scale);
  const lanes = popcnt(i32x4.bitmask(f32x4.gt(scale, f32x4.splat(0))));
  if (!lanes) return false;
  const share = f32x4.mul(scale, f32x4.splat(<f32>1 / <f32>lanes));
  for (let k = 4; k < BINS; k += 4) {
    const sums = sumsOf(scaled(k, share), scaled(k + 1, share), scaled(k + 2, share), scaled(k + 3, share));
    v128.store(to.pulse.at(k), f32x4.mul(sums, emphases(k, motion)));
  }
  clearOutside(to.pulse);
  return true;
}

/**
 * NOISE: square of the mean of the axes' amplitudes, each scaled to a maximum of one. LOUDEST: their greatest power, of the
 * axes that have lines at all.
 */
function combineAxes(motion: f32): void {
  const scale = scaleOf(motion, i32x4(-1, -1, -1, 0));
  const own = v128.and(scale, lined(scale, motion));
  for (let k = 4; k < BINS; k += 4) {
    const a = f32x4.mul(POWER[k], scale);
    const b = f32x4.mul(POWER[k + 1], scale);
    const c = f32x4.mul(POWER[k + 2], scale);
    const d = f32x4.mul(POWER[k + 3], scale);
    const amplitude = sumsOf(f32x4.sqrt(a), f32x4.sqrt(b), f32x4.sqrt(c), f32x4.sqrt(d));
    const weight = emphases(k, motion);
    const square = f32x4.mul(f32x4.mul(amplitude, amplitude), f32x4.splat(<f32>(1.0 / 9.0)));
    v128.store(NOISE.at(k), f32x4.mul(square, weight));
    const most = mostOf(scaled(k, own), scaled(k + 1, own), scaled(k + 2, own), scaled(k + 3, own));
    v128.store(LOUDEST.at(k), f32x4.mul(most, weight));
  }
  clearOutside(NOISE);
  clearOutside(LOUDEST);
}

/** All bits of each lane that has lines: its strongest bin stands out from its mean. */
function lined(scale: v128, motion: f32): v128 {
  let sum = f32x4.splat(1e-20);
  for (let k = FIRST_BIN; k < BINS; k++) {
    sum = f32x4.add(sum, f32x4.mul(POWER[k], f32x4.splat(emphasis(k, motion))));
  }
  const most = f32x4.splat(<f32>(BINS - FIRST_BIN) / SPECTRUM.LINE);
  return f32x4.lt(f32x4.mul(sum, scale), most);
}

/** Power of a bin, times `by`. */
function scaled(k: i32, by: v128): v128 {
  return f32x4.mul(POWER[k], by);
}

/** Empties the bins below the first and, up to a whole vector, above the last. */
function clearOutside(spectrum: Row<f32>): void {
  for (let k = 0; k < FIRST_BIN; k++) spectrum[k] = 0;
  for (let k = BINS; k < BINS_ROW; k++) spectrum[k] = 0;
}

/**
 * How far the optical channels' line nearest to a rate is their own: 1 where no axis has one, 1/3 where an axis has it as
 * they do, as in an optical channel that shows nothing but the motion, and less where the line is faint. A low rate's line may also be the second harmonic
 * of a slow swing, which the light has at half the rate as the axes do, and any rate's the third of a swing whose second is the step.
 */
export function apartFromMotion(state: PulseState, bpm: f32, motion: f32): f32 {
  if (motion <= SPECTRUM.FELT_MOTION) return 1;
  const p = state.pulseMean[binOf(bpm)];
  let noise = max<f32>(state.loudestMean[binOf(bpm)], SPECTRUM.SWING_HARMONIC * stepAndSwing(state, bpm));
  if (bpm < SPECTRUM.SWING_DOUBLE) noise = max<f32>(noise, SPECTRUM.SWING_HARMONIC * shared(state, bpm / 2));
  return p / (p + 2 * min<f32>(1, motion / SPECTRUM.FELT_MOTION) * noise + RESIDUAL.LEAST_LEFT);
}

/**
 * Power that a rate may have as the sum of a swing's rate and of its double's, which is that of the steps: as far as the axes have
 * both, and the light the steps.
 */
function stepAndSwing(state: PulseState, bpm: f32): f32 {
  return min<f32>(state.loudestMean[binOf(bpm / 3)], shared(state, (2 * bpm) / 3));
}

/** Power at a rate that both the light and an axis have. */
function shared(state: PulseState, bpm: f32): f32 {
  return min<f32>(state.pulseMean[binOf(bpm)], state.loudestMean[binOf(bpm)]);
}

/** The nearest bin. */
export function binOf(bpm: f32): i32 {
  return <i32>(bpm / (60 * BIN_HZ) + <f32>0.5);
}

/** Weighs each bin of the pulse by pulse / (pulse + motion * noise), both smoothed in time. */
function clean(state: PulseState, motion: f32, to: Row<f32>): void {
  const old = f32x4.splat(state.warm ? SPECTRUM.MEMORY : 0);
  const fresh = f32x4.sub(f32x4.splat(1), old);
  const gain = f32x4.splat(motion);
  state.warm = true;
  for (let k = 0; k < BINS_ROW; k += 4) {
    const pulse = v128.load(to.at(k));
    const p = f32x4.add(f32x4.mul(old, v128.load(state.pulseMean.at(k))), f32x4.mul(fresh, pulse));
    const n = f32x4.add(f32x4.mul(old, v128.load(state.noiseMean.at(k))), f32x4.mul(fresh, v128.load(NOISE.at(k))));
    v128.store(state.pulseMean.at(k), p);
    v128.store(state.noiseMean.at(k), n);
    const most = f32x4.mul(old, v128.load(state.loudestMean.at(k)));
    v128.store(state.loudestMean.at(k), f32x4.add(most, f32x4.mul(fresh, v128.load(LOUDEST.at(k)))));
    const all = f32x4.add(f32x4.add(p, f32x4.mul(gain, n)), f32x4.splat(1e-9));
    v128.store(to.at(k), f32x4.div(f32x4.mul(pulse, p), all));
  }
}
