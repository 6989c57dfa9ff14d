import { copyGrid } from '../grid/window';
import { vertex } from '../math/parabola';
import { extremumNear, fitQuartic, quarticAt } from '../math/quartic';
import { sumLanes } from '../math/vector';
import { Channel, ECG_HZ } from '../memory/channel';
import { EcgState, Lead, Level, TEMPLATE, TEMPLATES, Template } from '../memory/ecg_state';
import { Row, rowAt } from '../memory/row';
import { addBeat } from './beats';
import { isMatched } from './evidence';
import { broad, computeFeatures, leveled, sharpenedAt, TEMPLATE_HALF } from './features';
import { beginLevel, learnLevel, separation, weightOf } from './levels';
import {
  AMPLITUDES,
  ENERGY,
  LEVELED,
  MATCH,
  NOISES,
  PEAKS,
  PROJECTION,
  SHAPE,
  SHARES,
  SMALL,
  SPREADS,
  STRAYS,
  WIDTH,
} from './scratch';
import {
  BASELINE_SAMPLES,
  BETTER_LEAD,
  CLEAR_RATIO,
  DEAD_SAMPLES,
  DEAD_TENTHS,
  EARLIEST_P,
  ENOUGH_CLEAR,
  ENOUGH_WAVES,
  FIRST_MATCH_NOISE,
  FIRST_SNAP,
  HIDING_NOISE,
  LARGEST_BEAT,
  LATEST_T,
  LEAST_BREADTH,
  LEAST_T,
  LEVEL_FOLLOW,
  LIKE_TEMPLATE,
  MEASURE_FOLLOW,
  MIDWAY,
  PAUSE_SAMPLES,
  SHIFT_HALF,
  SHORTEST_SPREAD,
  SLOWEST_LEARNING,
  SMALL_ENERGY,
  SMALL_WIDTH,
  SNAP,
  SPIKE_QUALITY,
  SPREAD_FROM,
  STRANGE_EVIDENCE,
  STRANGE_SHARE,
  STRAY_QUALITY,
  STRAY_SHARE,
  USUAL_RISE,
  WEAKEST,
} from './tuning';

/**
 * Measures a decided beat: its time and amplitude, and the templates and levels of the leads, which it updates. Indices
 * count from `from`, the first grid sample whose features are computed.
 */

/** Appends the candidate with that number to the ring of beats, and learns from it. Uses no grid sample at or after `limit`. */
export function measureBeat(ecg: EcgState, channel: Channel, number: i32, limit: i32, late: bool): void {
  const candidate = ecg.candidateAt(number);
  const sample = candidate.sample;
  const last = ecg.lastBeat;
  const isNext = ecg.beatCount > 0 && sample - last < PAUSE_SAMPLES;
  const guard = min(DEAD_SAMPLES, (DEAD_TENTHS * (sample - last)) / 10);
  const near = sample - FIRST_SNAP - 1;
  const from = isNext ? min(last + guard + 1, near) : near;
  const between = isNext ? sample - guard - from : 0;
  for (let k = 0; k < channel.subs; k++) {
    const lead = ecg.leadAt(k);
    computeFeatures(channel, k, lead, from, sample + FIRST_SNAP + 2 - from, limit, isMatched(lead));
    measureLead(ecg, lead, k, sample - from, between, <f32>between / <f32>(sample - last), candidate.wide);
    lead.fit = followed(lead.fit, SHARES[k]);
    lead.shift = followed(lead.shift, shiftOf(sample - from));
    SPREADS[k] = candidate.wide ? Infinity : spreadOf(sample - from);
    STRAYS[k] = isNext ? strayBreadth(lead, last + LATEST_T - from, sample - EARLIEST_P - from) : 0;
  }
  const chosen = chooseLead(ecg, channel.subs);
  const peak = PEAKS[chosen];
  const time = (<f64>from + <f64>peak) / ECG_HZ;
  const isBroken = !isNext || candidate.empty > last;
  const interval: f32 = isBroken ? 0 : <f32>(time - ecg.lastTime);
  const likely: f32 = <f32>1 / (<f32>1 + Mathf.exp(-candidate.evidence));
  const quality = min<f32>(likely, plausible(ecg, channel.subs, candidate.wide, candidate.evidence));
  const baseline = levelAbout(channel, chosen, <f64>from + <f64>peak, limit);
  const obscured = candidate.flat > last || NOISES[chosen] > HIDING_NOISE;
  const kind = ecg.leadAt(chosen).kind;
  addBeat(ecg, time, interval, AMPLITUDES[chosen], baseline, quality, obscured, candidate.held > last, late, kind);
  ecg.lastBeat = sample;
  ecg.lastTime = time;
}

/**
 * Most quality of the beat by its neighbourhood and shape. What makes it doubtful does so in each lead that shows beats clearly; but a broad
 * beat that one of them does not show is doubted.
 */
function plausible(ecg: EcgState, leads: i32, wide: bool, evidence: f32): f32 {
  let isSpike = true;
  let isStray = true;
  let isStrange = evidence < STRANGE_EVIDENCE;
  for (let k = 0; k < leads; k++) {
    if (k !== ecg.lead && separation(ecg.leadAt(k).energy) < CLEAR_RATIO) continue;
    if (wide && SMALL[k]) return STRAY_QUALITY;
    if (SPREADS[k] >= SHORTEST_SPREAD && !SMALL[k]) isSpike = false;
    if (STRAYS[k] <= STRAY_SHARE) isStray = false;
    if (SHARES[k] === 0 || SHARES[k] > STRANGE_SHARE) isStrange = false;
  }
  return isSpike ? SPIKE_QUALITY : isStray || isStrange ? STRAY_QUALITY : 1;
}

/**
 * Mean of the lead over BASELINE_SAMPLES about an instant between grid samples: over whole grid samples alone, its ends would move against the
 * beat. Uses up the features.
 */
function levelAbout(channel: Channel, lead: i32, at: f64, limit: i32): f32 {
  const middle = <i32>Math.floor(at);
  copyGrid(channel, lead, middle - BASELINE_SAMPLES / 2, BASELINE_SAMPLES + 1, limit, LEVELED.at(0));
  let sum = f32x4.splat(0);
  for (let i = 0; i < BASELINE_SAMPLES; i += 4) sum = f32x4.add(sum, v128.load(LEVELED.at(i)));
  const moved = <f32>(at - <f64>middle) * (LEVELED[BASELINE_SAMPLES] - LEVELED[0]);
  return (sumLanes(sum) + moved) / <f32>BASELINE_SAMPLES;
}

/** Running mean over about 5 beats, with the measure of one more beat if that is positive. */
function followed(mean: f32, measure: f32): f32 {
  if (!(measure > 0)) return mean;
  return mean > 0 ? mean + MEASURE_FOLLOW * (measure - mean) : measure;
}

/** Change of the level from before the beat to after it, as a share of the lead's range there: 0 to 1. */
function shiftOf(at: i32): f32 {
  let low = leveled(at);
  let high = low;
  for (let i = at - SHIFT_HALF; i <= at + SHIFT_HALF; i++) {
    low = min(low, leveled(i));
    high = max(high, leveled(i));
  }
  let change: f32 = 0;
  for (let i = SHIFT_HALF - 2; i <= SHIFT_HALF; i++) change += leveled(at + i) - leveled(at - i);
  return high > low ? abs(change) / (3 * (high - low)) : 0;
}

/**
 * How far the energy of the beat at `at` spreads in time, grid samples (standard deviation): 1.3 to 1.65 for the pulse of a
 * pacemaker and for the step of an electrode that pops, 1.72 and more for a QRS complex. Of what is small beside its top,
 * most is noise.
 */
function spreadOf(at: i32): f32 {
  let top: f32 = 0;
  for (let k = -TEMPLATE_HALF; k <= TEMPLATE_HALF; k++) top = max(top, abs(sharp(at + k)));
  let sum: f32 = 0;
  let first: f32 = 0;
  let second: f32 = 0;
  for (let k = -TEMPLATE_HALF; k <= TEMPLATE_HALF; k++) {
    const v = sharp(at + k);
    if (abs(v) < SPREAD_FROM * top) continue;
    const energy = v * v;
    sum += energy;
    first += energy * <f32>k;
    second += energy * <f32>(k * k);
  }
  return sum > 0 ? sqrt<f32>(second / sum - (first / sum) * (first / sum)) : Infinity;
}

/**
 * Largest breadth from feature `from` to before `to`, as a share of that of beats. A missed ectopic beat is there, of which
 * the other features have little.
 */
function strayBreadth(lead: Lead, from: i32, to: i32): f32 {
  let top: f32 = 0;
  for (let i = max(0, from); i < to; i++) if (WIDTH[i] > top) top = WIDTH[i];
  return lead.width.beat > 0 ? top / lead.width.beat : 0;
}

/** The lead that detects beats best. It is changed only for a much better one, because amplitudes of two leads cannot be compared. */
function chooseLead(ecg: EcgState, leads: i32): i32 {
  let best = 0;
  for (let k = 1; k < leads; k++) if (leadWeight(ecg, k) > leadWeight(ecg, best)) best = k;
  if (leadWeight(ecg, best) <= BETTER_LEAD * leadWeight(ecg, ecg.lead)) return ecg.lead;
  ecg.lead = best;
  return best;
}

function leadWeight(ecg: EcgState, k: i32): f32 {
  const lead = ecg.leadAt(k);
  return weightOf(lead.energy) + (isMatched(lead) ? weightOf(lead.match) : 0);
}

/** Learns from a beat of one lead; the first `between` features are between it and the previous beat. */
function measureLead(ecg: EcgState, lead: Lead, k: i32, at: i32, between: i32, share: f32, wide: bool): void {
  const matched = isMatched(lead);
  const energy = ENERGY[greatestNear(ENERGY, at, SNAP)];
  put(k, <f32>at + lead.offset, 0);
  SHARES[k] = 0;
  SMALL[k] = false;
  const noise = greatest(ENERGY, between);
  NOISES[k] = lead.energy.beat > 0 ? max<f32>(0, noise / lead.energy.beat) : 0;
  if (between > 0) lead.calm = followed(lead.calm, least(ENERGY, between));
  if (isNaN(energy)) return; // a part of the beat is missing in this lead
  // Ectopic beats are rare, and count as noise if they are missed, so this level must not rise fast.
  // Its wavelet reaches farther than the others, so it may lack data at a gap where they do not.
  const width = WIDTH[greatestNear(WIDTH, at, SNAP)];
  if (!isNaN(width)) {
    SMALL[k] = isSmall(lead, energy, width, between, NOISES[k]);
    learnLevel(lead.width, width, greatest(WIDTH, between), LEVEL_FOLLOW);
  }
  if (!wide) {
    learnLevel(lead.energy, energy, noise);
    if (matched) lead.rest = followed(lead.rest, restBetween(at, between, share));
    const small: f32 = matched && hasMidway(at, between, share) ? 1 : 0;
    lead.midway += MEASURE_FOLLOW * (small - lead.midway);
    if (matched) learnMatch(lead.match, MATCH[greatestNear(MATCH, at, SNAP)], greatest(MATCH, between));
  }
  const fit = learnShape(lead, k, at, ecg.beatCount);
  if (!wide && matched) SHARES[k] = fit;
}

/**
 * Whether a beat is so much smaller than those before that it may be a P wave which no QRS complex follows. What is usual is learnt where
 * no noise could hide a beat, and falls only while T waves follow the beats: an electrode that has moved makes both smaller. The T wave of the
 * beat before is among the first `between` features, of which there are none after a pause. What is a thousandth of it comes after an
 * artefact, which tells nothing of beats.
 */
function isSmall(lead: Lead, energy: f32, width: f32, between: i32, noise: f32): bool {
  const sign = signOfT(lead.width.beat, between / 2);
  lead.waves = between > 0 ? lead.waves + LEVEL_FOLLOW * (sign - lead.waves) : 0;
  const falls = abs<f32>(lead.waves) > ENOUGH_WAVES;
  lead.clear = between > 0 && noise <= HIDING_NOISE ? lead.clear + 1 : 0;
  if (width < LEAST_BREADTH * lead.usualWidth) {
    lead.usualEnergy = 0;
    lead.usualWidth = 0;
  }
  if (lead.clear >= ENOUGH_CLEAR) {
    lead.usualEnergy = usualAfter(lead.usualEnergy, energy, falls);
    lead.usualWidth = usualAfter(lead.usualWidth, width, falls);
  }
  return energy < SMALL_ENERGY * lead.usualEnergy && width < SMALL_WIDTH * lead.usualWidth;
}

function usualAfter(usual: f32, now: f32, falls: bool): f32 {
  if (usual <= 0) return now;
  const step = min(now, LARGEST_BEAT * usual) - usual;
  return usual + (step > 0 ? USUAL_RISE : falls ? LEVEL_FOLLOW : 0) * step;
}

/**
 * Sign of the largest broad wave among the first `count` features, which T waves share and noise does not; 0 where it is too small, or
 * larger than a beat.
 */
function signOfT(width: f32, count: i32): f32 {
  let top = 0;
  for (let i = 1; i < count; i++) if (abs(broad(i)) > abs(broad(top))) top = i;
  const size = abs(broad(top));
  if (!(size > LEAST_T * width && size < width)) return 0;
  return broad(top) > 0 ? 1 : -1;
}

/**
 * Learns the shape of the beat near `at`: into the template that it is like, otherwise as a new kind of beats in place of the one that was
 * not seen for longest. The R peak is where the projection on that template is largest, or else at the maximum of the sharpened signal.
 * @returns its morphology score: the share of its norm along the best template, 0 to 1
 */
function learnShape(lead: Lead, k: i32, at: i32, number: i32): f32 {
  let kind = lead.templateAt(0);
  let oldest = kind;
  let like = 0;
  let free = 0;
  let peak = at;
  let top: f32 = 0;
  for (let t = 0; t < TEMPLATES; t++) {
    const template = lead.templateAt(t);
    if (!template.learnt || (oldest.learnt && template.newest < oldest.newest)) {
      oldest = template;
      free = t;
    }
    if (!template.learnt) continue;
    for (let i = at - SNAP; i <= at + SNAP; i++) {
      const match = matchAt(template, i);
      if (!(match > top)) continue;
      top = match;
      peak = i;
      kind = template;
      like = t;
    }
  }
  const share: f32 = top > 0 ? sqrt<f32>(top / projectionAt(kind, peak)) : 0;
  if (share > LIKE_TEMPLATE) {
    const middle = projectionAt(kind, peak);
    const before = projectionAt(kind, peak - 1);
    const after = projectionAt(kind, peak + 1);
    fitQuartic(projectionAt(kind, peak - 2), before, middle, after, projectionAt(kind, peak + 2));
    const place = extremumNear(vertex<f32>(before, middle, after));
    const height = quarticAt(place);
    lead.offset = kind.offset;
    lead.kind = like;
    put(k, <f32>peak + place + kind.offset, height);
    learnTemplate(kind, peak, place, number);
    return share;
  }
  peak = at;
  for (let i = at - FIRST_SNAP; i <= at + FIRST_SNAP; i++) if (abs(sharp(i)) > abs(sharp(peak))) peak = i;
  lead.kind = free;
  oldest.learnt = 0;
  learnTemplate(oldest, peak, 0, number);
  put(k, <f32>peak, abs(sharp(peak)));
  return share;
}

/** Projection of the beat at feature `at` on a template. */
function projectionAt(template: Template, at: i32): f32 {
  const shape = rowAt<f32>(sharpenedAt(at - TEMPLATE_HALF));
  let sum: f32 = 0;
  for (let i = 0; i < TEMPLATE; i++) sum += shape[i] * template.shape[i];
  return sum;
}

/** The same times the square of its share of the beat's norm, as MATCH has it. */
function matchAt(template: Template, at: i32): f32 {
  const projection = projectionAt(template, at);
  const norm = normOf(rowAt<f32>(sharpenedAt(at - TEMPLATE_HALF)));
  const share = projection > 0 ? projection / norm : 0;
  return projection * share * share;
}

function learnMatch(level: Level, match: f32, noise: f32): void {
  if (!(match >= 0)) return;
  if (level.beat > 0) learnLevel(level, match, noise);
  else beginLevel(level, match, FIRST_MATCH_NOISE * match);
}

/**
 * Adds the beat at `at + top`, between grid samples, to the template, with norm 1, and finds the R peak in it. On whole grid samples the template, and with
 * it the times of the beats, would follow their places on the grid.
 */
function learnTemplate(template: Template, at: i32, top: f32, number: i32): void {
  template.newest = number;
  for (let i = 0; i < TEMPLATE; i++) SHAPE[i] = sharpBetween(at + i - TEMPLATE_HALF, top);
  const norm = normOf(SHAPE);
  if (!(norm > 0)) return;
  const rate = max(SLOWEST_LEARNING, <f32>1 / <f32>(template.learnt + 1));
  const mean = template.shape;
  for (let i = 0; i < TEMPLATE; i++) {
    const t = template.learnt ? mean[i] : 0;
    mean[i] = t + rate * (SHAPE[i] / norm - t);
  }
  const scale: f32 = <f32>1 / normOf(mean);
  for (let i = 0; i < TEMPLATE; i++) mean[i] *= scale;
  template.learnt++;
  template.offset = peakOf(mean);
}

/** The sharpened signal `top` after its i-th value. */
function sharpBetween(i: i32, top: f32): f32 {
  if (top === 0) return sharp(i);
  fitQuartic(sharp(i - 2), sharp(i - 1), sharp(i), sharp(i + 1), sharp(i + 2));
  return quarticAt(top);
}

function normOf(shape: Row<f32>): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < TEMPLATE; i++) sum += shape[i] * shape[i];
  return sqrt<f32>(sum);
}

/** Where the template is largest, grid samples from its centre. */
function peakOf(template: Row<f32>): f32 {
  let peak = 0;
  let top: f32 = -1;
  for (let i = -SNAP; i <= SNAP; i++) {
    const v = abs(template[i + TEMPLATE_HALF]);
    if (v <= top) continue;
    top = v;
    peak = i;
  }
  const at = peak + TEMPLATE_HALF;
  const sign: f32 = template[at] < 0 ? -1 : 1;
  fitQuartic(template[at - 2], template[at - 1], template[at], template[at + 1], template[at + 2]);
  return <f32>peak + extremumNear(vertex<f32>(sign * template[at - 1], sign * template[at], sign * template[at + 1]));
}

function put(k: i32, peak: f32, amplitude: f32): void {
  PEAKS[k] = peak;
  AMPLITUDES[k] = amplitude;
}

function sharp(i: i32): f32 {
  return load<f32>(sharpenedAt(i));
}

/** Largest of the first `count` values; -1 for none. */
function greatest(feature: Row<f32>, count: i32): f32 {
  let top: f32 = -1;
  for (let i = 0; i < count; i++) if (feature[i] > top) top = feature[i];
  return top;
}

/**
 * Mean magnitude of the projection on the template in the first `between` features, against that of the beat at `at`, in parts of that
 * of a beat note: below 0.35 in nearly all ECGs, with noise or hum on top, too, and 0.45 to 2.5 in hum alone, whose template is hum.
 */
function restBetween(at: i32, between: i32, share: f32): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < between; i++) sum += abs(PROJECTION[i]);
  const beat = PROJECTION[greatestNear(MATCH, at, SNAP)];
  return between > 0 ? sum / (<f32>between * beat * restOfSine(share)) : 0;
}

/**
 * Whether midway between the beat at `at` and the one before there is something of the shape of a beat, and smaller: every other beat of a
 * heart whose QRS complexes alternate in height.
 */
function hasMidway(at: i32, between: i32, share: f32): bool {
  const length = <f32>between / share;
  const middle = <f32>at - length / 2;
  const reach = MIDWAY * length;
  const least = WEAKEST * PROJECTION[greatestNear(MATCH, at, SNAP)];
  const to = min(between - 1, <i32>(middle + reach));
  for (let i = max(0, <i32>(middle - reach)); i <= to; i++) {
    const projection = PROJECTION[i];
    if (projection > least && MATCH[i] > LIKE_TEMPLATE * LIKE_TEMPLATE * projection) return true;
  }
  return false;
}

/** Mean of a sine's magnitude in the middle `share` of a half wave, against its top: 2 / π of all of it. */
function restOfSine(share: f32): f32 {
  const half = (<f32>Math.PI / 2) * share;
  return (1 - Mathf.cos(half)) / half;
}

/** Smallest of the first `count` values; infinite if none is known. */
function least(feature: Row<f32>, count: i32): f32 {
  let bottom: f32 = Infinity;
  for (let i = 0; i < count; i++) if (feature[i] < bottom) bottom = feature[i];
  return bottom;
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
