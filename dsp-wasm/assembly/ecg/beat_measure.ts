import { copyGrid } from '../grid/window';
import { mostLane, sumLanes, usedLanes } from '../math/vector';
import { Channel, ECG_HZ } from '../memory/channel';
import { Beat, Candidate, Lead, Level } from '../memory/ecg_state';
import { Row } from '../memory/row';
import { isSlowWave } from './evidence';
import { computeFeatures, isMatched, matchTemplates, Stretch, TEMPLATE_HALF } from './features';
import { learnShape, timeAt } from './kinds';
import { beginLevel, learnLevel } from './levels';
import { BASELINE, EVIDENCE, KINDS, LEVEL, MEASURE, MIDWAY, QUALITY, RHYTHM, SIZE } from './tuning';

/**
 * Measures a decided beat: its time, amplitude and quality, and learns from it. Indices of features count from the first one after the
 * beat before; the first `between` of them are between the two.
 */

/** Features beside those where the peak may be, from which its place between them is interpolated, and one more. */
const MARGIN: i32 = 3;

/** Appends the candidate to the ring of beats, and learns from it. Uses no grid sample at or after `limit`. */
export function measureBeat(
  lead: Lead,
  channel: Channel,
  sub: i32,
  candidate: Candidate,
  limit: i32,
  late: bool,
  features: Stretch,
  row: Row<f32>,
): void {
  const sample = candidate.sample;
  const last = lead.lastBeat;
  const isNext = lead.beatCount > 0 && sample - last < MEASURE.PAUSE;
  const guard = min(MEASURE.DEAD, (MEASURE.DEAD_TENTHS * (sample - last)) / 10);
  const near = sample - EVIDENCE.GUARD - MARGIN;
  const from = isNext ? min(last + guard + 1, near) : near;
  const between = isNext ? sample - guard - from : 0;
  const count = sample + EVIDENCE.GUARD + MARGIN + 1 - from;
  computeFeatures(channel, sub, from, count, limit, row, features);
  const matched = isMatched(lead);
  if (matched) matchTemplates(lead, 0, count, features);

  const beat = lead.beatAt(lead.beatCount++);
  const at = sample - from;
  const wide = candidate.wide;
  const energy = features.energy[greatestNear(features.energy, at, EVIDENCE.GUARD)];
  const noise = greatest(features.energy, between);
  const hiding: f32 = lead.energy.beat > 0 ? max<f32>(0, noise / lead.energy.beat) : 0;
  if (between > 0) lead.calm = followed(lead.calm, least(features.energy, between));
  let isSmall = false;
  let fit: f32 = 0;
  beat.time = timeAt(features, <f32>at + lead.offset);
  beat.amplitude = 0;
  if (!isNaN(energy)) {
    // Its wavelet reaches farther than the others, so it may lack data at a gap where they do not.
    const width = features.width[greatestNear(features.width, at, EVIDENCE.GUARD)];
    if (!isNaN(width)) {
      isSmall = learnSize(lead, energy, width, between, hiding, features);
      // Ectopic beats are rare, and count as noise if they are missed, so this level must not rise fast.
      learnLevel(lead.width, width, greatest(features.width, between), LEVEL.FOLLOW);
    }
    const share = <f32>between / <f32>(sample - last);
    if (matched && between > 0) learnMiddle(lead, at, between, share, features);
    if (!wide) {
      learnLevel(lead.energy, energy, noise, LEVEL.RISE);
      if (matched) learnMatches(lead, at, between, share, features);
    }
    const likeness = learnShape(lead, at, lead.beatCount - 1, features, row, beat);
    if (!wide && matched) fit = likeness;
  }
  lead.fit = followed(lead.fit, fit);
  learnHeight(lead, at, features);
  lead.bend = followed(lead.bend, bendOf(at, features));
  const spread: f32 = wide ? Infinity : spreadOf(at, features);

  const stray: f32 = isNext ? strayBreadth(lead, last + MEASURE.LATEST_T - from, at - MEASURE.EARLIEST_P, features) : 0;
  beat.interval = !isNext || candidate.empty > last ? 0 : <f32>(beat.time - lead.lastTime);
  beat.strange = !wide && (isSmall || (spread < QUALITY.SHORTEST_SPREAD && !hasTWaves(lead)));
  const likely: f32 = <f32>1 / (<f32>1 + Mathf.exp(-candidate.evidence));
  beat.quality = min(likely, beat.strange || isSmall || stray > QUALITY.STRAY_SHARE ? QUALITY.STRAY : 1);
  const hides = isNext && hidesBroad(lead, beat, at - MEASURE.EARLIEST_P, features);
  beat.obscured = candidate.flat > last || hiding > LEVEL.CLOSEST || hides;
  beat.holds = candidate.held > last;
  beat.late = late;
  beat.baseline = levelAbout(channel, sub, beat.time * ECG_HZ, limit, row);
  lead.lastBeat = sample;
  lead.lastTime = beat.time;
}

/**
 * Mean of the lead over BASELINE.SAMPLES about an instant between grid samples: over whole grid samples alone, its ends would move against
 * the beat.
 */
function levelAbout(channel: Channel, sub: i32, at: f64, limit: i32, row: Row<f32>): f32 {
  const middle = <i32>Math.floor(at);
  copyGrid(channel, sub, middle - BASELINE.SAMPLES / 2, BASELINE.SAMPLES + 1, limit, row.at(0));
  let sum = f32x4.splat(0);
  for (let i = 0; i < BASELINE.SAMPLES; i += 4) sum = f32x4.add(sum, v128.load(row.at(i)));
  const moved = <f32>(at - <f64>middle) * (row[BASELINE.SAMPLES] - row[0]);
  return (sumLanes(sum) + moved) / <f32>BASELINE.SAMPLES;
}

/** Running mean over about 8 beats, with the measure of one more beat if that is positive. */
function followed(mean: f32, measure: f32): f32 {
  if (!(measure > 0)) return mean;
  return mean > 0 ? mean + LEVEL.FOLLOW * (measure - mean) : measure;
}

/** Learns the height of the beat, and the change of the level from before it to after it as a share of that, 0 to 1. */
function learnHeight(lead: Lead, at: i32, features: Stretch): void {
  let low: f32 = Infinity;
  let high: f32 = -Infinity;
  for (let i = at - TEMPLATE_HALF; i <= at + TEMPLATE_HALF; i++) {
    const level = withoutHum(features, i);
    low = min(low, level);
    high = max(high, level);
  }
  const change = withoutHum(features, at + TEMPLATE_HALF) - withoutHum(features, at - TEMPLATE_HALF);
  lead.height = followed(lead.height, high - low);
  lead.shift = followed(lead.shift, abs(change) / (high - low));
}

/** The lead under a binomial filter of five grid samples, which leaves 1 % of 50 Hz. */
function withoutHum(features: Stretch, i: i32): f32 {
  const outer = features.leveled(i - 2) + features.leveled(i + 2);
  const inner = features.leveled(i - 1) + features.leveled(i + 1);
  return (outer + 4 * inner + 6 * features.leveled(i)) / 16;
}

/**
 * Change of the slope from before the beat to after it, against all changes of the slope there: near 1 at a cusp, as rectified mains have; a
 * QRS complex bends back.
 */
function bendOf(at: i32, features: Stretch): f32 {
  let sum: f32 = 0;
  let size: f32 = 0;
  for (let k = -TEMPLATE_HALF; k <= TEMPLATE_HALF; k++) {
    sum += features.sharp(at + k);
    size += abs(features.sharp(at + k));
  }
  return size > 0 ? abs(sum) / size : 0;
}

/**
 * How far the energy of the beat at `at` spreads in time, grid samples (standard deviation): 1.3 to 1.65 for the pulse of a
 * pacemaker and for the step of an electrode that pops, 1.72 and more for a QRS complex. Of what is small beside its top,
 * most is noise.
 */
function spreadOf(at: i32, features: Stretch): f32 {
  let top: f32 = 0;
  for (let k = -TEMPLATE_HALF; k <= TEMPLATE_HALF; k++) top = max(top, abs(features.sharp(at + k)));
  let sum: f32 = 0;
  let first: f32 = 0;
  let second: f32 = 0;
  for (let k = -TEMPLATE_HALF; k <= TEMPLATE_HALF; k++) {
    const v = features.sharp(at + k);
    if (abs(v) < QUALITY.SPREAD_FROM * top) continue;
    const energy = v * v;
    sum += energy;
    first += energy * <f32>k;
    second += energy * <f32>(k * k);
  }
  return sum > 0 ? sqrt<f32>(second / sum - (first / sum) * (first / sum)) : Infinity;
}

/** Largest breadth from feature `from` to before `to`, as a share of that of beats. A missed ectopic beat is there, of which the other features have little. */
function strayBreadth(lead: Lead, from: i32, to: i32, features: Stretch): f32 {
  let top: f32 = 0;
  for (let i = max(0, from); i < to; i++)
    if (features.width[i] > top && !isSlowWave(features, i)) top = features.width[i];
  return lead.width.beat > 0 ? top / lead.width.beat : 0;
}

/**
 * Whether an interval between two beats of one kind, much longer than the one before, has a larger broad wave before feature `to` than beats have: an
 * ectopic beat that is as slow as a T wave, or on one.
 */
function hidesBroad(lead: Lead, beat: Beat, to: i32, features: Stretch): bool {
  if (lead.beatCount < 2) return false;
  const last = lead.beatAt(lead.beatCount - 2);
  if (!(last.interval > 0) || last.kind !== beat.kind || beat.interval < <f32>RHYTHM.HIDING * last.interval)
    return false;
  return greatest(features.width, to) > lead.width.beat;
}

/**
 * Whether a beat is so much smaller than those before that it may be a P wave which no QRS complex follows. What is usual is learnt where
 * no noise could hide a beat, and falls only while T waves follow the beats: an electrode that has moved makes both smaller. The T wave of the
 * beat before is among the first `between` features, of which there are none after a pause. What is a thousandth of it comes after an
 * artefact, which tells nothing of beats.
 */
function learnSize(lead: Lead, energy: f32, width: f32, between: i32, noise: f32, features: Stretch): bool {
  const sign = signOfT(lead.width.beat, between / 2, features);
  lead.waves = between > 0 ? lead.waves + LEVEL.FOLLOW * (sign - lead.waves) : 0;
  const falls = hasTWaves(lead);
  lead.clear = between > 0 && noise <= LEVEL.CLOSEST ? lead.clear + 1 : 0;
  if (width < SIZE.LEAST_BREADTH * lead.usualWidth) {
    lead.usualEnergy = 0;
    lead.usualWidth = 0;
  }
  if (lead.clear >= SIZE.ENOUGH_CLEAR) {
    lead.usualEnergy = usualAfter(lead.usualEnergy, energy, falls);
    lead.usualWidth = usualAfter(lead.usualWidth, width, falls);
  }
  return energy < SIZE.SMALL_ENERGY * lead.usualEnergy && width < QUALITY.STRAY_SHARE * lead.usualWidth;
}

/** Whether T waves follow the beats, as they do not follow pulses of a pacemaker alone, P waves or steps of an electrode. */
function hasTWaves(lead: Lead): bool {
  return abs<f32>(lead.waves) > SIZE.ENOUGH_WAVES;
}

function usualAfter(usual: f32, now: f32, falls: bool): f32 {
  if (usual <= 0) return now;
  const step = min(now, LEVEL.LARGEST * usual) - usual;
  return usual + (step > 0 ? LEVEL.RISE : falls ? LEVEL.FOLLOW : 0) * step;
}

/**
 * Sign of the largest broad wave among the first `count` features, which T waves share and noise does not; 0 where it is too small, or
 * larger than a beat.
 */
function signOfT(width: f32, count: i32, features: Stretch): f32 {
  let top = 0;
  for (let i = 1; i < count; i++) if (abs(features.broad(i)) > abs(features.broad(top))) top = i;
  const wave = features.broad(top);
  return abs(wave) > SIZE.LEAST_T * width && abs(wave) < width ? Mathf.sign(wave) : 0;
}

/** Learns from the match of a beat with its template, and of what lies between it and the beat before, of which that is a `share`. */
function learnMatches(lead: Lead, at: i32, between: i32, share: f32, features: Stretch): void {
  const top = greatestNear(features.match, at, EVIDENCE.GUARD);
  lead.rest = followed(lead.rest, restBetween(features.projection[top], between, share, features));
  const small: f32 = hasMidway(features.projection[top], at, between, share, features) ? 1 : 0;
  lead.midway += shareOf(lead) * (small - lead.midway);
  learnMatch(lead.match, features.match[top], greatest(features.match, between));
}

function learnMatch(level: Level, match: f32, noise: f32): void {
  if (!(match >= 0)) return;
  if (level.beat > 0) learnLevel(level, match, noise, LEVEL.RISE);
  else beginLevel(level, match, match);
}

/**
 * Mean magnitude of the projection on the template in the first `between` features, against that of the `beat`, in parts of that
 * of a beat note: below 0.35 in nearly all ECGs, with noise or hum on top, too, and 0.45 to 2.5 in hum alone, whose template is hum.
 */
function restBetween(beat: f32, between: i32, share: f32, features: Stretch): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < between; i++) sum += abs(features.projection[i]);
  return between > 0 ? sum / (<f32>between * beat * restOfSine(share)) : 0;
}

/**
 * Whether midway between the beat at `at` and the one before, or at a third and at two thirds of the way, there is something of the shape of a
 * beat: a smaller one of a heart whose QRS complexes alternate in height, or one that was missed because half or a third of the rate was expected.
 */
function hasMidway(beat: f32, at: i32, between: i32, share: f32, features: Stretch): bool {
  const length = <f32>between / share;
  const half = <f32>at - length / 2;
  const third = <f32>at - length / 3;
  const reach = <f32>RHYTHM.SAME * length;
  if (hasLike(beat, half, reach, between, features)) return true;
  return hasLike(beat, third, reach, between, features) && hasLike(beat, third - length / 3, reach, between, features);
}

/** Whether within `reach` of a place in the first `between` features there is something of the shape of a beat. */
function hasLike(beat: f32, place: f32, reach: f32, between: i32, features: Stretch): bool {
  const to = min(between - 1, <i32>(place + reach));
  for (let i = max(0, <i32>(place - reach)); i <= to; i++) {
    const projection = features.projection[i];
    const isLike = features.match[i] > KINDS.LIKE * KINDS.LIKE * projection;
    if (projection > MIDWAY.WEAKEST * beat && isLike) return true;
  }
  return false;
}

/** Weight of an interval in the averages over intervals: 1 for the first one, as nothing is known before it. */
function shareOf(lead: Lead): f32 {
  return lead.match.beat > 0 ? LEVEL.FOLLOW : 1;
}

/**
 * Learns the projection on the template half way between the beat at `at` and the one before, or the smaller one of those at thirds of the way, in parts of
 * the beat's. Over many beats that of noise is small, also where a single one cannot be told from a beat.
 */
function learnMiddle(lead: Lead, at: i32, between: i32, share: f32, features: Stretch): void {
  const beat = features.projection[greatestNear(features.match, at, EVIDENCE.GUARD)];
  if (!(beat > 0)) return;
  const length = <f32>between / share;
  const half = projectionNear(<f32>at - length / 2, between, features);
  const third = projectionNear(<f32>at - length / 3, between, features);
  const twoThirds = projectionNear(<f32>at - (length / 3) * 2, between, features);
  lead.middle += shareOf(lead) * (max(half, min(third, twoThirds)) / beat - lead.middle);
}

/** Largest projection on the template within two grid samples of a place in the first `between` features; 0 for none. */
function projectionNear(place: f32, between: i32, features: Stretch): f32 {
  const from = max(0, <i32>(place + 0.5) - 2);
  let top: f32 = -Infinity;
  for (let i = from; i < min(between, from + 5); i++) top = max(top, features.projection[i]);
  return abs(top) < Infinity ? top : 0;
}

/** Mean of a sine's magnitude in the middle `share` of a half wave, against its top: 2 / π of all of it. */
function restOfSine(share: f32): f32 {
  const half = (<f32>Math.PI / 2) * share;
  return (1 - Mathf.cos(half)) / half;
}

/** Largest of the first `count` values; -1 for none. */
function greatest(feature: Row<f32>, count: i32): f32 {
  const none = f32x4.splat(-1);
  let most = none;
  for (let i = 0; i < count; i += 4)
    most = f32x4.pmax(most, v128.bitselect(v128.load(feature.at(i)), none, usedLanes(count - i)));
  return mostLane(most);
}

/** Smallest of the first `count` values; infinite if none is known. */
function least(feature: Row<f32>, count: i32): f32 {
  const none = f32x4.splat(-Infinity);
  let most = none;
  for (let i = 0; i < count; i += 4)
    most = f32x4.pmax(most, v128.bitselect(f32x4.neg(v128.load(feature.at(i))), none, usedLanes(count - i)));
  return -mostLane(most);
}

/** Index of the largest value within `half` of `at`; if a value is missing, the index of a missing one. */
function greatestNear(feature: Row<f32>, at: i32, half: i32): i32 {
  let peak = at;
  for (let i = at - half; i <= at + half; i++) {
    if (isNaN(feature[i])) return i;
    if (feature[i] > feature[peak]) peak = i;
  }
  return peak;
}
