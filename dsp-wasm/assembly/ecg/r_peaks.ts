import { completeBy, copyGrid } from '../grid/window';
import { Channel, ECG_RING, KIND_ECG, MAX_SUBS } from '../memory/channel';
import { EcgState, Level, TEMPLATES } from '../memory/ecg_state';
import { Row } from '../memory/row';
import { channelOfKind, Session } from '../memory/session';
import { measureBeat } from './beat_measure';
import { addCandidate, bestEnd, decideCandidate, firstUndecided, forgetPaths } from './beat_path';
import { takeBeats } from './beats';
import { clearEvidence, evidenceAt, isMatched, isPeak, isWide, weighBlock } from './evidence';
import { computeFeatures, forgetGroup, REACH } from './features';
import { beginLevel } from './levels';
import { BLOCK, ENERGY, MATCH, NEWEST, WIDTH } from './scratch';
import {
  CLEAR_EVIDENCE,
  CLEAR_SAMPLES,
  DECIDE_AGE,
  DECIDE_LATEST,
  FIRST_BEAT_SHARE,
  FLAT_SAMPLES,
  GUARD,
  HELD_SAMPLES,
  LEARN_SAMPLES,
  LEAST_LEARNT,
  LOST_SAMPLES,
  MEASURE_FOLLOW,
  MOST_ABOVE_SECOND,
  MOST_EVIDENCE,
  ROUNDING,
  SEARCH_SAMPLES,
} from './tuning';

/**
 * Streaming detection of R peaks. The features of all leads (features.ts), weighted by how well they separate beats from
 * noise (levels.ts), are combined to the evidence (evidence.ts). Its peaks are the candidates. The best path through them is
 * decided with a lag (beat_path.ts), and the decided beats are measured and learnt from (beat_measure.ts).
 *
 * The detector advances in blocks of grid samples and learns only at the end of a block, so any chunking of the data and
 * any spacing of the steps gives the same beats. Blocks end 4 grid samples before whole seconds, because the newest grid
 * samples of a step are not complete yet. A grid sample becomes a candidate REACH + GUARD samples later, 0.22 s.
 */
const FIRST_END: i32 = 12;

/** Streams the channel's grid samples up to `end` (seconds) through the detector. */
export function advancePeaks(session: Session, channel: Channel, end: f64): void {
  if (channel !== channelOfKind(session, KIND_ECG)) return;
  const ecg = session.ecg;
  const limit = completeBy(channel, end);
  forgetGroup();
  skipLost(ecg, limit);
  for (; FIRST_END + ecg.blocks * BLOCK <= limit; ecg.blocks++) {
    consumeBlock(ecg, channel, FIRST_END + ecg.blocks * BLOCK, limit);
  }
}

/** Moves the unread peaks to `to` (f64 seconds, ascending); returns their number. */
export function takePeaks(session: Session, channel: Channel, to: usize): i32 {
  return channel === channelOfKind(session, KIND_ECG) ? takeBeats(session.ecg, to) : 0;
}

/** Skips the blocks that are no longer in the ring. */
function skipLost(ecg: EcgState, limit: i32): void {
  const held = max(0, limit - ECG_RING + LOST_SAMPLES / 4) / BLOCK;
  if (held <= ecg.blocks) return;
  ecg.blocks = held;
  ecg.empty = FIRST_END + held * BLOCK;
  forget(ecg);
}

function forget(ecg: EcgState): void {
  ecg.start = 0;
  ecg.ready = false;
  for (let k = 0; k < MAX_SUBS; k++) {
    for (let t = 0; t < TEMPLATES; t++) ecg.leadAt(k).templateAt(t).learnt = 0;
    ecg.leadAt(k).calm = 0;
    ecg.leadAt(k).usualEnergy = 0;
    ecg.leadAt(k).usualWidth = 0;
    ecg.leadAt(k).clear = 0;
  }
  forgetPaths(ecg);
}

function consumeBlock(ecg: EcgState, channel: Channel, end: i32, limit: i32): void {
  watchData(ecg, channel, end);
  const start = ecg.start - 1;
  if (start < 0) return;
  if (ecg.ready) {
    detect(ecg, channel, end, limit);
    return;
  }
  if (end - start < LEARN_SAMPLES + REACH) return;
  learnLevels(ecg, channel, start + LEARN_SAMPLES, end);
  ecg.ready = true;
  ecg.quiet = start;
  clearEvidence(ecg);
  for (let e = end - ((end - start) / BLOCK) * BLOCK; e <= end; e += BLOCK) detect(ecg, channel, e, limit);
}

/** Records the start of the data and the gaps, which are common to all leads, and flat lines of the chosen one. */
function watchData(ecg: EcgState, channel: Channel, end: i32): void {
  copyGrid(channel, ecg.lead, end - BLOCK, BLOCK, end, NEWEST.at(0));
  watchHum(ecg);
  for (let i = 0; i < BLOCK; i++) {
    const sample = end - BLOCK + i;
    watchFlat(ecg, NEWEST[i], sample);
    if (!isNaN(NEWEST[i])) {
      if (!ecg.start) ecg.start = sample + 1;
      ecg.seen = sample + 1;
    } else {
      ecg.empty = sample + 1;
      if (ecg.start && sample - ecg.seen >= LOST_SAMPLES) forget(ecg);
    }
  }
}

/** Follows how fast the newest block changes. */
function watchHum(ecg: EcgState): void {
  let one: f32 = 0;
  let two: f32 = 0;
  for (let i = 1; i < BLOCK - 1; i++) {
    const before = NEWEST[i] - NEWEST[i - 1];
    const across = NEWEST[i + 1] - NEWEST[i - 1];
    one += before * before;
    two += across * across;
  }
  if (two > 0) ecg.hum += MEASURE_FOLLOW * (one / two - ecg.hum);
}

/** A sensor or a link may repeat its last value where it has none. */
function watchFlat(ecg: EcgState, value: f32, sample: i32): void {
  if (abs<f32>(value - ecg.value) <= ROUNDING * abs<f32>(value)) {
    ecg.same++;
    if (ecg.same >= HELD_SAMPLES) ecg.held = sample + 1;
    if (ecg.same >= FLAT_SAMPLES) ecg.flat = sample + 1;
  } else {
    ecg.same = 0;
    ecg.value = value;
  }
}

function learnLevels(ecg: EcgState, channel: Channel, to: i32, limit: i32): void {
  for (let k = 0; k < channel.subs; k++) {
    const lead = ecg.leadAt(k);
    const matched = isMatched(lead);
    const rounding = computeFeatures(channel, k, lead, to - LEARN_SAMPLES, LEARN_SAMPLES, limit, matched);
    learnFrom(ENERGY, lead.energy, rounding);
    learnFrom(WIDTH, lead.width, rounding);
    if (matched) learnFrom(MATCH, lead.match, rounding);
  }
}

/**
 * Learns the first levels. The level of beats is 80 % of the largest value, but at most twice the second largest of the
 * maxima of the four half seconds, so that one artefact does not hide the beats. The mean is the first level of noise. In a
 * gap nothing is learnt. Features no larger than `rounding` are those of a flat line.
 */
function learnFrom(feature: Row<f32>, level: Level, rounding: f32): void {
  let first: f32 = 0;
  let second: f32 = 0;
  let sum: f32 = 0;
  let count: f32 = 0;
  for (let half = 0; half < 4; half++) {
    let top: f32 = 0;
    for (let i = half * (LEARN_SAMPLES / 4); i < (half + 1) * (LEARN_SAMPLES / 4); i++) {
      const v = feature[i];
      if (isNaN(v)) continue;
      top = max(top, v);
      sum += v;
      count += 1;
    }
    second = max(second, min(first, top));
    first = max(first, top);
  }
  if (count < <f32>LEARN_SAMPLES * LEAST_LEARNT) return;
  if (first > rounding) beginLevel(level, FIRST_BEAT_SHARE * min(first, MOST_ABOVE_SECOND * second), sum / count);
  else beginLevel(level, 0, 0);
}

/** Processes the newest block: evidence, candidates, decisions. */
function detect(ecg: EcgState, channel: Channel, end: i32, limit: i32): void {
  weighBlock(ecg, channel, FIRST_END - REACH - BLOCK, end - REACH - BLOCK, limit);
  for (let sample = end - REACH - GUARD - BLOCK; sample < end - REACH - GUARD; sample++) {
    if (!isPeak(ecg, sample)) continue;
    const evidence = min<f32>(MOST_EVIDENCE, max<f32>(-MOST_EVIDENCE, evidenceAt(ecg, sample)));
    addCandidate(ecg, sample, evidence, isWide(ecg, sample));
  }
  decide(ecg, channel, end);
  if (end - max(ecg.lastBeat, ecg.quiet) > SEARCH_SAMPLES) {
    ecg.quiet = end;
    learnLevels(ecg, channel, end - REACH, end);
  }
}

/**
 * The clear peak, at least CLEAR_SAMPLES old, that is too new to be a candidate; -1 for none. A larger one may still follow,
 * so it can be used for an estimate, but not for a decision.
 */
export function newestPeak(ecg: EcgState): i32 {
  const to = FIRST_END + (ecg.blocks - 1) * BLOCK - REACH;
  let peak = -1;
  let top = CLEAR_EVIDENCE;
  for (let sample = to - GUARD; sample < to; sample++) {
    const v = evidenceAt(ecg, sample);
    if (!(v > top)) continue;
    top = v;
    peak = sample;
  }
  if (peak < 0 || peak >= to - CLEAR_SAMPLES || !ecg.ready) return -1;
  for (let k = 1; k <= GUARD; k++) if (evidenceAt(ecg, peak - k) >= top) return -1;
  return peak;
}

/** Decides the candidates of the best path that are old enough. */
function decide(ecg: EcgState, channel: Channel, end: i32): void {
  const best = bestEnd(ecg);
  for (let p = firstUndecided(ecg, best); p >= 0; p = firstUndecided(ecg, best)) {
    const age = end - ecg.candidateAt(p).sample;
    if (age < DECIDE_AGE) return;
    measureBeat(ecg, channel, p, end, age > DECIDE_LATEST);
    decideCandidate(ecg, p);
  }
}
