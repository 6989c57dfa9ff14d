import { randomUUID } from 'node:crypto';
import { HttpError } from '../../errors.js';
import type { DeviceModel, ModalityChannel } from '../../store/store.js';
import { changeModel } from '../device-models/change.js';
import type { Operations } from '../openapi/operation.js';
import { pathId, permittedModel } from '../permission.js';
import { keyOf, type RestContext, type RestOptions } from '../rest-context.js';
import { invalid, valid } from '../violations.js';
import { changedChannel, channel, channelChange, MAX_CHANNELS, newChannel, tooManyChannels } from './schema.js';

/** Modality channels of a device model. A change applies to sessions that are opened afterwards. */
export const modalityOperations: Operations = {
  'GET /v1/device-models/{dm_id}/modalities': {
    operationId: 'listModalities',
    tag: 'modalities',
    summary: 'The modality channels of a device model, in their order',
    description: 'The channels in the order of the indices that frames use.',
    answer: { description: 'The channels.', list: channel },
    async handle(ctx, { store }) {
      ctx.body = permittedModel(keyOf(ctx), await store.deviceModel(modelIdOf(ctx))).channels;
    },
  },
  'POST /v1/device-models/{dm_id}/modalities': {
    operationId: 'createModality',
    tag: 'modalities',
    summary: 'Add a modality channel to a device model',
    description: 'Adds the channel as the last one. Sessions that are open keep the channels that they began with.',
    isIdempotent: true,
    body: newChannel,
    answer: { description: 'The channel, with its ch_id.', schema: channel },
    async handle(ctx, options) {
      const ch_id = randomUUID();
      await change(ctx, options, ({ channels }) => {
        const added = { ch_id, ...valid(newChannel, ctx.state.body) };
        if (channels.length >= MAX_CHANNELS) throw invalid([tooManyChannels('body')]);
        ctx.body = added;
        return [...channels, added];
      });
    },
  },
  'PUT /v1/device-models/{dm_id}/modalities/{ch_id}': {
    operationId: 'updateModality',
    tag: 'modalities',
    summary: 'Change a modality channel',
    description: "The body has any of the channel's fields; fields that are left out keep their values.",
    body: channelChange,
    answer: { description: 'The changed channel.', schema: channel },
    async handle(ctx, options) {
      await change(ctx, options, ({ channels }) => {
        const before = channelOf(ctx, channels);
        const after = changedChannel(before, valid(channelChange, ctx.state.body));
        ctx.body = after;
        return channels.map((one) => (one === before ? after : one));
      });
    },
  },
  'DELETE /v1/device-models/{dm_id}/modalities/{ch_id}': {
    operationId: 'deleteModality',
    tag: 'modalities',
    summary: 'Remove a modality channel',
    description:
      'The indices of the channels after it decrease by one. Sessions that are open keep the channels that they began with.',
    answer: { description: 'The channel is removed.' },
    async handle(ctx, options) {
      await change(ctx, options, ({ channels }) => {
        const removed = channelOf(ctx, channels);
        return channels.filter((one) => one !== removed);
      });
    },
  },
};

/** Changes the channels of the model in the path atomically. */
async function change(
  ctx: RestContext,
  { store, clock }: RestOptions,
  channels: (model: DeviceModel) => ModalityChannel[],
): Promise<void> {
  await changeModel(ctx, modelIdOf(ctx), store, (model) => ({
    ...model,
    channels: channels(model),
    updatedAt: Math.max(clock.now(), model.updatedAt),
  }));
}

function modelIdOf(ctx: RestContext): string {
  return pathId(ctx.params.dm_id, 'device model');
}

function channelOf(ctx: RestContext, channels: readonly ModalityChannel[]): ModalityChannel {
  const id = pathId(ctx.params.ch_id, 'modality channel');
  const found = channels.find(({ ch_id }) => ch_id === id);
  if (!found) throw new HttpError('not_found', 'this device model has no modality channel with this id');
  return found;
}
