import { ECG_HZ, KIND_ECG } from '../memory/channel';
import { Estimate } from '../memory/map';
import { channelOfKind, Session } from '../memory/session';
import { addBeat, judgeBeats, outOfStep } from './beats';
import { modulations } from './modulation';
import { BEATS, Beats, RR_WINDOW, SERIES } from './scratch';
import { FROM_ECG } from './source';
import { followBreath } from './tracker';
import { ECG } from './tuning';

/**
 * Estimate of the window that ends at `end` (seconds), by the R peaks' intervals (respiratory sinus arrhythmia), heights
 * (the heart's axis turns with each breath) and baselines (the electrodes move with the chest): writes rate and confidence; false
 * for none.
 * @param heartbeats probability that the window's beats are heartbeats
 */
export function estimateRrEcg(session: Session, end: f64, heartbeats: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_ECG);
  if (!channel) return false;
  gather(session, end, BEATS);
  if (!judgeBeats(BEATS)) return false;
  modulations(BEATS, SERIES);
  SERIES.beats = <f32>heartbeats;
  SERIES.resolution = resolutionAt(channel.period, BEATS);
  return followBreath(session.breath, FROM_ECG, end, SERIES, to);
}

/**
 * Standard deviation of the series beside breath, noise and drift, where the ECG has a sample every `period` seconds. Beats in step with the
 * samples, as those of a pacemaker, have no arrhythmia, and heights that vary with their phase between the samples, as they
 * would with hum; of the baselines, a pacemaker's spike that falls on a sample or between two changes its share.
 */
function resolutionAt(period: f64, beats: Beats): v128 {
  const inStep = <f32>1 - outOfStep(beats, ECG.IN_STEP * <f32>max(period, 1.0 / ECG_HZ));
  const spike = <f32>period / ECG.BASELINE_SECONDS;
  return f32x4.add(f32x4.splat(ECG.RESOLUTION), f32x4.mul(f32x4.splat(inStep), f32x4(1, 1, spike, 0)));
}

/** Collects the beats of the window. */
function gather(session: Session, end: f64, beats: Beats): void {
  const lead = session.ecg.best;
  beats.count = 0;
  for (let i = lead.firstAfter(end - RR_WINDOW); i < lead.beatCount; i++) {
    const beat = lead.beatAt(i);
    const time = beat.time - end;
    if (time > 0) continue;
    const known = beat.interval > 0 && beat.quality >= ECG.BELIEVED;
    addBeat(beats, <f32>time, known ? beat.interval : <f32>NaN, beat.amplitude, beat.baseline, beat.kind);
  }
}
