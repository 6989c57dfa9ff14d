import { hums as outweighs } from './ecg/evidence';
import { HR_ECG, HR_PPG, HRV_ECG, RHYTHM_ECG, RR_ECG, RR_RESP, SPO2 } from './estimators';
import { activityOf } from './grid/activity';
import { isSinusoid, levelFault } from './grid/reason';
import { faultOf, isScrambled, levelOf, rangeOf, Seen } from './grid/span';
import { CONTACT_FALL, FREE_AIR, TRUSTED } from './grid/tuning';
import { UNTRUSTED } from './math/logistic';
import { Channel, ECG_HZ, KIND_ECG, KIND_PPG_IR, KIND_PPG_RED, KIND_RESP, SLOW_HZ } from './memory/channel';
import { Estimate, SCRATCH } from './memory/map';
import { BAD_SCALE, HUM, MOTION, NO_REASON, NOISE } from './memory/reason';
import { channelOfKind, Session } from './memory/session';
import { wasTrusted } from './pulse/history';

/**
 * Why there is no trusted estimate, as far as the sample values tell. Of several signals that an estimator can choose from, that of the one
 * which came farthest counts: the last reason in the order of precedence (memory/reason.ts). Of those that it needs, the first counts.
 */

/** Length of the window in which a sinusoid is looked for, s. */
const SINE_SECONDS: i32 = 8;

/**
 * The reason of an estimator's window that ends at `end` (seconds), whose estimate is there, and notes its number; none if it is trusted. An
 * estimate from values whose width or byte order is wrong is not.
 */
export function explain(session: Session, estimator: i32, end: f64, to: Estimate): i32 {
  if (areScrambled(session, estimator)) to.confidence = min<f64>(to.confidence, UNTRUSTED);
  const trusted = !isNaN(to.value) && to.confidence >= TRUSTED;
  Seen.number = 0;
  if (trusted) noteContact(session, estimator);
  const reason = trusted ? NO_REASON : reasonOf(session, estimator, end);
  to.seen = Seen.number;
  return reason;
}

function isOfEcg(estimator: i32): bool {
  return estimator === HR_ECG || estimator === RR_ECG || estimator === HRV_ECG || estimator === RHYTHM_ECG;
}

/** Whether none of the signals that an estimator can choose from has its values in order, or one of those that it needs has not. */
function areScrambled(session: Session, estimator: i32): bool {
  if (isOfEcg(estimator)) {
    const ecg = channelOfKind(session, KIND_ECG);
    return ecg !== null && isScrambled(ecg, session.ecg.chosen);
  }
  if (estimator === RR_RESP) {
    const effort = channelOfKind(session, KIND_RESP);
    return effort !== null && isScrambled(effort, 0);
  }
  let scrambled = 0;
  for (let i = 0; i < session.opticalCount; i++) {
    const optical = session.opticals[i];
    const own = isScrambled(optical.channel, optical.sub);
    if (own && estimator === SPO2 && (optical.channel.kind === KIND_PPG_RED || optical.channel.kind === KIND_PPG_IR))
      return true;
    scrambled += <i32>own;
  }
  return scrambled > 0 && scrambled === session.opticalCount;
}

/** Remembers what the signals are like in contact with the skin. */
function noteContact(session: Session, estimator: i32): void {
  if (estimator === HR_PPG || estimator === SPO2) {
    const contact = estimator === SPO2 ? session.spo2.contact : session.pulse.contact;
    for (let i = 0; i < session.opticalCount; i++) {
      const optical = session.opticals[i];
      contact[i] = <f32>levelOf(optical.channel, optical.sub);
    }
  }
  const ecg = channelOfKind(session, KIND_ECG);
  if (estimator === HR_ECG && ecg) session.ecg.contact = <f32>rangeOf(ecg, session.ecg.chosen);
}

function reasonOf(session: Session, estimator: i32, end: f64): i32 {
  if (isOfEcg(estimator)) return ecgReason(session, end);
  if (estimator === RR_RESP) return effortReason(session);
  const still = activityOf(session, end, SCRATCH).stillness >= TRUSTED;
  const fault = estimator === SPO2 ? ratioFault(session, end, still) : lightFault(session, end, still);
  if (fault !== NO_REASON) return fault;
  if (!still) {
    Seen.number = activityOf(session, end, SCRATCH).movement;
    return MOTION;
  }
  Seen.number = 0;
  return estimator === SPO2 && session.spo2.agree ? NO_REASON : NOISE;
}

/** The mildest fault of the leads. */
function ecgReason(session: Session, end: f64): i32 {
  const channel = channelOfKind(session, KIND_ECG);
  if (!channel) return NOISE;
  let mildest = 0;
  let seen: f64 = 0;
  for (let lead = 0; lead < channel.subs; lead++) {
    const fault = faultOf(channel, lead, <f64>session.ecg.contact, false);
    const number = Seen.number;
    // A sinusoid at nearly half the rate of sampling steps as values that wrap
    const mayHum = fault === NO_REASON || fault === BAD_SCALE;
    const own = mayHum && hums(session, channel, lead, end) ? HUM : fault !== NO_REASON ? fault : NOISE;
    if (own <= mildest) continue;
    mildest = own;
    seen = own === NOISE ? 0 : own === HUM ? Seen.number : number;
  }
  Seen.number = seen;
  return mildest;
}

function hums(session: Session, channel: Channel, lead: i32, end: f64): bool {
  const sine = isSinusoid(channel, lead, end, SINE_SECONDS * ECG_HZ, SCRATCH);
  return sine || outweighs(session.ecg.leads[lead]);
}

function effortReason(session: Session): i32 {
  const channel = channelOfKind(session, KIND_RESP);
  const fault = channel ? faultOf(channel, 0, 0, false) : NO_REASON;
  return fault === NO_REASON ? NOISE : fault;
}

/** The mildest fault of the lights, of which one is enough. */
function lightFault(session: Session, end: f64, still: bool): i32 {
  const alive = wasTrusted(session.pulse, <i32>end);
  let mildest = NO_REASON;
  let seen: f64 = 0;
  for (let i = 0; i < session.opticalCount; i++) {
    const own = faultOfLight(session, i, end, still, session.pulse.contact[i], alive);
    if (own === NO_REASON) return NO_REASON;
    if (own <= mildest) continue;
    mildest = own;
    seen = Seen.number;
  }
  Seen.number = seen;
  return mildest;
}

/**
 * The first fault of red and infrared, which are both needed, or of their levels. A trusted heart rate may come from one light: only if the
 * two agree, the pulse is in both. Before the first trusted ratio, a lamp is off whose light is that of free air in a range that just holds the
 * other light.
 */
function ratioFault(session: Session, end: f64, still: bool): i32 {
  const red = channelOfKind(session, KIND_PPG_RED);
  const infrared = channelOfKind(session, KIND_PPG_IR);
  if (!red || !infrared) return NO_REASON;
  const alive = wasTrusted(session.pulse, <i32>end);
  const brighter = alive ? max(levelOf(red, 0), levelOf(infrared, 0)) : 0;
  let first = still ? levelFault(red, infrared) : NO_REASON;
  let seen = Seen.number;
  for (let i = 0; i < session.opticalCount; i++) {
    const optical = session.opticals[i];
    if (optical.sub !== 0 || (optical.channel !== red && optical.channel !== infrared)) continue;
    const known = <f64>session.spo2.contact[i];
    const contact = known > 0 ? known : (brighter * FREE_AIR) / CONTACT_FALL;
    const own = faultOfLight(session, i, end, still, contact, alive && session.spo2.agree);
    if (own === NO_REASON || (first !== NO_REASON && first <= own)) continue;
    first = own;
    seen = Seen.number;
  }
  Seen.number = seen;
  return first;
}

/** The fault of an optical sub-channel (`faultOf`). A wearer who moves swings the light as a sinusoid, too. */
function faultOfLight(session: Session, index: i32, end: f64, still: bool, contact: f64, alive: bool): i32 {
  const optical = session.opticals[index];
  const fault = faultOf(optical.channel, optical.sub, contact, alive);
  if (fault !== NO_REASON || !still) return fault;
  return isSinusoid(optical.channel, optical.sub, end, SINE_SECONDS * SLOW_HZ, SCRATCH) ? HUM : NO_REASON;
}
