import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isoTime } from '../../instant.js';
import type { DeviceModel, ModalityChannel } from '../../store/store.js';
import { list, number, object, text } from '../fields.js';
import {
  changedChannel,
  channel,
  channelEntry,
  MAX_CHANNELS,
  newChannel,
  tooManyChannels,
} from '../modalities/schema.js';
import { invalid, valid } from '../violations.js';

const COEFFICIENT = (what: string) => number(-1000, 1000).meta({ description: what });

export const spo2Calibration = object({
  a: COEFFICIENT('Constant, %.'),
  b: COEFFICIENT('Factor of R, %.'),
  c: COEFFICIENT('Factor of R², %.').default(0),
}).meta({
  description:
    'Calibration curve of the device: SpO2 (%) = a + b R + c R², where R is the ratio of ratios of red to infrared.',
  examples: [{ a: 110.5, b: -32.8, c: 0 }],
});

const NAMES = {
  name: text(1, 200).meta({ description: 'Name for people, 1 to 200 characters.' }),
  description: text(0, 2000).meta({ description: 'Description for people, up to 2000 characters.' }),
  firmware_version: text(0, 100).meta({ description: 'Version of the firmware, up to 100 characters.' }),
};
const CHANNELS = 'Its modality channels, at most 64; frames refer to them by their position in this list.';
const CALIBRATION = "The device's own curve of pulse oximetry. Without one, a generic curve is used.";

export const newDeviceModel = object({
  name: NAMES.name,
  description: NAMES.description.default(''),
  firmware_version: NAMES.firmware_version.default(''),
  modality_channels: list(newChannel, MAX_CHANNELS).default([]).meta({ description: CHANNELS }),
  spo2_calibration: spo2Calibration.nullable().default(null).meta({ description: CALIBRATION }),
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
  modality_channels: list(channelEntry, MAX_CHANNELS).meta({
    description: 'Changes to channels, by their ch_id, and new channels, without one.',
  }),
  spo2_calibration: spo2Calibration.nullable().meta({ description: `${CALIBRATION} null removes it.` }),
})
  .partial()
  .meta({
    description: 'Any of the fields of a device model. Channels are changed or added, never removed.',
    examples: [{ firmware_version: '2.2.0' }],
  });

export const deviceModel = z
  .object({
    id: z.uuid().meta({ description: 'Id of the device model, which devices name when they connect.' }),
    name: z.string().meta({ description: 'Name for people.' }),
    description: z.string().meta({ description: 'Description for people.' }),
    firmware_version: z.string().meta({ description: 'Version of the firmware.' }),
    modality_channels: z.array(channel).meta({ description: CHANNELS }),
    spo2_calibration: spo2Calibration.optional().meta({ description: CALIBRATION }),
    created_at: z.iso.datetime().meta({ description: 'When it was created.' }),
    updated_at: z.iso.datetime().meta({ description: 'When it was last changed.' }),
  })
  .meta({
    description: 'A device model: the channels that a kind of device measures, with their formats.',
    examples: [
      {
        id: '5c0b0a86-9a4f-4a0e-8a39-3f0c4a1f7d55',
        name: 'Band 2',
        description: 'Wrist band',
        firmware_version: '2.1.0',
        modality_channels: [
          {
            ch_id: '0d2f6a1e-7d1c-4a55-9a6f-0d5a7c3b1e42',
            modality: 'ppg_green',
            sample_rate_hz: 100,
            bit_depth: 18,
            num_channels: 2,
          },
        ],
        created_at: '2026-01-31T08:00:00.000Z',
        updated_at: '2026-01-31T08:00:00.000Z',
      },
    ],
  });

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

/** Builds a new model of an account from a request's body; answers 400 if the body is not valid. */
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

/** The model after a PUT; answers 400 if an entry of its channels does not fit the model. */
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
