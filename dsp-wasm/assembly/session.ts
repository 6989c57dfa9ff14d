import {
  CH_CELLS,
  CH_KIND,
  CH_NOMINAL_HZ,
  CH_OFFSET,
  CH_PAYLOAD_SUBS,
  CH_RATE,
  CH_RING,
  CH_SUBS,
  CHANNEL_BYTES,
  ECG_CELLS,
  ECG_HZ,
  KIND_ACCEL,
  KIND_ECG,
  KIND_PPG_IR,
  LONG_CELLS,
  MAX_CHANNELS,
  MAX_LIGHTS,
  MAX_SUBS,
  POOL_BYTES,
  SHORT_CELLS,
  SLOT_BYTES,
  SLOT_CHANNEL_COUNT,
  SLOT_CHANNELS,
  SLOT_KINDS,
  SLOT_LIGHT_COUNT,
  SLOT_LIGHTS,
  SLOT_POOL,
  SLOT_POOL_USED,
  SLOTS,
  SLOW_HZ,
} from './layout';

/** Pointer to the slot of that index. */
// @ts-ignore: decorator
@inline
export function slotOf(index: i32): usize {
  return SLOTS + <usize>index * SLOT_BYTES;
}

/** Pointer to a channel of a slot, 0 where the core does not keep that channel. */
// @ts-ignore: decorator
@inline
export function channelOf(slot: usize, channel: i32): usize {
  return <u32>channel < load<u32>(slot + SLOT_CHANNEL_COUNT) ? slot + SLOT_CHANNELS + <usize>channel * CHANNEL_BYTES : 0;
}

/** Pointer to the session's first channel of a modality, 0 where it has none. */
// @ts-ignore: decorator
@inline
export function channelOfKind(slot: usize, kind: i32): usize {
  return <usize>load<u32>(slot + SLOT_KINDS + (<usize>kind << 2));
}

/** Makes the slot an empty session. */
export function clearSession(slot: usize): void {
  memory.fill(slot, 0, SLOT_BYTES);
}

/** Appends a channel; channels after the eighth are not kept. */
export function addChannel(slot: usize, kind: i32, hz: f64, subs: i32): void {
  const index = load<i32>(slot + SLOT_CHANNEL_COUNT);
  if (index >= MAX_CHANNELS) return;
  store<i32>(slot + SLOT_CHANNEL_COUNT, index + 1);
  const channel = channelOf(slot, index);
  store<i32>(channel + CH_KIND, kind);
  store<i32>(channel + CH_RATE, kind == KIND_ECG ? ECG_HZ : SLOW_HZ);
  store<i32>(channel + CH_PAYLOAD_SUBS, subs);
  store<f64>(channel + CH_NOMINAL_HZ, hz);
  for (let s = 0; s < MAX_SUBS; s++) store<f64>(channel + CH_OFFSET + (<usize>s << 3), NaN);
  const first = slot + SLOT_KINDS + (<usize>kind << 2);
  if (!load<u32>(first)) store<u32>(first, <u32>channel);
}

/** Hands out the rings, first sub-channels before second ones, as far as the pool reaches, and names the lights. */
export function allocateRings(slot: usize): void {
  const channels = load<i32>(slot + SLOT_CHANNEL_COUNT);
  for (let sub = 0; sub < MAX_SUBS; sub++) {
    for (let c = 0; c < channels; c++) {
      const channel = channelOf(slot, c);
      if (sub < load<i32>(channel + CH_PAYLOAD_SUBS) && allocateRing(slot, channel, sub)) nameLight(slot, channel, sub);
    }
  }
}

function ringCells(kind: i32, sub: i32): i32 {
  if (kind == KIND_ECG) return ECG_CELLS;
  return kind == KIND_ACCEL || sub > 0 ? SHORT_CELLS : LONG_CELLS;
}

function allocateRing(slot: usize, channel: usize, sub: i32): bool {
  const cells = ringCells(load<i32>(channel + CH_KIND), sub);
  const used = load<i32>(slot + SLOT_POOL_USED);
  // Sub-channels lie side by side in the lanes: one without a ring ends the row.
  if (used + (cells << 2) > POOL_BYTES || load<i32>(channel + CH_SUBS) != sub) return false;
  store<i32>(slot + SLOT_POOL_USED, used + (cells << 2));
  store<u32>(channel + CH_RING + (<usize>sub << 2), <u32>(slot + SLOT_POOL + <usize>used));
  store<i32>(channel + CH_CELLS + (<usize>sub << 2), cells);
  store<i32>(channel + CH_SUBS, sub + 1);
  return true;
}

function nameLight(slot: usize, channel: usize, sub: i32): void {
  const count = load<i32>(slot + SLOT_LIGHT_COUNT);
  if (load<i32>(channel + CH_KIND) > KIND_PPG_IR || count >= MAX_LIGHTS) return;
  const light = slot + SLOT_LIGHTS + (<usize>count << 3);
  store<u32>(light, <u32>channel);
  store<i32>(light, sub, 4);
  store<i32>(slot + SLOT_LIGHT_COUNT, count + 1);
}
