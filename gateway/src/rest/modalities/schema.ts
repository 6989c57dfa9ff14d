import { z } from 'zod';
import type { ModalityChannel } from '../../store/store.js';
import { integer, matching, number, object, uuid } from '../fields.js';

/** Maximum number of channels that a device model may have. */
export const MAX_CHANNELS = 64;

const FIELDS = {
  modality: matching(/^[a-z0-9_]{1,64}$/, '1 to 64 of the characters a-z, 0-9 and _').meta({
    description: 'Name of the sensor modality, such as ppg_green, ppg_red, ppg_ir, ecg, accel or resp.',
  }),
  sample_rate_hz: number(0.1, 10_000).meta({ description: 'Sample instants per second, 0.1 to 10,000.' }),
  bit_depth: integer(1, 32).meta({ description: 'Bits per sample, 1 to 32.' }),
  num_channels: integer(1, 64).meta({
    description: 'Sub-channels: values in one sample instant, such as 3 for x, y and z.',
  }),
};

const EXAMPLE = { modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 18, num_channels: 2 };

export const newChannel = object(FIELDS).meta({ description: 'A new modality channel.', examples: [EXAMPLE] });

export const channelChange = object(FIELDS)
  .partial()
  .meta({ description: 'Any of the fields of a modality channel.', examples: [{ sample_rate_hz: 50 }] });

/** An entry of a model's `modality_channels` in a PUT: with `ch_id` a change, without it a new channel. */
export const channelEntry = object({
  ...channelChange.shape,
  ch_id: uuid().optional().meta({ description: 'A channel of the model, to change it; absent for a new one.' }),
})
  .superRefine((entry, context) => {
    if (entry.ch_id !== undefined) return;
    for (const { path, message } of newChannel.safeParse(entry).error?.issues ?? []) {
      context.addIssue({ code: 'custom', path, message });
    }
  })
  .meta({ description: 'With a ch_id of the model: changes to that channel. Without one: a new channel.' });

export const channel = z.object({ ch_id: z.uuid().meta({ description: 'Id of the channel.' }), ...FIELDS }).meta({
  description: 'A modality channel of a device model.',
  examples: [{ ch_id: '0d2f6a1e-7d1c-4a55-9a6f-0d5a7c3b1e42', ...EXAMPLE }],
});

type Change = z.output<typeof channelChange>;

/** A channel with changed fields. */
export function changedChannel(before: ModalityChannel, change: Change): ModalityChannel {
  return {
    ch_id: before.ch_id,
    modality: change.modality ?? before.modality,
    sample_rate_hz: change.sample_rate_hz ?? before.sample_rate_hz,
    bit_depth: change.bit_depth ?? before.bit_depth,
    num_channels: change.num_channels ?? before.num_channels,
  };
}

/** The error for a model with too many channels. */
export function tooManyChannels(field: string): string {
  return `${field}: must leave the device model with at most ${MAX_CHANNELS} channels`;
}
