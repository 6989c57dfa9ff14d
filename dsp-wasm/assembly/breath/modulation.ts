import { patterned } from './patterns';
import { Beats, POINTS, SERIES_HZ, Series } from './scratch';
import { BEAT } from './tuning';

/**
 * The effect of breathing on beats, as series of 4 Hz: their intervals (respiratory sinus arrhythmia, frequency modulation), heights
 * (amplitude modulation) and baselines (Charlton et al., Physiol. Meas. 37:610, 2016). Intervals are in parts of their mean, the others in parts of
 * the mean height. The values of steady beats (of all if too few are steady) are joined by lines, held at the ends, and sampled in the middle of
 * each 1/SERIES_HZ.
 */
export function modulations(beats: Beats, series: Series): void {
  const n = max(0, min(POINTS, <i32>(-beats.time[0] * <f32>SERIES_HZ) & ~1));
  series.n = n;
  series.lanes = v128.andnot(i32x4(-1, -1, -1, 0), patterned(beats));
  series.beatRate = <f32>60 / beats.meanInterval;
  series.share = min<f32>(1, (<f32>2 * <f32>beats.steadyCount) / <f32>beats.count);
  series.trust = beats.trust;
  const height: f32 = <f32>1 / beats.meanHeight;
  const scale = f32x4(<f32>1 / beats.meanInterval, height, height, 0);
  const areMany = beats.steadyCount >= BEAT.FEWEST;
  const points = series.points;
  let i = 0;
  let t = timeOf(0, n);
  let t0: f32 = -Infinity;
  let a = f32x4.splat(0);
  for (let k = 0; k < beats.count; k++) {
    const isUnknown = isNaN(beats.interval[k] + beats.height[k] + beats.baseline[k]);
    if (isUnknown || (areMany && !beats.steady[k])) continue;
    const t1 = beats.time[k];
    const b = f32x4.mul(f32x4(beats.interval[k], beats.height[k], beats.baseline[k], 0), scale);
    const slope = f32x4.mul(f32x4.sub(b, a), f32x4.splat(<f32>1 / (t1 - t0)));
    for (; i < n && t <= t1; t = timeOf(++i, n)) points[i] = f32x4.sub(b, f32x4.mul(slope, f32x4.splat(t1 - t)));
    t0 = t1;
    a = b;
  }
  for (; i < n; i++) points[i] = a;
}

function timeOf(i: i32, n: i32): f32 {
  return (<f32>(i - n) + 0.5) * <f32>(1 / SERIES_HZ);
}
