import { BeatsState } from './beats_state';
import { BreathState } from './breath_state';
import {
  Channel,
  ECG_HZ,
  ECG_RING,
  KIND_ACCEL,
  KIND_ECG,
  KIND_PPG_IR,
  KINDS,
  LONG_RING,
  MAX_SUBS,
  SHORT_RING,
  SLOW_HZ,
} from './channel';
import { EcgState, Lead } from './ecg_state';
import { nextFree, takeFrom } from './heap';
import { PulseState } from './pulse_state';
import { List, listOf, Row, rowOf } from './row';

const MAX_CHANNELS: i32 = 8;
/** Number of optical channels that the heart rate uses, one for each lane of a vector. */
export const MAX_OPTICAL: i32 = 4;
/** Room for rings, and what each lead's detector takes of it, bytes. */
const ROOM: i32 = 57 * 1024;
const LEAD_ROOM: i32 = 7 * 1024;
/** Bytes of a slot, an odd number of cache lines, so that the same field of many sessions is not in the same cache sets. */
export const SLOT_BYTES: usize = 74816;

/** A sub-channel that carries a photoplethysmogram. */
@unmanaged
export class Optical {
  channel: Channel;
  sub: i32;
}

/** How much the wearer moves (grid/activity.ts). */
@unmanaged
export class Activity {
  /** End of the 8 s, seconds, and the number of the accelerometer's grid samples that were known then, plus 1. */
  end: f64;
  known: i32;
  /** Acceleration over those 8 s, g; 0 without an accelerometer. */
  movement: f64;
  /** 1 at rest to 0 for a wearer who moves, much at any time or a little all the time. */
  stillness: f64;
}

/** State of the SpO2 from step to step. */
@unmanaged
export class Spo2State {
  /** Usual size of the infrared pulse, relative to its level, natural logarithm; 0 before there is one. */
  usualPerfusion: f64;
  /** Whether the two channels of the newest estimate agree, so that there is nothing but its ratio to doubt. */
  agree: bool;
  /** By optical channel: level of its light at the newest trusted SpO2; 0 before there is one. */
  contact: Row<f32> = rowOf<f32>(MAX_OPTICAL);
}

/** A session: its channels, and the state of each estimator. */
@unmanaged
export class Session {
  channelCount: i32;
  opticalCount: i32;
  /** End of the newest step, s. */
  end: f64;
  activity: Activity = new Activity();
  /** By modality: pointer to the first channel with a ring; 0 for none. */
  firstOfKind: Row<usize> = rowOf<usize>(KINDS);
  opticals: Row<Optical> = rowOf<Optical>(MAX_OPTICAL);
  channels: List<Channel> = listOf<Channel>(MAX_CHANNELS);
  pulse: PulseState = new PulseState();
  breath: BreathState = new BreathState();
  beats: BeatsState = new BeatsState();
  spo2: Spo2State = new Spo2State();
  ecg: EcgState = new EcgState();
}

/** The channel with that number; null if the core does not keep it. */
export function channelOf(session: Session, channel: i32): Channel | null {
  return <u32>channel < <u32>session.channelCount ? session.channels[channel] : null;
}

/** The session's first channel of a modality that has a ring; null for none. */
export function channelOfKind(session: Session, kind: i32): Channel | null {
  return changetype<Channel | null>(session.firstOfKind[kind]);
}

/** Makes the slot at that address an empty session, which is the first record in it. */
export function openSession(slot: usize): void {
  memory.fill(slot, 0, SLOT_BYTES);
  takeFrom(slot);
  new Session();
}

/** Appends a channel of samples with so many `bits` (0: unknown); channels after the eighth are not kept. */
export function addChannel(session: Session, kind: i32, subs: i32, bits: i32): void {
  if (session.channelCount >= MAX_CHANNELS) return;
  const channel = session.channels[session.channelCount++];
  channel.kind = kind;
  channel.rate = kind === KIND_ECG ? ECG_HZ : SLOW_HZ;
  channel.payloadSubs = subs;
  channel.bits = bits;
  for (let s = 0; s < MAX_SUBS; s++) channel.offsets[s] = NaN;
}

/**
 * Makes the detectors of the leads, and the rings of the sub-channels, first ones before second ones, until there is no room; lists the optical
 * ones. The slot must be the one that was opened last.
 */
export function makeRings(session: Session): void {
  const leads = leadsOf(session);
  session.ecg.leads = listOf<Lead>(leads);
  let room = ROOM - LEAD_ROOM * leads;
  for (let sub = 0; sub < MAX_SUBS; sub++) {
    for (let c = 0; c < session.channelCount; c++) {
      const channel = session.channels[c];
      const isShort = channel.kind === KIND_ACCEL || sub > 0;
      const length = channel.kind === KIND_ECG ? ECG_RING : isShort ? SHORT_RING : LONG_RING;
      // Sub-channels use neighbouring lanes, so the first one without a ring ends the list.
      if (sub >= channel.payloadSubs || channel.subs !== sub || 4 * length > room) continue;
      room -= 4 * length;
      makeRing(session, channel, length);
    }
  }
  if (nextFree(1) > changetype<usize>(session) + SLOT_BYTES) abort();
}

/** Leads of the first ECG, the one that is analysed. */
function leadsOf(session: Session): i32 {
  for (let c = 0; c < session.channelCount; c++) {
    const channel = session.channels[c];
    if (channel.kind === KIND_ECG) return min(MAX_SUBS, channel.payloadSubs);
  }
  return 0;
}

/** Gives the next sub-channel of a channel its ring. */
function makeRing(session: Session, channel: Channel, length: i32): void {
  const sub = channel.subs++;
  channel.rings[sub].samples = rowOf<f32>(length);
  channel.rings[sub].length = length;
  if (!session.firstOfKind[channel.kind]) session.firstOfKind[channel.kind] = changetype<usize>(channel);
  if (channel.kind > KIND_PPG_IR || session.opticalCount >= MAX_OPTICAL) return;
  const optical = session.opticals[session.opticalCount++];
  optical.channel = channel;
  optical.sub = sub;
}
