import { copyGrid } from '../grid/window';
import { logistic, UNTRUSTED } from '../math/logistic';
import { Channel, ECG_HZ, KIND_ECG, MAX_SUBS } from '../memory/channel';
import { EcgState, Lead } from '../memory/ecg_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { listOf, Row, rowOf } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { bestEnd, candidateAfter, firstUndecided } from './beat_path';
import { mayBeHum, topOf } from './evidence';
import { isMatched, ROW } from './features';
import { HR_ECG_WEIGHTS } from './hr_ecg_weights';
import { separation } from './levels';
import { newestPeak } from './r_peaks';
import { allRight, doubtOf, Intervals, irregularity, isRhythm, mayHide } from './rhythm';
import { CONFIDENCE, HUM, MIDWAY, PATH, RHYTHM, SIZE } from './tuning';

/** Window of the heart rate, seconds. */
const WINDOW: f64 = 8;
/** Number of features. */
const COUNT: i32 = 10;

/** What a lead tells of a window. */
@unmanaged
class Reading {
  /** Heart rate, bpm; 0: none. */
  rate: f64;
  confidence: f64;
  /** Scales a confidence that is trusted: low where signs say that these are no beats, or that the beats have ended. What it hides is at most UNTRUSTED. */
  most: f64;
  /** As named in src/features.ts. */
  features: Row<f32> = rowOf<f32>(COUNT);
}
const READINGS = listOf<Reading>(MAX_SUBS);
const INTERVALS = new Intervals();

/**
 * Heart rate of the 8 s before `end` (seconds), of the lead that is most likely right. One that is as sure, and contradicts it,
 * takes its trust; any other one does not. Writes bpm and confidence; returns false if no lead has an interval.
 */
export function estimateHrEcg(session: Session, end: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_ECG);
  if (!channel) return false;
  const leads = channel.subs;
  for (let sub = 0; sub < leads; sub++) readLead(session.ecg, channel, sub, end, INTERVALS, READINGS[sub]);
  let best = READINGS[0];
  for (let sub = 0; sub < leads; sub++) {
    const reading = READINGS[sub];
    if (reading.rate === 0) continue;
    reading.confidence = reading.most * <f64>logistic(reading.features, HR_ECG_WEIGHTS);
    if (best.rate === 0 || reading.confidence > best.confidence) best = reading;
  }
  if (best.rate === 0) return false;
  const features = featuresOf(Model.HR_ECG);
  for (let i = 0; i < COUNT; i++) features[i] = best.features[i];
  to.value = best.rate;
  to.confidence = best.confidence;
  if (best.confidence < CONFIDENCE.SURE)
    to.confidence = Math.min(UNTRUSTED, <f64>logistic(best.features, HR_ECG_WEIGHTS));
  for (let sub = 0; sub < leads; sub++) {
    const other = READINGS[sub];
    const isSame = Math.abs(other.rate - best.rate) <= CONFIDENCE.SAME_RATE;
    if (other.rate === 0 || isSame || other.confidence < CONFIDENCE.CONTRADICTING) continue;
    to.confidence *= 1 - other.confidence;
  }
  return true;
}

/** 60 divided by the mean RR interval between a lead's R peaks, including undecided ones, and the features of its confidence. */
function readLead(ecg: EcgState, channel: Channel, sub: i32, end: f64, intervals: Intervals, to: Reading): void {
  const lead = ecg.leads[sub];
  intervals.clear();
  addDecided(lead, end - WINDOW, intervals);
  const newest = addOpen(lead, ecg.blocks, intervals);
  to.rate = 0;
  if (!intervals.count) return;
  const mean = intervals.duration / <f64>intervals.count;
  to.rate = 60 / mean;
  to.most =
    <f64>isRhythm(lead) *
    <f64>!isMains(lead, channel.period) *
    stillBeating(end - newest, mean) *
    resolved(lead, channel, sub, ROW);
  const first = lead.firstAfter(end - WINDOW);
  const high = largest(lead, first);
  const doubtful = mayHide(intervals) + splits(lead, first, intervals) + strangeBeats(lead, first, high);
  to.most *= Math.exp(-doubtful);
  if (kindsTakeTurns(lead, first) || mayMiss(lead)) to.most = 0;
  const features = to.features;
  features[0] = <f32>Math.log(doubtOf(intervals));
  features[1] = <f32>((irregularity(intervals) * <f64>intervals.count) / intervals.duration);
  features[2] = contrast(lead, first, high);
  features[3] = Mathf.log(separation(lead.energy));
  features[4] = Mathf.log(separation(lead.match));
  features[5] = <f32>Math.min(1, intervals.duration / WINDOW);
  features[6] = lead.fit;
  features[7] = lead.shift;
  features[8] = lead.rest;
  features[9] = -features[3] - Mathf.log(max<f32>(CONFIDENCE.LEAST_REST, lead.rest));
}

/**
 * Beats that split an interval of the usual length between two of the same kind, as one does that is none: an early beat of the ventricles is of
 * another kind, and one of the atria is followed by an interval of the usual length.
 */
function splits(lead: Lead, first: i32, intervals: Intervals): f64 {
  let count: f64 = 0;
  for (let n = max(first, lead.oldestBeat + 1); n < lead.beatCount - 1; n++) {
    const beat = lead.beatAt(n);
    const next = lead.beatAt(n + 1);
    if (!(beat.interval > 0 && next.interval > 0)) continue;
    if (beat.kind !== next.kind || beat.kind !== lead.beatAt(n - 1).kind) continue;
    const both = <f64>beat.interval + <f64>next.interval;
    const usual = (intervals.duration - both) / <f64>(intervals.count - 2);
    if (Math.abs(both - usual) < RHYTHM.SAME * usual) count++;
  }
  return count;
}

/** Beats of the window whose size or length is not that of a QRS complex; a beat of a quarter of the largest one's size may be a P wave. */
function strangeBeats(lead: Lead, first: i32, high: f32): f64 {
  let count: f64 = 0;
  let small: f64 = 0;
  for (let n = first; n < lead.beatCount; n++) {
    const beat = lead.beatAt(n);
    count += <f64>beat.strange;
    small += <f64>(beat.amplitude < SIZE.SMALL_ENERGY * high);
  }
  return Math.max(count, small - 1);
}

/** Whether something like a beat lies midway between most beats, or noise has taken the place of all templates, which alone tell of the beats. */
function mayMiss(lead: Lead): bool {
  return lead.midway > 0.5 || lead.middle > MIDWAY.MISSED || !isMatched(lead);
}

/** Smallest beat from the `first` on against the largest, as logarithm. */
function contrast(lead: Lead, first: i32, high: f32): f32 {
  let low = high;
  for (let n = first; n < lead.beatCount; n++) {
    const size = lead.beatAt(n).amplitude;
    if (size > 0) low = min(low, size);
  }
  return high > 0 ? max<f32>(-4, Mathf.log(low / high)) : 0;
}

/** Size of the largest beat from the `first` on. */
function largest(lead: Lead, first: i32): f32 {
  let high: f32 = 0;
  for (let n = first; n < lead.beatCount; n++) high = max(high, lead.beatAt(n).amplitude);
  return high;
}

/** Probability that as many of the chosen lead's beats since `from` (seconds) as tell a breath are those of a heart. */
export function likeHeartbeats(session: Session, from: f64): f64 {
  const channel = channelOfKind(session, KIND_ECG);
  if (!channel) return 0;
  const lead = session.ecg.best;
  INTERVALS.clear();
  addDecided(lead, from, INTERVALS);
  if (!INTERVALS.count || !isLikeEcg(lead, channel.period)) return 0;
  return allRight(INTERVALS) ** (CONFIDENCE.TELLING_BEATS / <f64>INTERVALS.count);
}

/** Whether what the chosen lead has for beats are surely those of mains, which tell of no breath. */
export function areOfMains(session: Session): bool {
  const channel = channelOfKind(session, KIND_ECG);
  return channel !== null && isHum(session.ecg.best, channel.period);
}

/**
 * Whether beats of two kinds take turns, each of one following one of the other within a QT interval: as T waves that are taken for beats do.
 */
function kindsTakeTurns(lead: Lead, first: i32): bool {
  let pairs = 0;
  let turns = 0;
  for (let n = max(first, lead.oldestBeat + 2); n < lead.beatCount; n++) {
    const beat = lead.beatAt(n);
    const before = lead.beatAt(n - 1);
    const shorter = min(beat.interval, before.interval);
    const isTurn = beat.kind === lead.beatAt(n - 2).kind && beat.kind !== before.kind;
    pairs++;
    turns += <i32>(isTurn && shorter > 0 && shorter < PATH.LATEST_T);
  }
  return pairs > 1 && turns === pairs;
}

/**
 * Whether the beats are surely those of an ECG, as those must be that tell of a breath. Noise also has peaks, from which a template is learnt. But
 * the morphology scores of noise are 0.6 to 0.76 (white noise, muscle noise, clipping), and those of QRS complexes 0.85 and more at 6 dB of noise.
 * After a QRS complex a lead returns to its level, after stairs and rounded drifts it does not: the beats' shift is below 0.2 in a
 * quiet lead, 0.4 in electrode motion of 6 dB, and 0.9 and more for stairs and drifts.
 * @param period of the samples, seconds
 */
function isLikeEcg(lead: Lead, period: f64): bool {
  if (isMains(lead, period)) return false;
  return lead.fit > CONFIDENCE.USUAL_FIT && lead.shift < CONFIDENCE.MOST_SHIFT;
}

/** Whether the beats are those of hum, of its beat note on the grid, or of rectified mains. */
function isMains(lead: Lead, period: f64): bool {
  return isHum(lead, period) || isBeatNote(lead);
}

/** Whether the beats are those of hum, or of rectified mains, which has cusps. */
function isHum(lead: Lead, period: f64): bool {
  return mayBeHum(lead, period) || lead.bend > HUM.CUSP;
}

/** Whether a lead does not rest between the beats (`restBetween`), and is less at rest than noise leaves it that makes beats fit their template so badly. */
function isBeatNote(lead: Lead): bool {
  const misfit = Mathf.sqrt(Mathf.max(0, 1 / (lead.fit * lead.fit) - 1));
  return lead.rest >= HUM.MOST_REST && lead.rest > HUM.NOISE_REST * misfit;
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
  const usual = RHYTHM.HIDING * interval + CONFIDENCE.DECIDE_SECONDS;
  return idle > usual ? (usual / idle) ** 3 : 1;
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
