import { copyGrid } from '../grid/window';
import { ECG_HZ, KIND_ECG } from '../memory/channel';
import { EcgState } from '../memory/ecg_state';
import { Estimate } from '../memory/map';
import { channelOfKind, Session } from '../memory/session';
import { bestEnd, candidateAfter, firstUndecided } from './beat_path';
import { topOf } from './evidence';
import { newestPeak } from './r_peaks';
import { addInterval, allRight, clearIntervals, isRhythm } from './rhythm';
import { INTERVALS, NEWEST } from './scratch';
import {
  CLEAR_ODDS,
  CLOSEST_PEAK,
  DECIDE_SECONDS,
  FIT_WIDTH,
  IDLE_INTERVALS,
  LEAST_OF_LEVEL,
  LEAST_OF_OFFSET,
  MOST_SHIFT,
  SHIFT_STEEPNESS,
  USUAL_FIT,
} from './tuning';

/** Window of the heart rate, seconds. */
const WINDOW: f64 = 8;

/**
 * Heart rate of the 8 s before `end` (seconds): 60 over the mean of the RR intervals between the R peaks in it, decided or
 * still open. Writes bpm and confidence; false where there is no interval.
 */
export function estimateHrEcg(session: Session, end: f64, to: Estimate): bool {
  const ecg = session.ecg;
  clearIntervals();
  addDecided(ecg, end - WINDOW);
  const newest = addOpen(ecg);
  if (!INTERVALS.count) return false;
  const mean = INTERVALS.duration / <f64>INTERVALS.count;
  to.value = (60 * <f64>INTERVALS.count) / INTERVALS.duration;
  to.confidence = allRight() * isRhythm(ecg) * likeEcg(ecg) * stillBeating(end - newest, mean) * resolved(session);
  return true;
}

/**
 * Probability that it is an ECG at all. Noise, too, has its greatest peaks, and a template made of them: but they fit it
 * with 0.6 to 0.76 of their norm (white, muscle, railing), QRS complexes with 0.85 and more in 6 dB of noise. And a lead
 * comes back to its level after a QRS complex, which stairs and rounded drifts do not: the beats' shift is below 0.2 in
 * a quiet lead, 0.4 in electrode motion of 6 dB, 0.9 and more there.
 */
function likeEcg(ecg: EcgState): f64 {
  const fit = <f64>ecg.fit;
  const returns = (MOST_SHIFT - <f64>ecg.shift) * SHIFT_STEEPNESS;
  const likely = fit > 0 ? 1 / (1 + Math.exp((USUAL_FIT - fit) / FIT_WIDTH)) : 0.5;
  return Math.max(0, Math.min(1, returns)) * likely;
}

/**
 * 1 where the newest beat stands out of the rounding (f32: 6e-8 of the level, and the filters add to it), 0 where it is what
 * rounding makes of a drift or of a value beyond any converter.
 */
function resolved(session: Session): f64 {
  const ecg = session.ecg;
  const channel = channelOfKind(session, KIND_ECG);
  if (!ecg.beatCount || !channel) return 1;
  const beat = ecg.beatAt(ecg.beatCount - 1);
  const sample = <i32>(beat.time * ECG_HZ);
  copyGrid(channel, ecg.lead, sample, 1, sample + 1, NEWEST.at(0));
  const level = Math.abs(<f64>NEWEST[0]);
  const least = LEAST_OF_LEVEL * level + LEAST_OF_OFFSET * Math.abs(channel.offsets[ecg.lead]);
  const size = <f64>beat.amplitude;
  return size > least ? Math.min(1, size / least - 1) : 0;
}

/** Beats may be over (a lead off, a pause) where none came for more than two intervals and the time of a decision. */
function stillBeating(idle: f64, interval: f64): f64 {
  const usual = IDLE_INTERVALS * interval + DECIDE_SECONDS;
  return idle > usual ? (usual / idle) ** 3 : 1;
}

function addDecided(ecg: EcgState, from: f64): void {
  let number = ecg.beatCount;
  for (; number > ecg.oldestBeat; number--) {
    const beat = ecg.beatAt(number - 1);
    if (beat.time - <f64>beat.interval < from) break;
  }
  for (; number < ecg.beatCount; number++) {
    const beat = ecg.beatAt(number);
    const quality = <f64>beat.quality;
    addInterval(<f64>beat.interval, (1 - quality) / Math.max(1e-9, quality));
  }
}

/**
 * Adds what the best path has after the newest decided beat, and a clear peak which is too new for the path.
 * @returns time of the newest R peak, seconds
 */
function addOpen(ecg: EcgState): f64 {
  const end = bestEnd(ecg);
  let newest = ecg.lastTime;
  let sample = ecg.lastBeat;
  for (let p = firstUndecided(ecg, end); p >= 0; p = candidateAfter(ecg, end, p)) {
    const candidate = ecg.candidateAt(p);
    const time = timeOf(ecg, candidate.sample);
    addOpenInterval(ecg, time - newest, candidate.empty > sample, Math.exp(<f64>-candidate.evidence));
    newest = time;
    sample = candidate.sample;
  }
  const peak = newestPeak(ecg);
  if (peak - sample < CLOSEST_PEAK) return newest;
  const time = timeOf(ecg, peak);
  addOpenInterval(ecg, time - newest, ecg.empty > sample, CLEAR_ODDS);
  return time;
}

/** Time of a peak that is not measured yet, seconds. */
function timeOf(ecg: EcgState, sample: i32): f64 {
  return (topOf(ecg, sample) + <f64>ecg.leadAt(ecg.lead).offset) / ECG_HZ;
}

/** Adds the interval that ends with a peak which is not measured yet, unless it is `broken`: there is a gap in it. */
function addOpenInterval(ecg: EcgState, seconds: f64, broken: bool, odds: f64): void {
  if (ecg.beatCount && !broken) addInterval(seconds, odds);
}
