import { copyGrid } from '../grid/window';
import { Channel, ECG_HZ, KIND_ECG } from '../memory/channel';
import { EcgState, Lead } from '../memory/ecg_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { bestEnd, candidateAfter, firstUndecided } from './beat_path';
import { topOf } from './evidence';
import { newestPeak } from './r_peaks';
import { allRight, Intervals, isRhythm } from './rhythm';
import { INTERVALS, ROW } from './scratch';
import { CONFIDENCE, RHYTHM } from './tuning';

/** Window of the heart rate, seconds. */
const WINDOW: f64 = 8;

/**
 * Heart rate of the 8 s before `end` (seconds), of the lead that is most likely right. One that is likely right as well, and contradicts it,
 * takes from its confidence; any other one does not. Writes bpm and confidence; returns false if no lead has an interval.
 */
export function estimateHrEcg(session: Session, end: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_ECG);
  if (!channel) return false;
  to.confidence = -1;
  let against: f64 = 0;
  for (let sub = 0; sub < channel.subs; sub++) {
    const value = to.value;
    const confidence = to.confidence;
    if (!estimateLead(session.ecg, channel, sub, end, INTERVALS, to)) continue;
    const contradicts = confidence >= 0 && Math.abs(to.value - value) > CONFIDENCE.SAME_RATE;
    const weaker = Math.min(confidence, to.confidence);
    if (to.confidence > confidence) against = contradicts ? Math.max(against, weaker) : 0;
    else {
      if (contradicts) against = Math.max(against, weaker);
      to.value = value;
      to.confidence = confidence;
    }
  }
  if (to.confidence < 0) return false;
  if (against >= 0.5) to.confidence *= (1 - against) / (1 - to.confidence * against);
  return true;
}

/** 60 divided by the mean RR interval between a lead's R peaks, including undecided ones; false if there is no interval. */
function estimateLead(ecg: EcgState, channel: Channel, sub: i32, end: f64, intervals: Intervals, to: Estimate): bool {
  const lead = ecg.leadAt(sub);
  intervals.clear();
  addDecided(lead, end - WINDOW, intervals);
  const newest = addOpen(lead, ecg.blocks, intervals);
  if (!intervals.count) return false;
  const mean = intervals.duration / <f64>intervals.count;
  to.value = 60 / mean;
  to.confidence = allRight(intervals) * isRhythm(lead) * likeEcg(lead) * stillBeating(end - newest, mean);
  to.confidence *= resolved(lead, channel, sub, ROW) * enough(intervals);
  if (kindsTakeTurns(lead, end - WINDOW) || lead.midway > 0.5) to.confidence = 0;
  const f = featuresOf(Model.HR_ECG);
  f[0] = <f32>allRight(intervals);
  f[1] = <f32>isRhythm(lead);
  f[2] = lead.fit;
  f[3] = lead.shift;
  f[4] = lead.rest;
  f[5] = <f32>stillBeating(end - newest, mean);
  f[6] = <f32>resolved(lead, channel, sub, ROW);
  f[7] = <f32>enough(intervals);
  f[8] = <f32>kindsTakeTurns(lead, end - WINDOW);
  f[9] = lead.midway;
  f[10] = <f32>lead.beatAt(lead.beatCount - 1).quality;
  f[11] = lead.waves;
  return true;
}

/** Probability that TELLING_BEATS of the chosen lead's beats since `from` (seconds) are those of a heart. */
export function likeHeartbeats(session: Session, from: f64): f64 {
  const lead = session.ecg.best;
  INTERVALS.clear();
  addDecided(lead, from, INTERVALS);
  if (!INTERVALS.count) return 0;
  return allRight(INTERVALS) ** (CONFIDENCE.TELLING_BEATS / <f64>INTERVALS.count) * likeEcg(lead);
}

/**
 * Whether beats of two kinds take turns, each of one following one of the other within a QT interval: as T waves that are taken for beats do.
 */
function kindsTakeTurns(lead: Lead, from: f64): bool {
  let pairs = 0;
  let turns = 0;
  for (let number = lead.beatCount - 1; number - 2 >= lead.oldestBeat && lead.beatAt(number).time > from; number--) {
    const beat = lead.beatAt(number);
    const before = lead.beatAt(number - 1);
    const shorter = min(beat.interval, before.interval);
    const isTurn = beat.kind === lead.beatAt(number - 2).kind && beat.kind !== before.kind;
    pairs++;
    turns += <i32>(isTurn && shorter > 0 && <f64>shorter < RHYTHM.LONGEST_QT);
  }
  return pairs > RHYTHM.MOST_OTHERS + 1 && pairs - turns <= RHYTHM.MOST_OTHERS;
}

/**
 * Probability that the signal is an ECG. Noise also has peaks, from which a template is learnt. But the morphology scores of noise are 0.6
 * to 0.76 (white noise,
 * muscle noise, clipping), and those of QRS complexes 0.85 and more at 6 dB of noise. And after a QRS complex a lead returns
 * to its level, after stairs and rounded drifts it does not: the beats' shift is below 0.2 in a quiet lead, 0.4 in electrode
 * motion of 6 dB, and 0.9 and more for stairs and drifts. Then it rests until the next one; where the waves of hum, or its
 * beat note on the grid, are taken for beats, it does not (`restBetween`).
 */
function likeEcg(lead: Lead): f64 {
  const fit = <f64>lead.fit;
  const returns = (CONFIDENCE.MOST_SHIFT - <f64>lead.shift) * CONFIDENCE.SHIFT_STEEPNESS;
  const rests = (CONFIDENCE.MOST_REST - <f64>lead.rest) * CONFIDENCE.REST_STEEPNESS;
  const likely = fit > 0 ? 1 / (1 + Math.exp((CONFIDENCE.USUAL_FIT - fit) / CONFIDENCE.FIT_WIDTH)) : 0.5;
  return Math.max(0, Math.min(1, returns)) * Math.max(0, Math.min(1, rests)) * likely;
}

/**
 * 1 if the newest beat is larger than rounding errors (f32: 6e-8 of the level, more after the filters), 0 if it can be a
 * rounding error of a drift or of a value beyond the range of converters.
 */
function resolved(lead: Lead, channel: Channel, sub: i32, newest: Row<f32>): f64 {
  if (!lead.beatCount) return 1;
  const beat = lead.beatAt(lead.beatCount - 1);
  const sample = <i32>(beat.time * ECG_HZ);
  copyGrid(channel, sub, sample, 1, sample + 1, newest.at(0));
  const level = Math.abs(<f64>newest[0]);
  const least = CONFIDENCE.LEAST_OF_LEVEL * level + CONFIDENCE.LEAST_OF_OFFSET * Math.abs(channel.offsets[sub]);
  const size = <f64>beat.amplitude;
  return size > least ? Math.min(1, size / least - 1) : 0;
}

/** The beats may have stopped (lead off, pause) if none came for more than two intervals plus the time of a decision. */
function stillBeating(idle: f64, interval: f64): f64 {
  const usual = CONFIDENCE.IDLE_INTERVALS * interval + CONFIDENCE.DECIDE_SECONDS;
  return idle > usual ? (usual / idle) ** 3 : 1;
}

/** Few intervals, as between gaps, tell less of the window, and one wrong among them changes the mean more. */
function enough(intervals: Intervals): f64 {
  return Math.min(1, intervals.duration / CONFIDENCE.ENOUGH_SECONDS);
}

function addDecided(lead: Lead, from: f64, intervals: Intervals): void {
  let number = lead.beatCount;
  for (; number > lead.oldestBeat; number--) {
    const beat = lead.beatAt(number - 1);
    if (beat.time - <f64>beat.interval < from) break;
  }
  for (; number < lead.beatCount; number++) {
    const beat = lead.beatAt(number);
    const quality = <f64>beat.quality;
    intervals.add(<f64>beat.interval, (1 - quality) / Math.max(1e-9, quality), beat.obscured, beat.holds);
  }
}

/**
 * Adds the undecided beats of the best path, and a clear peak that is too new for the path.
 * @returns time of the newest R peak, seconds
 */
function addOpen(lead: Lead, blocks: i32, intervals: Intervals): f64 {
  const end = bestEnd(lead);
  let newest = lead.lastTime;
  let sample = lead.lastBeat;
  for (let p = firstUndecided(lead, end); p >= 0; p = candidateAfter(lead, end, p)) {
    const candidate = lead.candidateAt(p);
    const time = timeOf(lead, candidate.sample);
    if (lead.beatCount && candidate.empty <= sample) {
      const odds = Math.exp(<f64>-candidate.evidence);
      intervals.add(time - newest, odds, candidate.flat > sample, candidate.held > sample);
    }
    newest = time;
    sample = candidate.sample;
  }
  const peak = newestPeak(lead, blocks);
  if (peak - sample < CONFIDENCE.CLOSEST_PEAK) return newest;
  const time = timeOf(lead, peak);
  if (lead.beatCount && lead.empty <= sample)
    intervals.add(time - newest, CONFIDENCE.CLEAR_ODDS, lead.flat > sample, lead.held > sample);
  return time;
}

/** Time of a peak that has not been measured yet, seconds. */
function timeOf(lead: Lead, sample: i32): f64 {
  return (topOf(lead, sample) + <f64>lead.offset) / ECG_HZ;
}
