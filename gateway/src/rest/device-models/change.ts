import { Queue } from '../../queue.js';
import type { DeviceModel } from '../../store/store.js';
import { permittedModel } from '../permission.js';
import { clientLeft, keyOf, type RestContext, type RestOptions } from '../rest-context.js';

/** The changes of one model run one after the other: concurrent ones would all be repeated after each one that succeeds. */
const changes = new Queue({ each: () => 1 });

/**
 * Changes a device model atomically, unless the client has left before its turn; returns the changed model. `change` may
 * throw, which changes nothing. Rejects with `HttpError` if the key may not use the model, and as the store does.
 */
export async function changeModel(
  ctx: RestContext,
  id: string,
  store: RestOptions['store'],
  change: (model: DeviceModel) => DeviceModel,
): Promise<DeviceModel> {
  const key = keyOf(ctx);
  const permitted = (model: DeviceModel) => change(permittedModel(key, model));
  const run = () => store.changeDeviceModel(id, permitted);
  return permittedModel(key, await changes.run(id, run, clientLeft(ctx)));
}
