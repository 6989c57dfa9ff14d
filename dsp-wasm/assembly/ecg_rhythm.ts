import { BEAT_INTERVAL, beatCount, beatOf, oldestBeat } from './beats';
import { SCRATCH } from './layout';

/**
 * The RR intervals of one window in their order, and how far they are to be believed. The odds of a beat by its looks
 * (evidence.ts) become those of a beat in this rhythm: they fall by what its two intervals surprise more than the one
 * would that was there without it, and rise where it is just what the rhythm lacked.
 */

/** Intervals of the window so far, and their sum, seconds. */
export let intervals: i32 = 0;
export let duration: f64 = 0;
/** Whether the next interval follows the last one without a hole. */
let joins: bool = false;

/** Longest interval that can be one beat to the next, seconds; most that a window holds: 8 s at 250 bpm, and open ones. */
const LONGEST: f64 = 3;
const MOST: i32 = 64;
// Scratch, by interval: seconds f64, odds against the beat that ends it f64, 1 if it joins the one before i32
const LIST: usize = SCRATCH + 64;
const ODDS: usize = 8;
const JOINED: usize = 16;
const ENTRY: usize = 24;

/** As in beat_path.ts: surprise of an interval r times the period is 20 (ln r)^2, at most 4. */
const STEADINESS: f64 = 20;
const MOST_SURPRISE: f64 = 4;
/**
 * Weight of what speaks against a beat, and of what speaks for it: noise, too, finds a peak where one is expected. So
 * much of a surprise is free: an ectopic beat's pause does not make it one that is wrong.
 */
const AGAINST: f64 = 2.5;
const FREE: f64 = 2.0;
const FOR: f64 = 0.2;
/**
 * Variation of the newest intervals up to which they are a rhythm, and from which they are none. Atrial fibrillation has
 * about 0.25, every second beat an early one 0.4; spikes at random times have 0.7 to 1.
 */
const IRREGULAR: f64 = 0.45;
const RANDOM: f64 = 0.65;
/** So many intervals tell one from the other. */
const TELLING: i32 = 20;

export function clearIntervals(): void {
  intervals = 0;
  duration = 0;
  joins = false;
}

/** Appends an interval, if it is one, and the odds against the beat that ends it, by its looks. */
export function addInterval(seconds: f64, odds: f64): void {
  const isOne = seconds > 0 && seconds < LONGEST && intervals < MOST;
  if (isOne) {
    const entry = LIST + <usize>intervals * ENTRY;
    store<f64>(entry, seconds);
    store<f64>(entry, odds, ODDS);
    store<i32>(entry, <i32>joins, JOINED);
    intervals++;
    duration += seconds;
  }
  joins = isOne;
}

/** Probability that no interval of the window is wrong. */
export function allRight(): f64 {
  const period = duration / <f64>intervals;
  let doubt: f64 = 0;
  for (let i = 0; i < intervals; i++) {
    const entry = LIST + <usize>i * ENTRY;
    const against = load<f64>(entry, ODDS) * Math.exp(misfit(entry, i, period));
    doubt += against / (1 + against);
  }
  return Math.exp(-doubt);
}

/** 1 where the newest beats have a rhythm, however irregular, 0 where they come at random times. */
export function isRhythm(slot: usize): f64 {
  const count = beatCount(slot);
  let n: f64 = 0;
  let sum: f64 = 0;
  let squares: f64 = 0;
  for (let number = max(oldestBeat(slot), count - TELLING); number < count; number++) {
    const interval = <f64>load<f32>(beatOf(slot, number), BEAT_INTERVAL);
    if (!(interval > 0)) continue;
    n++;
    sum += interval;
    squares += interval * interval;
  }
  if (n < 2) return 1;
  const variation = Math.sqrt((Math.max(0, n * squares - sum * sum) * n) / (n - 1)) / sum;
  return Math.max(0, Math.min(1, (RANDOM - variation) / (RANDOM - IRREGULAR)));
}

/** What the rhythm says against the beat between interval i and the next. */
function misfit(entry: usize, i: i32, period: f64): f64 {
  if (i + 1 == intervals || !load<i32>(entry, ENTRY + JOINED)) return 0;
  const before = load<f64>(entry);
  const after = load<f64>(entry, ENTRY);
  const excess = surprise(before, period) + surprise(after, period) - surprise(before + after, period);
  return excess > 0 ? AGAINST * Math.max(0, excess - FREE) : FOR * excess;
}

function surprise(interval: f64, period: f64): f64 {
  const d = interval - period;
  return Math.min(MOST_SURPRISE, (STEADINESS * d * d) / (interval * period));
}
