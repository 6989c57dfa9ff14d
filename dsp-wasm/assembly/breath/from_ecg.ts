import { Estimate } from '../memory/map';
import { Session } from '../memory/session';
import { addBeat, clearBeats, judgeBeats, putCleanBaselines, putHeights, putIntervals } from './modulation';
import { BEATS, RR_WINDOW } from './scratch';
import { clearSeries } from './series';
import { FROM_ECG, followBreath } from './tracker';
import { BELIEVED } from './tuning';

/**
 * Estimate of the window that ends at `end` (seconds), by the R peaks' intervals (respiratory sinus arrhythmia), heights
 * (the heart's axis turns with each breath) and baselines (the electrodes move with the chest): writes rate and confidence; false
 * for none.
 */
export function estimateRrEcg(session: Session, end: f64, to: Estimate): bool {
  const n = gather(session, end);
  if (!n) return false;
  clearSeries(n);
  putIntervals(0, n);
  putHeights(1, n);
  putCleanBaselines(2, n);
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  const fastest: f32 = <f32>30 / BEATS.medianInterval - <f32>1;
  return followBreath(session.breath, FROM_ECG, end, n, fastest, BEATS.steadiness, BEATS.trust, to);
}

/** Takes the beats of the window; returns the points that their series will have, 0 for too few. */
function gather(session: Session, end: f64): i32 {
  const ecg = session.ecg;
  clearBeats();
  let first = ecg.beatCount;
  while (first > ecg.oldestBeat && ecg.beatAt(first - 1).time - end > -RR_WINDOW) first--;
  for (let i = first; i < ecg.beatCount; i++) {
    const beat = ecg.beatAt(i);
    const time = beat.time - end;
    if (time > 0) continue;
    const known = beat.interval > 0 && beat.quality >= BELIEVED;
    addBeat(<f32>time, known ? beat.interval : <f32>NaN, beat.amplitude, beat.baseline, <f32>NaN);
  }
  return judgeBeats();
}
