import { BEATS_STATE_BYTES, BeatsState } from './beats_state';
import { BREATH_STATE_BYTES, BreathState } from './breath_state';
import {
  CHANNEL_BYTES,
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
import { ECG_STATE_BYTES, EcgState, LEAD_BYTES } from './ecg_state';
import { SLOTS } from './map';
import { PULSE_STATE_BYTES, PulseState } from './pulse_state';
import { Row, rowAt } from './row';
import { SPO2_STATE_BYTES, Spo2State } from './spo2_state';

export const MAX_CHANNELS: i32 = 8;
/** Number of optical channels that the heart rate uses, one for each lane of a vector. */
export const MAX_OPTICAL: i32 = 4;

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
  /** Acceleration, g. */
  movement: f64;
  /** 1 at rest to 0 in motion. */
  stillness: f64;
}

/** A session's slot: its channels, the state of each estimator, and the rings. */
@unmanaged
export class Session {
  channelCount: i32;
  /** Allocated bytes of the pool. */
  poolUsed: i32;
  opticalCount: i32;
  /** End of the newest step, s. */
  end: f64;

  get activity(): Activity {
    return changetype<Activity>(changetype<usize>(this) + SLOT_ACTIVITY);
  }

  /** By modality: pointer to the first channel with a ring; 0 for none. */
  get firstOfKind(): Row<usize> {
    return rowAt<usize>(changetype<usize>(this) + FIRST_OF_KIND);
  }

  get opticals(): Row<Optical> {
    return rowAt<Optical>(changetype<usize>(this) + OPTICALS);
  }

  get pulse(): PulseState {
    return changetype<PulseState>(changetype<usize>(this) + SLOT_PULSE);
  }

  get ecg(): EcgState {
    return changetype<EcgState>(changetype<usize>(this) + SLOT_ECG);
  }

  get breath(): BreathState {
    return changetype<BreathState>(changetype<usize>(this) + SLOT_BREATH);
  }

  get beats(): BeatsState {
    return changetype<BeatsState>(changetype<usize>(this) + SLOT_BEATS);
  }

  get spo2(): Spo2State {
    return changetype<Spo2State>(changetype<usize>(this) + SLOT_SPO2);
  }

  /** The channel with that number, which must exist. */
  channelAt(index: i32): Channel {
    return changetype<Channel>(changetype<usize>(this) + SLOT_CHANNELS + <usize>index * CHANNEL_BYTES);
  }
}

const FIRST_OF_KIND: usize = offsetof<Session>();
const OPTICALS: usize = FIRST_OF_KIND + KINDS * sizeof<usize>();
export const SLOT_ACTIVITY: usize = (OPTICALS + MAX_OPTICAL * ((offsetof<Optical>() + 7) & ~7) + 7) & ~7;
export const ACTIVITY_BYTES: usize = offsetof<Activity>();
const HEAD_BYTES: usize = SLOT_ACTIVITY + ACTIVITY_BYTES;

// The parts of a slot, each in whole cache lines after the previous one.
export const SLOT_CHANNELS: usize = (HEAD_BYTES + 63) & ~63;
export const SLOT_PULSE: usize = (SLOT_CHANNELS + <usize>MAX_CHANNELS * CHANNEL_BYTES + 63) & ~63;
export const SLOT_BREATH: usize = (SLOT_PULSE + PULSE_STATE_BYTES + 63) & ~63;
export const SLOT_BEATS: usize = (SLOT_BREATH + BREATH_STATE_BYTES + 63) & ~63;
export const SLOT_SPO2: usize = (SLOT_BEATS + BEATS_STATE_BYTES + 63) & ~63;
export const SLOT_ECG: usize = (SLOT_SPO2 + SPO2_STATE_BYTES + 63) & ~63;
/** Detectors of the ECG's leads, and rings of the sub-channels, allocated when the session opens. */
export const SLOT_POOL: usize = SLOT_ECG + ECG_STATE_BYTES;
export const POOL_BYTES: i32 = 59264;
/** An odd number of cache lines, so that the same field of many sessions is not in the same cache sets. */
export const SLOT_BYTES: usize = (SLOT_POOL + POOL_BYTES) | 64;

/** The session in the slot with that index. */
export function sessionAt(index: i32): Session {
  return changetype<Session>(SLOTS + <usize>index * SLOT_BYTES);
}

/** The channel with that number; null if the core does not keep it. */
export function channelOf(session: Session, channel: i32): Channel | null {
  return <u32>channel < <u32>session.channelCount ? session.channelAt(channel) : null;
}

/** The session's first channel of a modality that has a ring; null for none. */
export function channelOfKind(session: Session, kind: i32): Channel | null {
  return changetype<Channel | null>(session.firstOfKind[kind]);
}

/** Makes the slot an empty session. */
export function clearSession(session: Session): void {
  memory.fill(changetype<usize>(session), 0, SLOT_BYTES);
  session.breath.begin();
  session.beats.begin();
}

/** Appends a channel of samples with so many `bits` (0: unknown); channels after the eighth are not kept. */
export function addChannel(session: Session, kind: i32, subs: i32, bits: i32): void {
  if (session.channelCount >= MAX_CHANNELS) return;
  const channel = session.channelAt(session.channelCount++);
  channel.kind = kind;
  channel.rate = kind === KIND_ECG ? ECG_HZ : SLOW_HZ;
  channel.payloadSubs = subs;
  channel.bits = bits;
  for (let s = 0; s < MAX_SUBS; s++) channel.offsets[s] = NaN;
}

/** Allocates detectors and rings, first sub-channels before second ones, until the pool is used up, and lists the optical ones. */
export function allocateRings(session: Session): void {
  session.poolUsed = leadsOf(session) * <i32>LEAD_BYTES;
  for (let sub = 0; sub < MAX_SUBS; sub++) {
    for (let c = 0; c < session.channelCount; c++) {
      const channel = session.channelAt(c);
      if (sub < channel.payloadSubs && allocateRing(session, channel, sub)) listOptical(session, channel, sub);
    }
  }
}

/** Leads of the first ECG, the one that is analysed. */
function leadsOf(session: Session): i32 {
  for (let c = 0; c < session.channelCount; c++) {
    const channel = session.channelAt(c);
    if (channel.kind === KIND_ECG) return min(MAX_SUBS, channel.payloadSubs);
  }
  return 0;
}

function ringLength(kind: i32, sub: i32): i32 {
  if (kind === KIND_ECG) return ECG_RING;
  return kind === KIND_ACCEL || sub > 0 ? SHORT_RING : LONG_RING;
}

function allocateRing(session: Session, channel: Channel, sub: i32): bool {
  const length = ringLength(channel.kind, sub);
  const used = session.poolUsed;
  // Sub-channels use neighbouring lanes, so the first one without a ring ends the list.
  if (used + (length << 2) > POOL_BYTES || channel.subs !== sub) return false;
  session.poolUsed = used + (length << 2);
  channel.rings[sub].samples = rowAt<f32>(changetype<usize>(session) + SLOT_POOL + <usize>used);
  channel.rings[sub].length = length;
  channel.subs = sub + 1;
  if (!session.firstOfKind[channel.kind]) session.firstOfKind[channel.kind] = changetype<usize>(channel);
  return true;
}

function listOptical(session: Session, channel: Channel, sub: i32): void {
  if (channel.kind > KIND_PPG_IR || session.opticalCount >= MAX_OPTICAL) return;
  const optical = session.opticals[session.opticalCount++];
  optical.channel = channel;
  optical.sub = sub;
}
