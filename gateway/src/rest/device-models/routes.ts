import { HttpError } from '../../errors.js';
import { MAX_DEVICE_MODELS } from '../../store/store.js';
import { answerArray } from '../json-array.js';
import type { Operations } from '../openapi/operation.js';
import { pathId, permittedModel } from '../permission.js';
import { keyOf, type RestContext } from '../rest-context.js';
import { valid } from '../violations.js';
import { changeModel } from './change.js';
import {
  changedModel,
  deviceModel,
  deviceModelAnswer,
  deviceModelChange,
  deviceModelOf,
  newDeviceModel,
} from './schema.js';

const WHAT = 'device model';
const TOO_MANY = `an account has at most ${MAX_DEVICE_MODELS} device models: delete models that no device uses`;

const REFERENCED = 'devices still reference this device model: delete them, or move them to another model';

/** Device models: an account's kinds of devices. */
export const deviceModelOperations: Operations = {
  'POST /v1/device-models': {
    operationId: 'createDeviceModel',
    tag: 'deviceModels',
    summary: 'Create a device model',
    description:
      'An account has at most 10,000 device models. With an Idempotency-Key the call can be repeated safely.',
    isIdempotent: true,
    body: newDeviceModel,
    answer: { description: 'The device model, with its id.', schema: deviceModel },
    async handle(ctx, { store, clock }) {
      const model = deviceModelOf(ctx.state.body, keyOf(ctx).accountId, clock.now());
      if (!(await store.addDeviceModel(model))) throw new HttpError('conflict', TOO_MANY);
      ctx.body = deviceModelAnswer(model);
    },
  },
  'GET /v1/device-models': {
    operationId: 'listDeviceModels',
    tag: 'deviceModels',
    summary: 'All device models of the account, oldest first',
    description: 'Complete, without pages: an account has a limited number of them.',
    answer: { description: 'The device models.', list: deviceModel },
    handle: (ctx, { store }) => answerArray(ctx, store.deviceModels(keyOf(ctx).accountId), deviceModelAnswer),
  },
  'GET /v1/device-models/{id}': {
    operationId: 'getDeviceModel',
    tag: 'deviceModels',
    summary: 'One device model',
    description: 'A device model of the account, with its modality channels.',
    answer: { description: 'The device model.', schema: deviceModel },
    async handle(ctx, { store }) {
      ctx.body = deviceModelAnswer(permittedModel(keyOf(ctx), await store.deviceModel(idOf(ctx))));
    },
  },
  'PUT /v1/device-models/{id}': {
    operationId: 'updateDeviceModel',
    tag: 'deviceModels',
    summary: 'Change a device model',
    description:
      'Any of its fields; what is left out stays. Entries of modality_channels with a ch_id change that channel, those without one are added, none is removed. Sessions that are open keep what they began with.',
    body: deviceModelChange,
    answer: { description: 'The changed device model.', schema: deviceModel },
    async handle(ctx, { store, clock }) {
      const changed = await changeModel(ctx, idOf(ctx), store, (model) =>
        changedModel(model, valid(deviceModelChange, ctx.state.body), clock.now()),
      );
      ctx.body = deviceModelAnswer(changed);
    },
  },
  'DELETE /v1/device-models/{id}': {
    operationId: 'deleteDeviceModel',
    tag: 'deviceModels',
    summary: 'Delete a device model that no device row references',
    description: 'Sessions of the past keep the id. A model that devices still reference stays (409).',
    answer: { description: 'The device model is deleted. Past sessions keep its id.' },
    mayConflict: true,
    async handle(ctx, { store }) {
      const { id } = permittedModel(keyOf(ctx), await store.deviceModel(idOf(ctx)));
      const outcome = await store.deleteDeviceModel(id);
      if (outcome === 'missing') permittedModel(keyOf(ctx), null);
      if (outcome === 'referenced') throw new HttpError('conflict', REFERENCED);
    },
  },
};

function idOf(ctx: RestContext): string {
  return pathId(ctx.params.id, WHAT);
}
