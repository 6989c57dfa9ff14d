import { sumLanes } from '../math/vector';
import { AXIS_COUNT, BINS, DELAYED, PulseState } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { BIN_HZ, POINTS, Spectra } from './records';
import { RESIDUAL } from './tuning';

/**
 * What the accelerometer does not explain of the optical channels. Two power spectra side by side cannot tell a pulse from a
 * swing of nearly the same rate; their phases can. An adaptive noise canceller (Widrow and others, "Adaptive noise cancelling:
 * principles and applications", Proc. IEEE 1975) with three taps for each axis, 1/8 s apart, takes off all that follows the
 * motion linearly.
 *
 * The normal equations need only sums of products of the spectra that exist already. They are averaged over the last windows:
 * in a single one, nine taps would take off a part of the pulse, too. Every fourth bin is enough, since the window's main lobe is eight wide.
 */

/** Cosine and sine of the phase that the delay between two taps has at each bin. */
const COSINES = changetype<Row<f32>>(memory.data(BINS * 4, 16));
const SINES = changetype<Row<f32>>(memory.data(BINS * 4, 16));
/** Delay between two taps, points of 1/16 s. */
const DELAY: i32 = 2;
/** Bins over which the motion is fitted to the optical channels: 0.6 to 4.5 Hz. */
const FIRST_COMMON: i32 = 10;
const PAST_COMMON: i32 = 73;
const STRIDE: i32 = 4;
const BINS_USED: i32 = (PAST_COMMON - FIRST_COMMON + STRIDE - 1) / STRIDE;
const TAPS: i32 = 3 * AXIS_COUNT;
/** Normal equations of the filter: products of its taps, and of them with the optical channels. */
const GRAM = changetype<Row<f32>>(memory.data(TAPS * TAPS * 4, 16));
const RESPONSE = changetype<Row<v128>>(memory.data(TAPS * 16, 16));

function makeDelays(): void {
  for (let k = 0; k < BINS; k++) {
    const phase = (Math.PI * <f64>(DELAY * k)) / <f64>POINTS;
    COSINES[k] = <f32>Math.cos(phase);
    SINES[k] = <f32>Math.sin(phase);
  }
}
makeDelays();

/** Writes the power of the optical channels without what the axes explain, from the spectra of both. */
export function residualPowers(state: PulseState, spectra: Spectra): void {
  const light = powerOf(spectra.optical);
  const used = f32x4.gt(light, f32x4.splat(1e-20));
  const amplitude = f32x4.sqrt(f32x4.pmax(light, f32x4.splat(1e-20)));
  const axes = correlate(state, spectra, used, amplitude);
  makeEquations(state);
  factorise();
  solve(v128.and(used, f32x4.mul(amplitude, f32x4.splat(<f32>1 / sqrt<f32>(axes)))));
  subtract(spectra, f32x4.mul(light, f32x4.splat(RESIDUAL.LEAST_LEFT / <f32>BINS_USED)));
}

/** Power of each lane over the bins of the fit. */
function powerOf(spectrum: Row<v128>): v128 {
  let sum = f32x4.splat(0);
  for (let k = FIRST_COMMON; k < PAST_COMMON; k += STRIDE) {
    const re = spectrum[2 * k];
    const im = spectrum[2 * k + 1];
    sum = f32x4.add(sum, f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
  }
  return sum;
}

/**
 * Averages the products of this window with those before.
 * @param used lanes of the optical channels that have power
 * @param amplitude their amplitudes
 * @returns the power of the axes
 */
function correlate(state: PulseState, spectra: Spectra, used: v128, amplitude: v128): f32 {
  let own = f32x4.splat(0);
  let own1 = own;
  let own2 = own;
  let cross = own;
  let cross1 = own;
  let cross2 = own;
  let turn1 = own;
  let turn2 = own;
  for (let k = FIRST_COMMON; k < PAST_COMMON; k += STRIDE) {
    const re = spectra.axes[2 * k];
    const im = spectra.axes[2 * k + 1];
    const cos = v128.load32_splat(COSINES.at(k));
    const sin = v128.load32_splat(SINES.at(k));
    const cos2 = f32x4.sub(f32x4.mul(f32x4.add(cos, cos), cos), f32x4.splat(1));
    const sin2 = f32x4.mul(f32x4.add(cos, cos), sin);
    const power = f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im));
    own = f32x4.add(own, power);
    own1 = f32x4.add(own1, f32x4.mul(power, cos));
    own2 = f32x4.add(own2, f32x4.mul(power, cos2));
    // Of x with y, y with z, z with x
    const nextRe = v128.shuffle<f32>(re, re, 1, 2, 0, 3);
    const nextIm = v128.shuffle<f32>(im, im, 1, 2, 0, 3);
    const common = f32x4.add(f32x4.mul(re, nextRe), f32x4.mul(im, nextIm));
    const turned = f32x4.sub(f32x4.mul(im, nextRe), f32x4.mul(re, nextIm));
    cross = f32x4.add(cross, common);
    cross1 = f32x4.add(cross1, f32x4.mul(common, cos));
    cross2 = f32x4.add(cross2, f32x4.mul(common, cos2));
    turn1 = f32x4.add(turn1, f32x4.mul(turned, sin));
    turn2 = f32x4.add(turn2, f32x4.mul(turned, sin2));
  }
  const axes = max<f32>(1e-20, sumLanes(own));
  const ofAxes = f32x4.splat(<f32>1 / axes);
  const ofLight = v128.and(used, f32x4.div(f32x4.splat(<f32>1 / sqrt<f32>(axes)), amplitude));
  const old = f32x4.splat(state.filtering ? RESIDUAL.MEMORY : 0);
  state.filtering = true;
  average(state, 0, own, ofAxes, old);
  average(state, 1, own1, ofAxes, old);
  average(state, 2, own2, ofAxes, old);
  average(state, 3, cross, ofAxes, old);
  average(state, 4, cross1, ofAxes, old);
  average(state, 5, cross2, ofAxes, old);
  average(state, 6, turn1, ofAxes, old);
  average(state, 7, turn2, ofAxes, old);
  for (let axis = 0; axis < AXIS_COUNT; axis++) correlateLight(state, spectra, axis, ofLight, old);
  return axes;
}

function average(state: PulseState, i: i32, sum: v128, scale: v128, old: v128): void {
  const fresh = f32x4.mul(f32x4.mul(sum, scale), f32x4.sub(f32x4.splat(1), old));
  v128.store(state.products.at(i), f32x4.add(f32x4.mul(v128.load(state.products.at(i)), old), fresh));
}

/** The products of an axis with the optical channels: without delay, and the two parts of those with one. */
function correlateLight(state: PulseState, spectra: Spectra, axis: i32, scale: v128, old: v128): void {
  let now = f32x4.splat(0);
  let even = now;
  let odd = now;
  for (let k = FIRST_COMMON; k < PAST_COMMON; k += STRIDE) {
    const re = v128.load32_splat(spectra.axes.at(2 * k) + ((<usize>axis) << 2));
    const im = v128.load32_splat(spectra.axes.at(2 * k + 1) + ((<usize>axis) << 2));
    const lightRe = spectra.optical[2 * k];
    const lightIm = spectra.optical[2 * k + 1];
    const common = f32x4.add(f32x4.mul(re, lightRe), f32x4.mul(im, lightIm));
    const turned = f32x4.sub(f32x4.mul(re, lightIm), f32x4.mul(im, lightRe));
    now = f32x4.add(now, common);
    even = f32x4.add(even, f32x4.mul(common, v128.load32_splat(COSINES.at(k))));
    odd = f32x4.add(odd, f32x4.mul(turned, v128.load32_splat(SINES.at(k))));
  }
  const to = DELAYED + 3 * axis;
  average(state, to, now, scale, old);
  average(state, to + 1, even, scale, old);
  average(state, to + 2, odd, scale, old);
}

/** Writes GRAM (lower triangle) and RESPONSE, the right sides: tap t of axis a at 3 a + t, delays -1/8, 0 and 1/8 s. */
function makeEquations(state: PulseState): void {
  for (let i = 0; i < TAPS; i++) {
    for (let j = 0; j <= i; j++) GRAM[i * TAPS + j] = product(state, i / 3, j / 3, (i % 3) - (j % 3));
    GRAM[i * TAPS + i] *= 1 + RESIDUAL.LEAST_LEFT;
  }
  for (let axis = 0; axis < AXIS_COUNT; axis++) {
    const even = v128.load(state.products.at(DELAYED + 3 * axis + 1));
    const odd = v128.load(state.products.at(DELAYED + 3 * axis + 2));
    RESPONSE[3 * axis] = f32x4.add(even, odd);
    RESPONSE[3 * axis + 1] = v128.load(state.products.at(DELAYED + 3 * axis));
    RESPONSE[3 * axis + 2] = f32x4.sub(even, odd);
  }
}

/** Mean product of two axes, the first one `delay` taps later. */
function product(state: PulseState, a: i32, b: i32, delay: i32): f32 {
  const size = abs(delay);
  if (a === b) return laneOf(state, size, a);
  // Lane i has axis i before the next one
  const first = b === (a + 1) % AXIS_COUNT ? a : b;
  const even = laneOf(state, 3 + size, first);
  if (delay === 0) return even;
  const odd = laneOf(state, 5 + size, first);
  return delay > 0 === (first === a) ? even + odd : even - odd;
}

function laneOf(state: PulseState, i: i32, lane: i32): f32 {
  return load<f32>(state.products.at(i) + ((<usize>lane) << 2));
}

/** Cholesky's factor of GRAM, in place, with the reciprocals of its diagonal. */
function factorise(): void {
  for (let i = 0; i < TAPS; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = GRAM[i * TAPS + j];
      for (let m = 0; m < j; m++) sum -= GRAM[i * TAPS + m] * GRAM[j * TAPS + m];
      GRAM[i * TAPS + j] = i === j ? <f32>1 / sqrt<f32>(max<f32>(1e-6, sum)) : sum * GRAM[j * TAPS + j];
    }
  }
}

/** Writes the taps to RESPONSE, for each optical channel, times `scale`. */
function solve(scale: v128): void {
  for (let i = 0; i < TAPS; i++) {
    let sum = RESPONSE[i];
    for (let j = 0; j < i; j++) sum = f32x4.sub(sum, f32x4.mul(RESPONSE[j], f32x4.splat(GRAM[i * TAPS + j])));
    RESPONSE[i] = f32x4.mul(sum, f32x4.splat(GRAM[i * TAPS + i]));
  }
  for (let i = TAPS - 1; i >= 0; i--) {
    let sum = RESPONSE[i];
    for (let j = i + 1; j < TAPS; j++) sum = f32x4.sub(sum, f32x4.mul(RESPONSE[j], f32x4.splat(GRAM[j * TAPS + i])));
    RESPONSE[i] = f32x4.mul(sum, f32x4.splat(GRAM[i * TAPS + i]));
  }
  for (let i = 0; i < TAPS; i++) RESPONSE[i] = f32x4.mul(RESPONSE[i], scale);
}

/** Writes the residual, at least `floor` in each bin. Takes the taps of RESPONSE apart: sum of the outer ones, middle one, difference of the outer ones. */
function subtract(spectra: Spectra, floor: v128): void {
  for (let i = 0; i < TAPS; i += 3) {
    const before = RESPONSE[i];
    const after = RESPONSE[i + 2];
    RESPONSE[i] = f32x4.add(before, after);
    RESPONSE[i + 2] = f32x4.sub(before, after);
  }
  for (let k = 4; k < BINS; k++) {
    let re = spectra.optical[2 * k];
    let im = spectra.optical[2 * k + 1];
    const cos = v128.load32_splat(COSINES.at(k));
    const sin = v128.load32_splat(SINES.at(k));
    let axis = spectra.axes.at(2 * k);
    for (let taps = RESPONSE.at(0); taps < RESPONSE.at(TAPS); taps += 3 * sizeof<v128>(), axis += sizeof<f32>()) {
      const even = f32x4.add(v128.load(taps, 16), f32x4.mul(v128.load(taps), cos));
      const odd = f32x4.mul(v128.load(taps, 32), sin);
      const axisRe = v128.load32_splat(axis);
      const axisIm = v128.load32_splat(axis, 16);
      re = f32x4.sub(re, f32x4.sub(f32x4.mul(axisRe, even), f32x4.mul(axisIm, odd)));
      im = f32x4.sub(im, f32x4.add(f32x4.mul(axisIm, even), f32x4.mul(axisRe, odd)));
    }
    spectra.residual[k] = f32x4.add(f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)), floor);
  }
}

/** Share of the optical channels' power at a rate that the axes do not explain: mean over the channels. */
export function unexplainedAt(spectra: Spectra, bpm: f32): f32 {
  const nearest = <i32>(bpm / (60 * BIN_HZ) + <f32>0.5);
  let all = f32x4.splat(0);
  let left = all;
  for (let k = nearest - 1; k <= min(nearest + 1, BINS - 1); k++) {
    const re = spectra.optical[2 * k];
    const im = spectra.optical[2 * k + 1];
    all = f32x4.add(all, f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
    left = f32x4.add(left, spectra.residual[k]);
  }
  const used = f32x4.gt(all, f32x4.splat(1e-20));
  const share = v128.and(used, f32x4.div(left, f32x4.pmax(all, f32x4.splat(1e-20))));
  return sumLanes(share) / <f32>max(1, popcnt(i32x4.bitmask(used)));
}
