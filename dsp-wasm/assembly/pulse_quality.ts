import { BIN_HZ, BINS, FIRST_BIN } from './pulse_spectrum';
import { CLIPPED, HELD, JUMPS, LEAST_HELD, PULSE, STILL, SWINGS, WINDOW } from './pulse_window';

/**
 * The confidence of a rate: a logistic function of what tells good windows from bad ones, so that it means the probability
 * of an error below 5 bpm. The weights are a regression (ridge, each set weighing the same) over the recordings of
 * ACCURACY.md and over lights that carry noise alone (white, 1 / f, random walk, spikes, rails; still and in motion).
 */

const BIAS: f32 = -2.85;
/** Log odds of the track. */
const OF_BELIEF: f32 = 0.74;
/** Logarithm of the share of the pulse's power in the rate and its double. */
const OF_CONCENTRATION: f32 = 1.02;
/** Logarithm of how unlike the beats are. */
const OF_UNLIKENESS: f32 = -1.99;
/** Distance from the running mean, tens of bpm. */
const OF_UNREST: f32 = -0.4;
/** Logarithm of the share of the line that is not motion; set, not fitted: in the recordings the track holds there. */
const OF_COLLISION: f32 = 0.5;

/**
 * Least part of a light's standard deviation that its swings must be, most of its power that its steps may be, and most of
 * its cells that may be like the one before. In the recordings swings are above 0.2 and steps below 0.3.
 */
const LEAST_SWING: f32 = 0.05;
const MOST_JUMP: f32 = 1;
const MOST_STILL: f32 = 0.8;

/** Confidence in `rate` (bpm), in [0, 1]. */
export function pulseConfidence(rate: f32, belief: f32, likeness: f32, clear: f32, unrest: f32): f32 {
  let odds = BIAS + OF_BELIEF * Mathf.log((belief + <f32>1e-3) / (<f32>1.001 - belief));
  odds += OF_CONCENTRATION * Mathf.log(concentration(rate) + <f32>0.02);
  odds += OF_UNLIKENESS * Mathf.log(max<f32>(0.02, <f32>1.02 - likeness));
  odds += OF_COLLISION * Mathf.log(min<f32>(1, clear + <f32>0.05));
  odds += OF_UNREST * unrest;
  return (filled() * unclipped() * paced()) / (<f32>1 + Mathf.exp(-odds));
}

/** Half a window has half the beats: between 0.5 and 1, by the fullest light. */
function filled(): f32 {
  let held = 0;
  for (let lane: usize = 0; lane < 16; lane += 4) held = max(held, load<i32>(HELD + lane));
  return <f32>0.5 + (<f32>0.5 * <f32>min(held + 4, WINDOW)) / <f32>WINDOW;
}

/** 1 where a light keeps off its extremes, 0 where all of them are between rails for 60 % of the window. */
function unclipped(): f32 {
  let least: f32 = 1;
  for (let lane: usize = 0; lane < 16; lane += 4) {
    if (load<i32>(HELD + lane) >= LEAST_HELD) least = min(least, load<f32>(CLIPPED + lane));
  }
  return max<f32>(0, min<f32>(1, (<f32>0.6 - least) * 5));
}

/**
 * 1 where a light swings at a pulse's pace, 0 where all of them only drift, hum or stand still: nothing but the
 * leakage of the drift, the beat of the hum with the grid, or the last bit is left in the pulse's band then.
 */
function paced(): f32 {
  let most: f32 = 0;
  for (let lane: usize = 0; lane < 16; lane += 4) {
    if (load<i32>(HELD + lane) < LEAST_HELD) continue;
    const drifts = Mathf.sqrt(load<f32>(SWINGS + lane)) / LEAST_SWING - <f32>1;
    const hums = (MOST_JUMP - load<f32>(JUMPS + lane)) * 4;
    const stands = (MOST_STILL - load<f32>(STILL + lane)) * 4;
    most = max(most, min(min(drifts, hums), stands));
  }
  return min<f32>(1, most);
}

/** Share of the pulse's power within 7 bpm (half the main lobe) of the rate and its double. */
function concentration(bpm: f32): f32 {
  let total: f32 = 1e-30;
  for (let k = FIRST_BIN; k < BINS; k++) total += load<f32>(PULSE + (<usize>k << 2));
  return (lineShare(bpm) + lineShare(bpm + bpm)) / total;
}

function lineShare(bpm: f32): f32 {
  const from = max(FIRST_BIN, <i32>ceil<f32>((bpm - 7) / (60 * BIN_HZ)));
  const to = min(BINS - 1, <i32>((bpm + 7) / (60 * BIN_HZ)));
  let sum: f32 = 0;
  for (let k = from; k <= to; k++) sum += load<f32>(PULSE + (<usize>k << 2));
  return sum;
}
