import { Row } from '../memory/row';
import { Beats, KEPT, KEPT_TIME, POINTS, SERIES_HZ, Series } from './scratch';
import { BEAT } from './tuning';

/**
 * The effect of breathing on beats, as series of 4 Hz: their intervals (respiratory sinus arrhythmia, frequency modulation), heights
 * (amplitude modulation) and baselines (Charlton et al., Physiol. Meas. 37:610, 2016). Each is in parts of its mean or median; baselines are in parts of the mean height.
 */
export function modulations(beats: Beats, series: Series): void {
  series.n = max(0, min(POINTS, <i32>(-beats.time[0] * <f32>SERIES_HZ) & ~1));
  series.beatRate = <f32>60 / beats.medianInterval;
  series.share = beats.steadiness;
  series.trust = beats.trust;
  memory.fill(series.points.at(0), 0, (<usize>series.n) << 4);
  put(beats, beats.interval, beats.steady, beats.medianInterval, series, 0);
  put(beats, beats.height, beats.clean, beats.meanHeight, series, 1);
}

/** Adds the baselines; `good` says of which beats. */
export function addBaselines(beats: Beats, good: Row<bool>, series: Series): void {
  put(beats, beats.baseline, good, beats.meanHeight, series, 2);
}

/** Joins the good values by lines (all known ones if too few are good), held at the ends, and samples them in the middle of each 1/SERIES_HZ. */
function put(beats: Beats, values: Row<f32>, good: Row<bool>, unit: f32, series: Series, lane: i32): void {
  let kept = keep(beats, values, good);
  if (kept < BEAT.FEWEST) kept = keep(beats, values, null);
  if (!kept) return;
  const scale = <f32>1 / unit;
  for (let i = 0; i < kept; i++) KEPT[i] *= scale;
  interpolate(series.lane(lane), series.n, kept);
}

/** Collects the known and good values (all known ones if `good` is null) with their times; returns their number. */
function keep(beats: Beats, values: Row<f32>, good: Row<bool> | null): i32 {
  let kept = 0;
  for (let i = 0; i < beats.count; i++) {
    if (isNaN(values[i]) || (good && !good[i])) continue;
    KEPT_TIME[kept] = beats.time[i];
    KEPT[kept] = values[i];
    kept++;
  }
  return kept;
}

function interpolate(to: Row<f32>, n: i32, kept: i32): void {
  let i = 0;
  let t0: f32 = -Infinity;
  let a = KEPT[0];
  let t = timeOf(0, n);
  for (let k = 0; k < kept; k++) {
    const t1 = KEPT_TIME[k];
    const b = KEPT[k];
    const slope = (b - a) / (t1 - t0);
    while (i < n && t <= t1) {
      to[4 * i] = b - slope * (t1 - t);
      t = timeOf(++i, n);
    }
    t0 = t1;
    a = b;
  }
  for (; i < n; i++) to[4 * i] = a;
}

function timeOf(i: i32, n: i32): f32 {
  return (<f32>(i - n) + 0.5) * <f32>(1 / SERIES_HZ);
}
