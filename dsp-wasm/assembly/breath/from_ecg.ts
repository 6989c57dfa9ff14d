import { ECG_HZ, KIND_ECG } from '../memory/channel';
import { Estimate } from '../memory/map';
import { channelOfKind, Session } from '../memory/session';
import { addBeat, clearBeats, judgeBeats, outOfStep, putCleanBaselines, putHeights, putIntervals } from './modulation';
import { BEATS, RR_WINDOW } from './scratch';
import { clearSeries } from './series';
import { FROM_ECG, followBreath } from './tracker';
import { BASELINE_SECONDS, BELIEVED, IN_STEP, RESOLUTION, SPIKE } from './tuning';

/**
 * Estimate of the window that ends at `end` (seconds), by the R peaks' intervals (respiratory sinus arrhythmia), heights
 * (the heart's axis turns with each breath) and baselines (the electrodes move with the chest): writes rate and confidence; false
 * for none.
 */
export function estimateRrEcg(session: Session, end: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_ECG);
  const n = gather(session, end);
  if (!n || !channel) return false;
  clearSeries(n);
  putIntervals(0, n);
  putHeights(1, n);
  putCleanBaselines(2, n);
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  const fastest: f32 = <f32>30 / BEATS.medianInterval - <f32>1;
  return followBreath(
    session.breath,
    FROM_ECG,
    end,
    n,
    fastest,
    BEATS.steadiness,
    BEATS.trust,
    resolutionAt(channel.period),
    to,
  );
}

/**
 * Standard deviation of what the series hold beside breath, noise and drift, where the ECG has a sample every `period` seconds. Beats in step with the
 * samples, as those of a pacemaker, have no arrhythmia that breath could make, and heights that swing with their places between the samples, as they
 * would with hum; of the baselines, a pacemaker's spike that is met by a sample or is not changes its share.
 */
function resolutionAt(period: f64): v128 {
  const inStep = <f32>1 - outOfStep(IN_STEP * <f32>max(period, 1.0 / ECG_HZ));
  const spike = (SPIKE * <f32>period) / BASELINE_SECONDS;
  return f32x4.add(f32x4.splat(RESOLUTION), f32x4.mul(f32x4.splat(inStep), f32x4(1, 1, spike, 0)));
}

/** Takes the beats of the window; returns the points that their series will have, 0 for too few. */
function gather(session: Session, end: f64): i32 {
  const lead = session.ecg.best;
  clearBeats();
  let first = lead.beatCount;
  while (first > lead.oldestBeat && lead.beatAt(first - 1).time - end > -RR_WINDOW) first--;
  for (let i = first; i < lead.beatCount; i++) {
    const beat = lead.beatAt(i);
    const time = beat.time - end;
    if (time > 0) continue;
    const known = beat.interval > 0 && beat.quality >= BELIEVED;
    addBeat(<f32>time, known ? beat.interval : <f32>NaN, beat.amplitude, beat.baseline, <f32>NaN, beat.kind);
  }
  return judgeBeats();
}
