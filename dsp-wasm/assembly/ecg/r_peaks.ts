import { completeBy, copyGrid } from '../grid/window';
import { Channel, ECG_HZ, ECG_RING, KIND_ECG } from '../memory/channel';
import { EcgState, Lead, Level, TEMPLATES } from '../memory/ecg_state';
import { Row } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { measureBeat } from './beat_measure';
import { addCandidate, bestEnd, decideCandidate, firstUndecided, forgetPaths } from './beat_path';
import {
  BLOCK,
  clearEvidence,
  evidenceAt,
  FIRST_END,
  FIRST_SAMPLE,
  isPeak,
  isWide,
  kindAt,
  sharpnessAt,
  weighBlock,
} from './evidence';
import { BETWEEN, computeFeatures, GROUP, isMatched, matchTemplates, REACH, ROW, Stretch } from './features';
import { beginLevel, separation } from './levels';
import { DECISION, EVIDENCE, FLAT, LEARNING, LEVEL, MEASURE, MIDWAY, PATH } from './tuning';

/**
 * Streaming detection of R peaks, on each lead alone. The features of a lead (features.ts), weighted by how well they separate beats from
 * noise (levels.ts), are combined to the evidence (evidence.ts). Its peaks are the candidates. The best path through them is
 * decided with a lag (beat_path.ts), and the decided beats are measured and learnt from (beat_measure.ts).
 */

/**
 * The features of up to one second are computed together, because those of blocks overlap. Such groups begin at fixed grid samples, so that the
 * level, and with it the rounding, does not depend on the chunking of the data.
 */
const GROUP_SAMPLES: i32 = 128;

/** Streams the channel's grid samples up to `end` (seconds) through the detectors of its leads. */
export function advancePeaks(session: Session, channel: Channel, end: f64): void {
  if (channel !== channelOfKind(session, KIND_ECG)) return;
  const ecg = session.ecg;
  const limit = completeBy(channel, end);
  skipLost(ecg, channel, limit);
  const past = (limit - FIRST_END + BLOCK) / BLOCK;
  if (past <= ecg.blocks) return;
  for (let sub = 0; sub < channel.subs; sub++) {
    GROUP.from = i32.MAX_VALUE; // it holds another lead
    for (let block = ecg.blocks; block < past; block++) {
      consumeBlock(ecg.leads[sub], channel, sub, FIRST_END + block * BLOCK, limit);
    }
  }
  ecg.blocks = past;
  choose(ecg, channel.subs);
}

/** Moves the unread peaks of the chosen lead to `to` (f64 seconds, ascending); returns their number. */
export function takePeaks(session: Session, channel: Channel, to: usize): i32 {
  if (channel !== channelOfKind(session, KIND_ECG)) return 0;
  const ecg = session.ecg;
  const lead = ecg.best;
  let taken: usize = 0;
  for (let number = lead.oldestBeat; number < lead.beatCount; number++) {
    const beat = lead.beatAt(number);
    if (beat.late || beat.time <= ecg.read) continue;
    store<f64>(to + (taken << 3), beat.time);
    taken++;
  }
  // Another lead may have the same beat a little later
  if (lead.beatCount) ecg.read = max(ecg.read, lead.lastTime + <f64>PATH.SHORTEST_PERIOD);
  return <i32>taken;
}

/**
 * Chooses the lead that detects beats best. It is changed only for one whose beats are clearer by more than an interval can surprise: the R peaks of
 * two leads are not at the same time.
 */
function choose(ecg: EcgState, leads: i32): void {
  let best = 0;
  for (let sub = 1; sub < leads; sub++) if (clarity(ecg.leads[sub]) > clarity(ecg.leads[best])) best = sub;
  if (clarity(ecg.leads[best]) > clarity(ecg.best) + PATH.MOST_SURPRISE) ecg.chosen = best;
}

/** Evidence of a usual beat, in log odds. */
function clarity(lead: Lead): f32 {
  const q = max(separation(lead.energy), isMatched(lead) ? separation(lead.match) : 1);
  return min(EVIDENCE.MOST, (EVIDENCE.STEEPNESS * (q - 1) * sqrt<f32>(q)) / (1 + sqrt<f32>(q)));
}

/** Skips the blocks that are no longer in the ring. */
function skipLost(ecg: EcgState, channel: Channel, limit: i32): void {
  const held = max(0, limit - ECG_RING + LEARNING.LOST / 4) / BLOCK;
  if (held <= ecg.blocks) return;
  ecg.blocks = held;
  for (let sub = 0; sub < channel.subs; sub++) {
    const lead = ecg.leads[sub];
    lead.empty = FIRST_END + held * BLOCK;
    forget(lead);
  }
}

function forget(lead: Lead): void {
  lead.start = 0;
  lead.ready = false;
  for (let k = 0; k < TEMPLATES; k++) lead.templates[k].learnt = 0;
  lead.calm = 0;
  lead.usualEnergy = 0;
  lead.usualWidth = 0;
  lead.clear = 0;
  forgetPaths(lead);
}

function consumeBlock(lead: Lead, channel: Channel, sub: i32, end: i32, limit: i32): void {
  watchData(lead, channel, sub, end, ROW);
  const start = lead.start - 1;
  if (start < 0) return;
  if (lead.ready) {
    detect(lead, channel, sub, end, limit);
    return;
  }
  const seconds = (end - start - REACH) / ECG_HZ;
  if (seconds < LEARNING.SECONDS) return;
  const stretch = min(seconds, 2 * LEARNING.SECONDS) * ECG_HZ;
  if (!learnLevels(lead, channel, sub, start + stretch, stretch, end, BETWEEN) && seconds < 2 * LEARNING.SECONDS)
    return;
  lead.ready = true;
  lead.quiet = start;
  clearEvidence(lead);
  for (let e = end - ((end - start) / BLOCK) * BLOCK; e <= end; e += BLOCK) detect(lead, channel, sub, e, limit);
}

/** Records the start of the data, gaps and flat lines. */
function watchData(lead: Lead, channel: Channel, sub: i32, end: i32, newest: Row<f32>): void {
  copyGrid(channel, sub, end - BLOCK, BLOCK, end, newest.at(0));
  watchHum(lead, newest);
  for (let i = 0; i < BLOCK; i++) {
    const sample = end - BLOCK + i;
    watchFlat(lead, newest[i], sample);
    if (!isNaN(newest[i])) {
      if (!lead.start) lead.start = sample + 1;
      lead.seen = sample + 1;
    } else {
      lead.empty = sample + 1;
      if (lead.start && sample - lead.seen >= LEARNING.LOST) forget(lead);
    }
  }
}

/** Follows how fast the newest blocks change. */
function watchHum(lead: Lead, newest: Row<f32>): void {
  let one: f32 = 0;
  let two: f32 = 0;
  for (let i = 1; i < BLOCK - 1; i++) {
    const before = newest[i] - newest[i - 1];
    const across = newest[i + 1] - newest[i - 1];
    one += before * before;
    two += across * across;
  }
  if (isNaN(one + two)) return;
  lead.fast += MEASURE.BLOCK_SHARE * (one - lead.fast);
  lead.slow += MEASURE.BLOCK_SHARE * (two - lead.slow);
}

/** A sensor or a link may repeat its last value where it has none. */
function watchFlat(lead: Lead, value: f32, sample: i32): void {
  if (abs<f32>(value - lead.value) <= FLAT.ROUNDING * abs<f32>(value)) {
    lead.same++;
    if (lead.same >= FLAT.HELD) lead.held = sample + 1;
    if (lead.same >= FLAT.SAMPLES) lead.flat = sample + 1;
  } else {
    lead.same = 0;
    lead.value = value;
  }
}

/** Learns the levels of a stretch of `count` grid samples before `to`; returns whether more than one beat stands out there. */
function learnLevels(lead: Lead, channel: Channel, sub: i32, to: i32, count: i32, limit: i32, features: Stretch): bool {
  computeFeatures(channel, sub, to - count, count, limit, ROW, features);
  const stand = learnFrom(features.energy, count, lead.energy, features.rounding);
  learnFrom(features.width, count, lead.width, features.rounding);
  if (isMatched(lead)) {
    matchTemplates(lead, 0, count, features);
    learnFrom(features.match, count, lead.match, features.rounding);
  }
  return stand;
}

/**
 * Learns the first levels. The level of beats is 80 % of the largest value, but at most twice the second largest of the
 * maxima of the half seconds, so that one artefact does not hide the beats. The mean is the first level of noise. In a
 * gap nothing is learnt. Features no larger than `rounding` are those of a flat line.
 * @returns whether that bound was not needed
 */
function learnFrom(feature: Row<f32>, samples: i32, level: Level, rounding: f32): bool {
  let first: f32 = 0;
  let second: f32 = 0;
  let sum: f32 = 0;
  let count: f32 = 0;
  for (let half = 0; half < samples; half += ECG_HZ / 2) {
    let top: f32 = 0;
    for (let i = half; i < half + ECG_HZ / 2; i++) {
      const v = feature[i];
      if (isNaN(v)) continue;
      top = max(top, v);
      sum += v;
      count += 1;
    }
    second = max(second, min(first, top));
    first = max(first, top);
  }
  if (count < <f32>samples / 2) return true;
  const isFlat = first <= rounding;
  const bound = LEVEL.LARGEST * second;
  beginLevel(level, isFlat ? 0 : LEARNING.BEAT * min(first, bound), isFlat ? 0 : sum / count);
  return first <= bound;
}

/** Processes the newest block: evidence, candidates, decisions. */
function detect(lead: Lead, channel: Channel, sub: i32, end: i32, limit: i32): void {
  const from = end - REACH - BLOCK;
  if (GROUP.from > from || from + BLOCK > GROUP.to) {
    const first = from - ((from - FIRST_SAMPLE) % GROUP_SAMPLES);
    computeFeatures(channel, sub, first, min(GROUP_SAMPLES, limit - REACH - first), limit, ROW, GROUP);
  }
  weighBlock(lead, GROUP, from, ROW);
  for (let sample = from - EVIDENCE.GUARD; sample < from + BLOCK - EVIDENCE.GUARD; sample++) {
    if (!isPeak(lead, sample)) continue;
    const kind = kindAt(lead, sample);
    const alike = lead.midway > MIDWAY.ENOUGH && kind === lead.beatAt(lead.beatCount - 1).kind + 1;
    const evidence = alike ? EVIDENCE.MOST : min<f32>(EVIDENCE.MOST, evidenceAt(lead, sample));
    addCandidate(lead, sample, evidence, kind, !alike && isWide(lead, sample), sharpnessAt(lead, sample));
  }
  decide(lead, channel, sub, end);
  if (end - max(lead.lastBeat, lead.quiet) > LEARNING.SEARCH) {
    lead.quiet = end;
    learnLevels(lead, channel, sub, end - REACH, LEARNING.SECONDS * ECG_HZ, end, BETWEEN);
  }
}

/**
 * The clear peak, past its top, that is too new to be a candidate; -1 for none. A larger one may still follow,
 * so it can be used for an estimate, but not for a decision.
 * @param blocks blocks consumed
 */
export function newestPeak(lead: Lead, blocks: i32): i32 {
  const to = FIRST_END + (blocks - 1) * BLOCK - REACH;
  let peak = -1;
  let top = EVIDENCE.MOST_WIDE + 1;
  for (let sample = to - EVIDENCE.GUARD; sample < to; sample++) {
    const v = evidenceAt(lead, sample);
    if (!(v > top)) continue;
    top = v;
    peak = sample;
  }
  if (peak < 0 || peak === to - 1 || !lead.ready) return -1;
  for (let k = 1; k <= EVIDENCE.GUARD; k++) if (evidenceAt(lead, peak - k) >= top) return -1;
  return peak;
}

/** Decides the candidates of the best path that are old enough. */
function decide(lead: Lead, channel: Channel, sub: i32, end: i32): void {
  const best = bestEnd(lead);
  for (let p = firstUndecided(lead, best); p >= 0; p = firstUndecided(lead, best)) {
    const candidate = lead.candidateAt(p);
    const age = end - candidate.sample;
    if (age < DECISION.AGE) return;
    measureBeat(lead, channel, sub, candidate, end, age > DECISION.LATEST, BETWEEN, ROW);
    decideCandidate(lead, p);
  }
}
