import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DeviceModel, ModalityChannel } from '../store/store.js';
import { list, number, object, text } from './fields.js';
import { isoTime } from './instant.js';
import { changedChannel, channel, channelEntry, MAX_CHANNELS, newChannel } from './modality.js';
import { invalid, valid } from './violations.js';

const COEFFICIENT = () => number(-1000, 1000);

export const spo2Calibration = object({ a: COEFFICIENT(), b: COEFFICIENT(), c: COEFFICIENT().default(0) }).meta({
  description: 'Curve of the device: SpO2 (%) = a + b R + c R², R being the ratio of ratios of red to infrared.',
  examples: [{ a: 110.5, b: -32.8, c: 0 }],
});

const NAMES = { name: text(1, 200), description: text(0, 2000), firmware_version: text(0, 100) };

export const newDeviceModel = object({
  name: NAMES.name,
  description: NAMES.description.default(''),
  firmware_version: NAMES.firmware_version.default(''),
  modality_channels: list(newChannel, MAX_CHANNELS).default([]),
  spo2_calibration: spo2Calibration.nullable().default(null),
}).meta({
  description: 'A new device model.',
  examples: [
    {
      name: 'Band 2',
      description: 'Wrist band',
      firmware_version: '2.1.0',
      modality_channels: [{ modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 18, num_channels: 2 }],
    },
  ],
});

export const deviceModelChange = object({
  ...NAMES,
  modality_channels: list(channelEntry, MAX_CHANNELS),
  spo2_calibration: spo2Calibration.nullable(),
})
  .partial()
  .meta({
    description: 'Any of the fields of a device model. Channels are changed or added, never removed.',
    examples: [{ firmware_version: '2.2.0' }],
  });

export const deviceModel = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    firmware_version: z.string(),
    modality_channels: z.array(channel),
    spo2_calibration: spo2Calibration.optional(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ description: 'A device model: what a kind of device measures, and how.' });

/** The model in an answer. */
export function deviceModelAnswer(model: DeviceModel): z.input<typeof deviceModel> {
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    firmware_version: model.firmwareVersion,
    modality_channels: [...model.channels],
    ...(model.spo2Curve && { spo2_calibration: calibrationAnswer(model.spo2Curve) }),
    created_at: isoTime(model.createdAt),
    updated_at: isoTime(model.updatedAt),
  };
}

/** A new model of an account out of a request's body; a 400 where that is none. */
export function deviceModelOf(body: unknown, accountId: string, now: number): DeviceModel {
  const given = valid(newDeviceModel, body);
  return {
    id: randomUUID(),
    accountId,
    name: given.name,
    description: given.description,
    firmwareVersion: given.firmware_version,
    channels: given.modality_channels.map((fields) => ({ ch_id: randomUUID(), ...fields })),
    spo2Curve: curve(given.spo2_calibration),
    createdAt: now,
    updatedAt: now,
  };
}

/** The model after a PUT; a 400 where an entry of its channels does not fit the model. */
export function changedModel(model: DeviceModel, change: z.output<typeof deviceModelChange>, now: number): DeviceModel {
  return {
    ...model,
    name: change.name ?? model.name,
    description: change.description ?? model.description,
    firmwareVersion: change.firmware_version ?? model.firmwareVersion,
    channels: changedChannels(model.channels, change.modality_channels ?? []),
    spo2Curve: change.spo2_calibration === undefined ? model.spo2Curve : curve(change.spo2_calibration),
    updatedAt: Math.max(now, model.updatedAt),
  };
}

function changedChannels(
  before: readonly ModalityChannel[],
  entries: readonly z.output<typeof channelEntry>[],
): ModalityChannel[] {
  const changes = new Map<string, z.output<typeof channelEntry>>();
  const added: ModalityChannel[] = [];
  const faults: string[] = [];
  for (const [i, entry] of entries.entries()) {
    const fault = misplaced(entry.ch_id, before, changes);
    if (fault) faults.push(`modality_channels[${i}].ch_id: ${fault}`);
    else if (entry.ch_id !== undefined) changes.set(entry.ch_id, entry);
    else added.push({ ...valid(newChannel, entry), ch_id: randomUUID() });
  }
  if (before.length + added.length > MAX_CHANNELS) faults.push(tooManyChannels('modality_channels'));
  if (faults.length > 0) throw invalid(faults);
  return [...before.map((known) => changedChannel(known, changes.get(known.ch_id) ?? {})), ...added];
}

/** The fault of a model that would have too many channels. */
export function tooManyChannels(field: string): string {
  return `${field}: must leave the device model with at most ${MAX_CHANNELS} channels`;
}

function misplaced(id: string | undefined, known: readonly ModalityChannel[], seen: ReadonlyMap<string, unknown>) {
  if (id === undefined) return null;
  if (seen.has(id)) return 'must not be given twice';
  return known.some(({ ch_id }) => ch_id === id) ? null : 'must be the ch_id of a channel of this model';
}

function curve(given: z.output<typeof spo2Calibration> | null): number[] | null {
  return given && [given.a, given.b, given.c];
}

function calibrationAnswer([a = 0, b = 0, c = 0]: readonly number[]): { a: number; b: number; c: number } {
  return { a, b, c };
}
