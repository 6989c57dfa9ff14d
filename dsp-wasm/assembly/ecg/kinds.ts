import { vertex } from '../math/parabola';
import { extremumNear, fitQuartic, quarticAt } from '../math/quartic';
import { ECG_HZ } from '../memory/channel';
import { Beat, Lead, TEMPLATE, TEMPLATES, Template, WAVE, WAVE_ROW } from '../memory/ecg_state';
import { Row, rowAt } from '../memory/row';
import { matchTemplate, REACH, Stretch, TEMPLATE_HALF } from './features';
import { EVIDENCE, KINDS, LEVEL } from './tuning';

/** Kinds of beats, by their shape on one lead: the usual ones, ectopic and paced ones. */

/**
 * Learns the shape of the beat near feature `at`: into the template that it is like, otherwise as a new kind of beats in place of the one that
 * was not seen for longest. The beat is where the projection on that template is largest, or else at the maximum of the sharpened signal, and its R peak
 * where `peakNear` finds it in the mean of its kind. Writes the beat's kind, amplitude and time, and over the matches about it.
 * @param shape a row of WAVE_ROW values for each of shape and wave, to work in
 * @returns its morphology score: the share of its norm along the best template, 0 to 1
 */
export function learnShape(lead: Lead, at: i32, number: i32, features: Stretch, shape: Row<f32>, to: Beat): f32 {
  let like = 0;
  let oldest = 0;
  let peak = at;
  let top: f32 = 0;
  for (let k = 0; k < TEMPLATES; k++) {
    const template = lead.templates[k];
    const other = lead.templates[oldest];
    if (!template.learnt || (other.learnt && template.newest < other.newest)) oldest = k;
    if (!template.learnt) continue;
    matchTemplate(features, at - EVIDENCE.GUARD, 2 * EVIDENCE.GUARD + 1, template.shape.at(0), k, true);
    for (let i = at - EVIDENCE.GUARD; i <= at + EVIDENCE.GUARD; i++) {
      if (!(features.match[i] > top)) continue;
      top = features.match[i];
      peak = i;
      like = k;
    }
  }
  const kind = lead.templates[like];
  matchTemplate(features, peak - 2, 5, kind.shape.at(0), like, true);
  const y = rowAt<f32>(features.projection.at(peak - 2));
  const share: f32 = top > 0 ? sqrt<f32>(top / y[2]) : 0;
  if (share > KINDS.LIKE) {
    fitQuartic(y[0], y[1], y[2], y[3], y[4]);
    const place = extremumNear(vertex<f32>(y[1], y[2], y[3]));
    to.kind = <u8>like;
    to.amplitude = quarticAt(place);
    lead.offset = learnTemplate(kind, peak, place, number, features, shape);
    to.time = timeAt(features, <f32>peak + place + lead.offset);
    return share;
  }
  peak = at;
  for (let i = at - EVIDENCE.GUARD; i <= at + EVIDENCE.GUARD; i++)
    if (abs(features.sharp(i)) > abs(features.sharp(peak))) peak = i;
  to.kind = <u8>oldest;
  to.amplitude = abs(features.sharp(peak));
  const fresh = lead.templates[oldest];
  fresh.learnt = 0;
  lead.offset = learnTemplate(fresh, peak, 0, number, features, shape);
  to.time = timeAt(features, <f32>peak + lead.offset);
  return share;
}

/** Time of a place among the features, seconds. */
export function timeAt(features: Stretch, at: f32): f64 {
  return (<f64>features.from + <f64>at) / ECG_HZ;
}

/**
 * Adds the beat at `at + top`, between grid samples, to the template, with norm 1, and to the wave. On whole grid samples these, and with them the
 * times of the beats, would follow their places on the grid.
 * @returns where in it the R peak is, grid samples from there
 */
function learnTemplate(template: Template, at: i32, top: f32, number: i32, features: Stretch, shape: Row<f32>): f32 {
  template.newest = number;
  const wave = rowAt<f32>(shape.at(WAVE_ROW));
  shift(features.shapeAt(at), TEMPLATE, top, shape);
  shift(rowAt<f32>(features.raw.at(at + REACH - WAVE / 2)), WAVE, top, wave);
  const norm = normOf(shape);
  if (!(norm > 0)) return 0;
  const rate = template.learnt ? max(LEVEL.FOLLOW, <f32>1 / <f32>(template.learnt + 1)) : 1;
  follow(template.shape, shape, TEMPLATE, rate, norm);
  follow(template.wave, wave, WAVE, rate, norm);
  const scale: f32 = <f32>1 / normOf(template.shape);
  for (let i = 0; i < TEMPLATE; i++) template.shape[i] *= scale;
  template.learnt++;
  template.peak = peakNear(lobeOf(template), template);
  return template.peak;
}

/** Moves a mean of `count` values towards others, in parts of `norm`. */
function follow(mean: Row<f32>, values: Row<f32>, count: i32, rate: f32, norm: f32): void {
  for (let i = 0; i < count; i++) {
    const from: f32 = rate < 1 ? mean[i] : 0;
    mean[i] = from + rate * (values[i] / norm - from);
  }
}

/** Writes `count` values `top` after those from `from` on. */
function shift(from: Row<f32>, count: i32, top: f32, to: Row<f32>): void {
  if (top === 0) {
    memory.copy(to.at(0), from.at(0), <usize>count * sizeof<f32>()); // the values beside may be of another session
    return;
  }
  const a = shareOf(top, -2);
  const b = shareOf(top, -1);
  const c = shareOf(top, 0);
  const d = shareOf(top, 1);
  const e = shareOf(top, 2);
  for (let i = 0; i < count; i += 4) {
    const x = from.at(i - 2);
    const outer = f32x4.add(f32x4.mul(a, v128.load(x)), f32x4.mul(e, v128.load(x, 16)));
    const inner = f32x4.add(f32x4.mul(b, v128.load(x, 4)), f32x4.mul(d, v128.load(x, 12)));
    v128.store(to.at(i), f32x4.add(f32x4.add(outer, inner), f32x4.mul(c, v128.load(x, 8))));
  }
}

/** Share, in each lane, of the value `at` grid samples from the middle one in the value `top` after that. */
function shareOf(top: f32, at: i32): v128 {
  fitQuartic(<f32>(at === -2), <f32>(at === -1), <f32>(at === 0), <f32>(at === 1), <f32>(at === 2));
  return f32x4.splat(quarticAt(top));
}

function normOf(shape: Row<f32>): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < TEMPLATE; i++) sum += shape[i] * shape[i];
  return sqrt<f32>(sum);
}

/**
 * The lobe of a kind of beats whose top is their R peak, a place in the shape: where the product of the deflection, from the level before the QRS complex, and
 * of the curvature is greatest. By the deflection alone it might be a broad S wave, by the curvature alone the end of a broad R wave. It is that of
 * all beats of the kind: those of single beats take turns where two lobes are of the same size.
 */
function lobeOf(kind: Template): i32 {
  const level = (kind.wave[0] + kind.wave[1] + kind.wave[2] + kind.wave[3]) / 4;
  let at = TEMPLATE_HALF;
  let top: f32 = 0;
  for (let i = 0; i < TEMPLATE; i++) {
    const lift = (kind.wave[i + WAVE / 2 - TEMPLATE_HALF] - level) * kind.shape[i];
    if (!(lift > top)) continue;
    top = lift;
    at = i;
  }
  return at;
}

/** Top of the mean wave on the same lobe, grid samples from its centre: the beat's own is moved by noise. */
function peakNear(lobe: i32, kind: Template): f32 {
  const sign: f32 = kind.shape[lobe] < 0 ? -1 : 1;
  const wave = rowAt<f32>(kind.wave.at(WAVE / 2 - TEMPLATE_HALF));
  let i = lobe;
  while (i > 0 && sign * wave[i - 1] > sign * wave[i]) i--;
  while (i < TEMPLATE - 1 && sign * wave[i + 1] > sign * wave[i]) i++;
  const y = rowAt<f32>(wave.at(i - 2));
  fitQuartic(y[0], y[1], y[2], y[3], y[4]);
  return <f32>(i - TEMPLATE_HALF) + extremumNear(vertex<f32>(sign * y[1], sign * y[2], sign * y[3]));
}
