import { followBreath, TRACK_PPG } from './breath';
import { CH_STARTED, CH_STEP, KIND_PPG, KIND_PPG_GREEN, KIND_PPG_IR, KIND_PPG_RED } from './layout';
import {
  addBeat,
  clearBeats,
  clearSeries,
  judgeBeats,
  meanBeat,
  medianInterval,
  MOST_BEATS,
  putBaselines,
  putHeights,
  putIntervals,
  steadiness,
} from './modulation';
import {
  advancePulses,
  PULSE_TICKS,
  pulseBaseline,
  pulseCount,
  pulseHeight,
  pulseLight,
  PULSES,
  pulseTime,
} from './pulses';
import { channelOfKind } from './session';

const WINDOW: f64 = 32;
/** Pulses of fewer counts are the converter's own steps, whose beat with the sampling looks like breath. */
const LEAST_COUNTS: f32 = 4;

/**
 * Estimate of the window that ends at `end` (seconds), by pulse intervals, heights and baselines of one light: writes
 * OUT_VALUE and OUT_CONFIDENCE; 1, or 0 for none. Green shows the pulse best (Maeda et al., J. Med. Syst. 35:829,
 * 2011); where a light shows no pulse, the next one is looked at until it shows none either.
 */
export function estimateRrPpg(slot: usize, end: f64): i32 {
  const light = pulseLight(slot);
  let n = gather(slot, light ? light : lightAfter(slot, 0), end);
  if (!n) n = gather(slot, lightAfter(slot, pulseLight(slot)), end);
  if (!n) return 0;
  clearSeries(n);
  putIntervals(0, n);
  putHeights(1, n);
  putBaselines(2, n);
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  const fastest: f32 = <f32>30 / medianInterval - <f32>1;
  const resolved = meanBeat >= LEAST_COUNTS * load<f32>(pulseLight(slot) + CH_STEP);
  return followBreath(slot, TRACK_PPG, end, n, fastest, resolved ? steadiness : 0);
}

/** The light after `light` that has data, best first and then from the start again; 0 where there is no other. */
function lightAfter(slot: usize, light: usize): usize {
  let first: usize = 0;
  let passed = light == 0;
  for (let i = 0; i < 4; i++) {
    const other = channelOfKind(slot, lightOf(i));
    if (!other || !load<i32>(other + CH_STARTED)) continue;
    if (passed && other != light) return other;
    if (!first) first = other;
    passed = passed || other == light;
  }
  return first == light ? 0 : first;
}

function lightOf(rank: i32): i32 {
  if (rank == 0) return KIND_PPG_GREEN;
  if (rank == 1) return KIND_PPG;
  return rank == 2 ? KIND_PPG_IR : KIND_PPG_RED;
}

/** Takes the light's pulses of the window; returns the points that their series will have, 0 for too few. */
function gather(slot: usize, channel: usize, end: f64): i32 {
  clearBeats();
  if (!channel) return 0;
  advancePulses(slot, channel, end);
  const found = pulseCount(slot);
  const now = <i32>(<i64>(end * PULSE_TICKS));
  let first = found;
  while (first > max(0, found - PULSES) && now - pulseTime(slot, first - 1) < <i32>(WINDOW * PULSE_TICKS)) first--;
  for (let i = max(first, found - MOST_BEATS); i < found; i++) {
    const known = i > max(0, found - PULSES);
    const interval = known ? seconds(pulseTime(slot, i) - pulseTime(slot, i - 1)) : <f32>NaN;
    addBeat(seconds(pulseTime(slot, i) - now), interval, pulseHeight(slot, i), pulseBaseline(slot, i));
  }
  return judgeBeats();
}

// @ts-ignore: decorator
@inline
function seconds(ticks: i32): f32 {
  return <f32>ticks / <f32>PULSE_TICKS;
}
