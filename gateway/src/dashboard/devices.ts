import type Router from '@koa/router';
import { deleteDevice } from '../admin/devices.js';
import { HttpError } from '../errors.js';
import { isoTime, isoTimeOrNull } from '../instant.js';
import type { Refusals } from '../refused-devices.js';
import { readQuery } from '../rest/query.js';
import type { DeviceModel, ListedDevice, Session, StreamingDevice } from '../store/store.js';
import { accountOf } from './accounts.js';
import { actorOf, type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { performed } from './performed.js';
import {
  type DeviceRow,
  type DeviceView,
  deviceQuery,
  type Listed,
  type ModelRow,
  type RefusedRow,
  type StreamingRow,
  streamingQuery,
} from './schemas.js';

/** Routes of the devices that have streamed. */
export function deviceRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, refusals } = options;

  router.get('/dashboard/api/accounts/:account/devices', async (ctx) => {
    signedInOf(ctx);
    const { id: accountId } = await accountOf(ctx, store);
    const { prefix = null, problems, limit, cursor = null } = readQuery(ctx, deviceQuery);
    const page = await store.devicePage({ accountId, prefix, withProblem: problems === 'only', limit, cursor });
    ctx.body = { rows: page.rows.map(deviceRow), next: page.next } satisfies Listed<DeviceRow>;
  });

  router.get('/dashboard/api/accounts/:account/streaming', async (ctx) => {
    signedInOf(ctx);
    const { id: accountId } = await accountOf(ctx, store);
    const { prefix = null, limit } = readQuery(ctx, streamingQuery);
    const devices = await store.streamingDevices({ accountId, prefix, limit });
    ctx.body = devices.map(streamingRow);
  });

  router.get('/dashboard/api/accounts/:account/refused', async (ctx) => {
    signedInOf(ctx);
    const { id } = await accountOf(ctx, store);
    ctx.body = refusals(id).map(refusedRow);
  });

  router.get('/dashboard/api/accounts/:account/devices/:device', async (ctx) => {
    signedInOf(ctx);
    const { id } = await accountOf(ctx, store);
    const device = await store.device(id, ctx.params.device ?? '');
    if (!device) throw noDevice();
    const model = await store.deviceModel(device.deviceModelId);
    ctx.body = { ...deviceRow(device), account_id: id, model: model && modelRow(model) } satisfies DeviceView;
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

function deviceRow({ deviceId, deviceModelId, createdAt, problem, session }: ListedDevice): DeviceRow {
  return {
    device_id: deviceId,
    device_model_id: deviceModelId,
    created_at: isoTime(createdAt),
    problem,
    data_end: isoTimeOrNull(session?.progress.lastInstant ?? null),
    session: session?.status === 'open' ? openSession(session) : null,
  };
}

function refusedRow({ deviceId, keyPrefix, at, ...others }: Refusals): RefusedRow {
  return { device_id: deviceId, key_prefix: keyPrefix, at: isoTime(at), ...others };
}

function openSession({ id, startedAt, progress: { lastDataAt } }: Session): NonNullable<DeviceRow['session']> {
  return { id, started_at: isoTime(startedAt), last_data_at: isoTimeOrNull(lastDataAt) };
}

function streamingRow({ deviceId, sessionId, diagnostics }: StreamingDevice): StreamingRow {
  const present = diagnostics?.notices.filter(({ isOver }) => !isOver) ?? [];
  const notices = present.map(({ code, insight, reason, detail }) => ({
    ...{ code, detail },
    ...(insight && { insight }),
    ...(reason && { reason }),
  }));
  return { device_id: deviceId, session_id: sessionId, notices, refused: diagnostics?.refused ?? [] };
}

function modelRow({ id, name, description, firmwareVersion, channels, spo2Curve }: DeviceModel): ModelRow {
  return {
    id,
    name,
    description,
    firmware_version: firmwareVersion,
    modality_channels: channels,
    has_spo2_calibration: spo2Curve !== null,
  };
}
