import { BEAT_AMPLITUDE, BEAT_INTERVAL, BEAT_QUALITY, BEAT_TIME, beatCount, beatOf, oldestBeat } from './beats';
import { followBreath, TRACK_ECG } from './breath';
import {
  addBeat,
  clearBeats,
  clearSeries,
  judgeBeats,
  medianInterval,
  putHeights,
  putIntervals,
  steadiness,
} from './modulation';

const WINDOW: f64 = 32;
/** Beats which are more likely none than one carry no interval. */
const BELIEVED: f32 = 0.5;

/**
 * Estimate of the window that ends at `end` (seconds), by the R peaks' intervals (respiratory sinus arrhythmia) and
 * heights (the heart's axis turns with each breath): writes OUT_VALUE and OUT_CONFIDENCE; 1, or 0 for none.
 */
export function estimateRrEcg(slot: usize, end: f64): i32 {
  const n = gather(slot, end);
  if (!n) return 0;
  clearSeries(n);
  putIntervals(0, n);
  putHeights(1, n);
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  return followBreath(slot, TRACK_ECG, end, n, <f32>30 / medianInterval - <f32>1, steadiness);
}

/** Takes the beats of the window; returns the points that their series will have, 0 for too few. */
function gather(slot: usize, end: f64): i32 {
  clearBeats();
  const count = beatCount(slot);
  let first = count;
  while (first > oldestBeat(slot) && load<f64>(beatOf(slot, first - 1), BEAT_TIME) - end > -WINDOW) first--;
  for (let i = first; i < count; i++) {
    const beat = beatOf(slot, i);
    const time = load<f64>(beat, BEAT_TIME) - end;
    if (time > 0) continue;
    const interval = load<f32>(beat, BEAT_INTERVAL);
    const known = interval > 0 && load<f32>(beat, BEAT_QUALITY) >= BELIEVED;
    addBeat(<f32>time, known ? interval : <f32>NaN, load<f32>(beat, BEAT_AMPLITUDE), 0);
  }
  return judgeBeats();
}
