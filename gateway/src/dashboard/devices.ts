import type Router from '@koa/router';
import { deleteDevice } from '../admin/devices.js';
import { HttpError } from '../errors.js';
import { readQuery } from '../rest/query.js';
import { accountOf } from './accounts.js';
import { actorOf, type DashboardOptions, type DashboardState } from './dashboard-context.js';
import { performed } from './performed.js';
import { deviceRow, deviceView, refusedRow, streamingRow } from './rows.js';
import { deviceQuery, streamingQuery } from './schemas.js';

/** Routes of the devices that have streamed. */
export function deviceRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, refusals } = options;

  router.get('/dashboard/api/accounts/:account/devices', async (ctx) => {
    const { id: accountId } = await accountOf(ctx, store);
    const { prefix = null, problems, limit, cursor = null } = readQuery(ctx, deviceQuery);
    const page = await store.devicePage({ accountId, prefix, withProblem: problems === 'only', limit, cursor });
    ctx.body = { rows: page.rows.map(deviceRow), next: page.next };
  });

  router.get('/dashboard/api/accounts/:account/streaming', async (ctx) => {
    const { id: accountId } = await accountOf(ctx, store);
    const { prefix = null, limit } = readQuery(ctx, streamingQuery);
    const devices = await store.streamingDevices({ accountId, prefix, limit });
    ctx.body = devices.map(streamingRow);
  });

  router.get('/dashboard/api/accounts/:account/refused', async (ctx) => {
    const { id } = await accountOf(ctx, store);
    ctx.body = refusals(id).map(refusedRow);
  });

  router.get('/dashboard/api/accounts/:account/devices/:device', async (ctx) => {
    const { id } = await accountOf(ctx, store);
    const device = await store.device(id, ctx.params.device ?? '');
    if (!device) throw noDevice();
    ctx.body = deviceView(device, await store.deviceModel(device.deviceModelId));
  });

  router.delete('/dashboard/api/accounts/:account/devices/:device', async (ctx) => {
    const actor = actorOf(ctx);
    const { id } = await accountOf(ctx, store);
    const deviceId = ctx.params.device ?? '';
    if (!(await store.device(id, deviceId))) throw noDevice();
    await performed(actor, options, (context) => deleteDevice(context, id, deviceId));
    ctx.status = 204;
  });
}

function noDevice(): HttpError {
  return new HttpError('not_found', 'the account has no device with this id: it may have been deleted');
}
