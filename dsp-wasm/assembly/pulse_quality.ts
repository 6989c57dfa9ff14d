import { BIN_HZ, BINS, FIRST_BIN } from './pulse_spectrum';
import { beatCover, beatLikeness } from './pulse_beats';
import { trackedBelief } from './pulse_tracker';
import { CLIPPED, EVEN, HELD, JUMPS, LEAST_HELD, PULSE, STILL, SWINGS, WINDOW } from './pulse_window';

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
/** Logarithm of how far the line is apart from motion; set, not fitted: in the recordings the track holds there. */
const OF_COLLISION: f32 = 0.5;

/**
 * Least part of a light's standard deviation that its swings must be, most of its power that its steps may be, most of
 * its cells that may be like the one before, and how even its steps must be at least. In the recordings swings are above
 * 0.2, steps below 0.3 and evenness above 0.2, save where a finger settles.
 */
const LEAST_SWING: f32 = 0.05;
const MOST_JUMP: f32 = 1;
const MOST_STILL: f32 = 0.6;
const LEAST_EVEN: f32 = 0.1;
/** Share of the beats below which nothing is believed at rest, and the one that is enough. */
const LEAST_COVER: f32 = 0.3;
const ENOUGH_COVER: f32 = 0.7;
/** How far apart from motion the line must have been seen of late, at least and to be beyond doubt: a copy of it has 1/3. */
const LEAST_APART: f32 = 0.4;
const ENOUGH_APART: f32 = 0.5;

/**
 * Confidence in `rate` (bpm), in [0, 1].
 * @param apart how far the line is apart from motion now (apartFromMotion), `seen` of late
 * @param unrest distance of the rate from its running mean, tens of bpm
 */
export function pulseConfidence(rate: f32, motion: f32, apart: f32, seen: f32, unrest: f32): f32 {
  let odds = BIAS + OF_BELIEF * Mathf.log((trackedBelief + <f32>1e-3) / (<f32>1.001 - trackedBelief));
  odds += OF_CONCENTRATION * Mathf.log(concentration(rate) + <f32>0.02);
  odds += OF_UNLIKENESS * Mathf.log(max<f32>(0.02, <f32>1.02 - beatLikeness(rate)));
  odds += OF_COLLISION * Mathf.log(apart);
  odds += OF_UNREST * unrest;
  const shown = covered(motion) * ramp(seen, LEAST_APART, ENOUGH_APART);
  return (shown * filled() * unclipped() * paced()) / (<f32>1 + Mathf.exp(-odds));
}

/** From 0 at `least` to 1 at `enough`. */
// @ts-ignore: decorator
@inline
function ramp(x: f32, least: f32, enough: f32): f32 {
  return max<f32>(0, min<f32>(1, (x - least) / (enough - least)));
}

/** Beats must fill the window, as those of a random walk do not; in motion they are the motion's, and tell nothing. */
function covered(motion: f32): f32 {
  return motion + (<f32>1 - motion) * ramp(beatCover, LEAST_COVER, ENOUGH_COVER);
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
  return ramp(<f32>1 - least, 0.4, 0.6);
}

/**
 * 1 where a light swings at a pulse's pace, 0 where all of them only drift, hum, stand still or leap: nothing but the
 * leakage of the drift, the beat of the hum with the grid, the last bit or a leap's ringing is in the pulse's band then.
 */
function paced(): f32 {
  let most: f32 = 0;
  for (let lane: usize = 0; lane < 16; lane += 4) {
    if (load<i32>(HELD + lane) < LEAST_HELD) continue;
    const drifts = Mathf.sqrt(load<f32>(SWINGS + lane)) / LEAST_SWING - <f32>1;
    const hums = (MOST_JUMP - load<f32>(JUMPS + lane)) * 4;
    const stands = (MOST_STILL - load<f32>(STILL + lane)) * 10;
    const leaps = (load<f32>(EVEN + lane) - LEAST_EVEN) * 20;
    most = max(most, min(min(drifts, hums), min(stands, leaps)));
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
