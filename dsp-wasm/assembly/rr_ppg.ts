import { followBreath, TRACK_PPG } from './breath';
import { CH_STARTED, KIND_PPG, KIND_PPG_GREEN, KIND_PPG_IR, KIND_PPG_RED } from './layout';
import {
  addBeat,
  clearBeats,
  clearSeries,
  judgeBeats,
  medianInterval,
  MOST_BEATS,
  putBaselines,
  putHeights,
  putIntervals,
} from './modulation';
import { advancePulses, PULSE_TICKS, pulseBaseline, pulseCount, pulseHeight, PULSES, pulseTime } from './pulses';
import { channelOfKind } from './session';

const WINDOW: f64 = 32;

/**
 * Estimate of the window that ends at `end` (seconds), by pulse intervals, heights and baselines of one light: writes
 * OUT_VALUE and OUT_CONFIDENCE; 1, or 0 for none. Green shows the pulse best (Maeda et al. 2011); another light is looked
 * at where it shows none.
 */
export function estimateRrPpg(slot: usize, end: f64): i32 {
  let n = gather(slot, channelOfKind(slot, KIND_PPG_GREEN), end);
  if (!n) n = gather(slot, channelOfKind(slot, KIND_PPG), end);
  if (!n) n = gather(slot, channelOfKind(slot, KIND_PPG_IR), end);
  if (!n) n = gather(slot, channelOfKind(slot, KIND_PPG_RED), end);
  if (!n) return 0;
  clearSeries(n);
  putIntervals(0, n);
  putHeights(1, n);
  putBaselines(2, n);
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  const fastest: f32 = <f32>30 / medianInterval - <f32>1;
  return followBreath(slot, TRACK_PPG, end, n, fastest);
}

/** Takes the light's pulses of the window; returns the points that their series will have, 0 for too few. */
function gather(slot: usize, channel: usize, end: f64): i32 {
  clearBeats();
  if (!channel || !load<i32>(channel + CH_STARTED)) return 0;
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
