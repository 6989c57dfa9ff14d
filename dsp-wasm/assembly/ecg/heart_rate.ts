import { copyGrid } from '../grid/window';
import { ECG_HZ, KIND_ECG } from '../memory/channel';
import { EcgState, Lead } from '../memory/ecg_state';
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
  ENOUGH_SECONDS,
  FIT_WIDTH,
  IDLE_INTERVALS,
  LEAST_OF_LEVEL,
  LEAST_OF_OFFSET,
  LONGEST_QT,
  MOST_OTHERS,
  MOST_REST,
  MOST_SHIFT,
  REST_STEEPNESS,
  SHIFT_STEEPNESS,
  TELLING_BEATS,
  USUAL_FIT,
} from './tuning';

/** Window of the heart rate, seconds. */
const WINDOW: f64 = 8;

/**
 * Heart rate of the 8 s before `end` (seconds): 60 divided by the mean RR interval between its R peaks, including undecided
 * ones. Writes bpm and confidence; returns false if there is no interval.
 */
export function estimateHrEcg(session: Session, end: f64, to: Estimate): bool {
  const ecg = session.ecg;
  const leads = leadsOf(session);
  clearIntervals();
  addDecided(ecg, end - WINDOW);
  const newest = addOpen(ecg);
  if (!INTERVALS.count) return false;
  const mean = INTERVALS.duration / <f64>INTERVALS.count;
  to.value = (60 * <f64>INTERVALS.count) / INTERVALS.duration;
  to.confidence =
    allRight() * isRhythm(ecg) * likeEcg(ecg, leads) * stillBeating(end - newest, mean) * resolved(session) * enough();
  if (kindsTakeTurns(ecg, end - WINDOW) || ecg.leadAt(ecg.lead).midway > 0.5) to.confidence = 0;
  return true;
}

/** Probability that TELLING_BEATS of the beats since `from` (seconds) are those of a heart. */
export function likeHeartbeats(session: Session, from: f64): f64 {
  const ecg = session.ecg;
  const leads = leadsOf(session);
  clearIntervals();
  addDecided(ecg, from);
  if (!INTERVALS.count) return 0;
  return allRight() ** (TELLING_BEATS / <f64>INTERVALS.count) * likeEcg(ecg, leads);
}

/**
 * Whether beats of two kinds take turns, each of one following one of the other within a QT interval: as T waves that are taken for beats do.
 */
function kindsTakeTurns(ecg: EcgState, from: f64): bool {
  let pairs = 0;
  let turns = 0;
  for (let number = ecg.beatCount - 1; number - 2 >= ecg.oldestBeat && ecg.beatAt(number).time > from; number--) {
    const beat = ecg.beatAt(number);
    const before = ecg.beatAt(number - 1);
    const shorter = min(beat.interval, before.interval);
    const isTurn = beat.kind === ecg.beatAt(number - 2).kind && beat.kind !== before.kind;
    pairs++;
    turns += <i32>(isTurn && shorter > 0 && <f64>shorter < LONGEST_QT);
  }
  return pairs > MOST_OTHERS + 1 && pairs - turns <= MOST_OTHERS;
}

function leadsOf(session: Session): i32 {
  const channel = channelOfKind(session, KIND_ECG);
  return channel ? channel.subs : 0;
}

/** Probability that the signal is an ECG, of the lead that looks most like one. */
function likeEcg(ecg: EcgState, leads: i32): f64 {
  let likely: f64 = 0;
  for (let k = 0; k < leads; k++) likely = Math.max(likely, leadLikeEcg(ecg.leadAt(k)));
  return likely;
}

/**
 * Noise also has peaks, from which a template is learnt. But the morphology scores of noise are 0.6 to 0.76 (white noise,
 * muscle noise, clipping), and those of QRS complexes 0.85 and more at 6 dB of noise. And after a QRS complex a lead returns
 * to its level, after stairs and rounded drifts it does not: the beats' shift is below 0.2 in a quiet lead, 0.4 in electrode
 * motion of 6 dB, and 0.9 and more for stairs and drifts. Then it rests until the next one; where the waves of hum, or its
 * beat note on the grid, are taken for beats, it does not (`restBetween`).
 */
function leadLikeEcg(lead: Lead): f64 {
  const fit = <f64>lead.fit;
  const returns = (MOST_SHIFT - <f64>lead.shift) * SHIFT_STEEPNESS;
  const rests = (MOST_REST - <f64>lead.rest) * REST_STEEPNESS;
  const likely = fit > 0 ? 1 / (1 + Math.exp((USUAL_FIT - fit) / FIT_WIDTH)) : 0.5;
  return Math.max(0, Math.min(1, returns)) * Math.max(0, Math.min(1, rests)) * likely;
}

/**
 * 1 if the newest beat is larger than rounding errors (f32: 6e-8 of the level, more after the filters), 0 if it can be a
 * rounding error of a drift or of a value beyond the range of converters.
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

/** The beats may have stopped (lead off, pause) if none came for more than two intervals plus the time of a decision. */
function stillBeating(idle: f64, interval: f64): f64 {
  const usual = IDLE_INTERVALS * interval + DECIDE_SECONDS;
  return idle > usual ? (usual / idle) ** 3 : 1;
}

/** Few intervals, as between gaps, tell less of the window, and one wrong among them changes the mean more. */
function enough(): f64 {
  return Math.min(1, INTERVALS.duration / ENOUGH_SECONDS);
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
    addInterval(<f64>beat.interval, (1 - quality) / Math.max(1e-9, quality), beat.obscured, beat.holds);
  }
}

/**
 * Adds the undecided beats of the best path, and a clear peak that is too new for the path.
 * @returns time of the newest R peak, seconds
 */
function addOpen(ecg: EcgState): f64 {
  const end = bestEnd(ecg);
  let newest = ecg.lastTime;
  let sample = ecg.lastBeat;
  for (let p = firstUndecided(ecg, end); p >= 0; p = candidateAfter(ecg, end, p)) {
    const candidate = ecg.candidateAt(p);
    const time = timeOf(ecg, candidate.sample);
    addOpenInterval(
      ecg,
      time - newest,
      candidate.empty > sample,
      Math.exp(<f64>-candidate.evidence),
      candidate.flat > sample,
      candidate.held > sample,
    );
    newest = time;
    sample = candidate.sample;
  }
  const peak = newestPeak(ecg);
  if (peak - sample < CLOSEST_PEAK) return newest;
  const time = timeOf(ecg, peak);
  addOpenInterval(ecg, time - newest, ecg.empty > sample, CLEAR_ODDS, ecg.flat > sample, ecg.held > sample);
  return time;
}

/** Time of a peak that has not been measured yet, seconds. */
function timeOf(ecg: EcgState, sample: i32): f64 {
  return (topOf(ecg, sample) + <f64>ecg.leadAt(ecg.lead).offset) / ECG_HZ;
}

/** Adds the interval that ends with a peak that has not been measured yet, unless it is `broken` by a gap. */
function addOpenInterval(ecg: EcgState, seconds: f64, broken: bool, odds: f64, obscured: bool, holds: bool): void {
  if (ecg.beatCount && !broken) addInterval(seconds, odds, obscured, holds);
}
