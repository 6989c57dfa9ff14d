import { activityOf } from '../grid/activity';
import { BreathState } from '../memory/breath_state';
import { Channel, KIND_PPG, KIND_PPG_GREEN, KIND_PPG_IR, KIND_PPG_RED, SLOW_HZ } from '../memory/channel';
import { Estimate } from '../memory/map';
import { PulseTrain } from '../memory/pulse_train';
import { channelOfKind, Session } from '../memory/session';
import { addBeat, judgeBeats, outOfStep } from './beats';
import { modulations } from './modulation';
import { advancePulses } from './ppg_pulses';
import { BEATS, Beats, MAX_BEATS, RAW, RR_WINDOW, SERIES } from './scratch';
import { FROM_PPG } from './source';
import { followBreath } from './tracker';
import { LIGHT } from './tuning';

/**
 * Estimate of the window that ends at `end` (seconds), by pulse intervals, heights and baselines of one optical
 * channel: writes rate and confidence; false for none. Green shows the pulse best (Maeda et al., J. Med. Syst. 35:829,
 * 2011). If a channel shows no pulse, the next one is used until it shows none either; but not before the first reading, at half a window, when
 * each channel has had time to show enough pulses.
 */
export function estimateRrPpg(session: Session, end: f64, to: Estimate): bool {
  const state = session.breath;
  const rest = restOf(session, state, end);
  const train = state.train;
  const first = train.channel;
  let enough = gather(train, first ? first : channelAfter(session, null), end, BEATS);
  if (!enough && end >= RR_WINDOW / 2) enough = gather(train, channelAfter(session, train.channel), end, BEATS);
  const used = train.channel;
  if (!enough || !used) return false;
  modulations(BEATS, SERIES);
  SERIES.resolution = resolutionOf(used, BEATS.meanHeight);
  SERIES.share *= clarity(train, used.period, BEATS);
  SERIES.trust *= rest;
  const found = followBreath(state, FROM_PPG, end, SERIES, to);
  to.confidence *= rest; // What moves the light then is the movement
  return found;
}

/**
 * How far the pulses tell of the breath rather than of their phases between the samples, one every `period` seconds, from 0 to 1: if they are
 * smooth enough to be measured between these, or out of step with them.
 */
function clarity(train: PulseTrain, period: f64, beats: Beats): f32 {
  // Lines join the samples, and cut the tops off by the square of their period, where they are not much closer than the grid.
  const close = <f32>Math.min(1, 1 / (2 * SLOW_HZ * period));
  const sharp = LIGHT.SHARP * close * close;
  const smooth = max<f32>(0, min<f32>(1, <f32>2 - train.sharpness / sharp));
  return smooth < 1 ? max(smooth, outOfStep(beats, LIGHT.IN_STEP * <f32>max(period, 1.0 / SLOW_HZ))) : 1;
}

/** Standard deviation of the series beside breath, noise and drift: the errors of the grid and of the converter. */
function resolutionOf(channel: Channel, meanHeight: f32): v128 {
  const averaged = Math.sqrt(channel.period / LIGHT.SMOOTH_SECONDS);
  const rounded = (LIGHT.ROUNDED * channel.resolution * <f32>averaged) / meanHeight;
  return f32x4.splat(LIGHT.RESOLUTION + rounded);
}

/**
 * How much of the window shows the wearer at rest, from 0 to 1. Arms that swing move the light in rhythm, too: as fast as a breath, or a
 * little faster or slower than the heart. What they did is in the window until it has passed.
 */
function restOf(session: Session, state: BreathState, end: f64): f32 {
  const now = activityOf(session, end, RAW.at(0)).stillness;
  state.moved = max<f32>(<f32>1 - <f32>now, state.moved - LIGHT.PASSED);
  return <f32>1 - state.moved;
}

/** Modalities of light, the best first. */
const BEST_FIRST: StaticArray<i32> = [KIND_PPG_GREEN, KIND_PPG, KIND_PPG_IR, KIND_PPG_RED];

/** The next optical channel after `before` that has data, the best first and then from the start again; null for no other one. */
export function channelAfter(session: Session, before: Channel | null): Channel | null {
  let first: Channel | null = null;
  let passed = !before;
  for (let rank = 0; rank < 4; rank++) {
    const other = channelOfKind(session, unchecked(BEST_FIRST[rank]));
    if (!other || !other.started) continue;
    if (passed && other !== before) return other;
    if (!first) first = other;
    passed = passed || other === before;
  }
  return first === before ? null : first;
}

/** Collects and judges the channel's pulses of the window; false for too few pulses. */
function gather(train: PulseTrain, channel: Channel | null, end: f64, beats: Beats): bool {
  beats.count = 0;
  if (!channel) return false;
  advancePulses(train, channel, end);
  const found = train.count;
  const oldest = train.oldest;
  let first = found;
  while (first > oldest && end - train.pulseAt(first - 1).time < RR_WINDOW) first--;
  for (let i = max(first, found - MAX_BEATS); i < found; i++) {
    const pulse = train.pulseAt(i);
    const interval = i > oldest ? <f32>(pulse.time - train.pulseAt(i - 1).time) : <f32>NaN;
    addBeat(beats, <f32>(pulse.time - end), interval, pulse.height, pulse.baseline, 0);
  }
  return judgeBeats(beats);
}
