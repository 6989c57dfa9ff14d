import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import { jsonBody } from './body.js';
import { changedModel, deviceModelAnswer, deviceModelChange, deviceModelOf } from './device-model.js';
import { idempotent } from './idempotency.js';
import { pathId, permittedModel } from './permission.js';
import { keyOf, type RestContext, type RestOptions, type RestState } from './rest-context.js';
import { valid } from './violations.js';

const WHAT = 'device model';

/** Device models: an account's kinds of devices. */
export function deviceModelRoutes(router: Router<RestState>, options: RestOptions): void {
  const { store, clock } = options;

  /**
   * @openapi
   * /v1/device-models:
   *   post:
   *     operationId: createDeviceModel
   *     tags: [deviceModels]
   *     summary: Create a device model
   *     parameters:
   *       - $ref: '#/components/parameters/IdempotencyKey'
   *     requestBody:
   *       required: true
   *       content:
   *         application/json:
   *           schema: { $ref: '#/components/schemas/NewDeviceModel' }
   *     responses:
   *       '201':
   *         description: The device model, with its id.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/DeviceModel' }
   *       '400': { $ref: '#/components/responses/ValidationFailed' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '409': { $ref: '#/components/responses/Conflict' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.post('/v1/device-models', jsonBody, idempotent(options), async (ctx) => {
    const model = deviceModelOf(ctx.state.body, keyOf(ctx).accountId, clock.now());
    await store.addDeviceModel(model);
    ctx.status = 201;
    ctx.body = deviceModelAnswer(model);
  });

  /**
   * @openapi
   * /v1/device-models:
   *   get:
   *     operationId: listDeviceModels
   *     tags: [deviceModels]
   *     summary: All device models of the account, oldest first
   *     responses:
   *       '200':
   *         description: The device models.
   *         content:
   *           application/json:
   *             schema:
   *               type: array
   *               items: { $ref: '#/components/schemas/DeviceModel' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/device-models', async (ctx) => {
    ctx.body = (await store.deviceModels(keyOf(ctx).accountId)).map(deviceModelAnswer);
  });

  /**
   * @openapi
   * /v1/device-models/{id}:
   *   get:
   *     operationId: getDeviceModel
   *     tags: [deviceModels]
   *     summary: One device model
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     responses:
   *       '200':
   *         description: The device model.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/DeviceModel' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/device-models/:id', async (ctx) => {
    const model = permittedModel(keyOf(ctx), await store.deviceModel(idOf(ctx)));
    ctx.body = deviceModelAnswer(model);
  });

  /**
   * @openapi
   * /v1/device-models/{id}:
   *   put:
   *     operationId: updateDeviceModel
   *     tags: [deviceModels]
   *     summary: Change a device model
   *     description: >-
   *       Any of its fields; what is left out stays. Entries of modality_channels with a ch_id change that channel,
   *       those without one are added, none is removed. Sessions that are open keep what they began with.
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     requestBody:
   *       required: true
   *       content:
   *         application/json:
   *           schema: { $ref: '#/components/schemas/DeviceModelChange' }
   *     responses:
   *       '200':
   *         description: The changed device model.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/DeviceModel' }
   *       '400': { $ref: '#/components/responses/ValidationFailed' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.put('/v1/device-models/:id', jsonBody, async (ctx) => {
    const key = keyOf(ctx);
    const changed = await store.changeDeviceModel(idOf(ctx), (model) => {
      permittedModel(key, model);
      return changedModel(model, valid(deviceModelChange, ctx.state.body), clock.now());
    });
    ctx.body = deviceModelAnswer(permittedModel(key, changed));
  });

  /**
   * @openapi
   * /v1/device-models/{id}:
   *   delete:
   *     operationId: deleteDeviceModel
   *     tags: [deviceModels]
   *     summary: Delete a device model that no device row references
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     responses:
   *       '204': { description: It is deleted. Past sessions keep its id. }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '409': { $ref: '#/components/responses/Conflict' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.delete('/v1/device-models/:id', async (ctx) => {
    const { id } = permittedModel(keyOf(ctx), await store.deviceModel(idOf(ctx)));
    const outcome = await store.deleteDeviceModel(id);
    if (outcome === 'missing') permittedModel(keyOf(ctx), null);
    if (outcome === 'referenced') {
      throw new HttpError(
        'conflict',
        'devices still reference this device model: delete them, or move them to another',
      );
    }
    ctx.status = 204;
  });
}

function idOf(ctx: RestContext): string {
  return pathId(ctx.params.id, WHAT);
}
