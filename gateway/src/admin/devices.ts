import { isoTime } from '../instant.js';
import { type Device, pagesOf } from '../store/store.js';
import { accountOf } from './accounts.js';
import { type AdminContext, note } from './context.js';
import { pastOf } from './expiry.js';
import { Refusal } from './refusal.js';

export async function listDevices(context: AdminContext, accountId: string): Promise<object[]> {
  const { id } = await accountOf(context, accountId);
  return (await context.store.devices(id)).map(shown);
}

/** Deletes a device, so that its model can be deleted. Its sessions stay. */
export async function deleteDevice(context: AdminContext, accountId: string, deviceId: string): Promise<object> {
  const { id } = await accountOf(context, accountId);
  const device = await context.store.deleteDevice(id, deviceId);
  if (!device) throw new Refusal(`the account has no device ${JSON.stringify(deviceId)}: see "admin device list"`);
  await note(context, 'device deleted', id, deviceId);
  return shown(device);
}

/** Which devices of an account to delete: those whose ids begin so, and that first connected in this time. */
export interface DeviceChoice {
  readonly prefix?: string;
  readonly since?: string;
  readonly before?: string;
}

const PAGE = 500;

/** Deletes many devices of an account. Their sessions stay, and a device that connects again is registered again. */
export async function deleteDevices(context: AdminContext, accountId: string, choice: DeviceChoice): Promise<object> {
  const { id } = await accountOf(context, accountId);
  const { prefix = null } = choice;
  const now = context.clock.now();
  const since = choice.since === undefined ? Number.NEGATIVE_INFINITY : pastOf('--since', choice.since, now);
  const before = choice.before === undefined ? Number.POSITIVE_INFINITY : pastOf('--before', choice.before, now);
  let devices = 0;
  const read = (cursor: string | null) => context.store.devicePage({ accountId: id, prefix, limit: PAGE, cursor });
  for await (const rows of pagesOf(read)) {
    const chosen = rows.filter(({ createdAt }) => createdAt >= since && createdAt < before);
    const deleted = await Promise.all(chosen.map(({ deviceId }) => context.store.deleteDevice(id, deviceId)));
    devices += deleted.filter((device) => device !== null).length;
  }
  const words = Object.entries(choice).map(([name, value]) => `--${name} ${value}`);
  await note(context, 'devices deleted', id, `${devices} devices: ${words.join(' ')}`);
  return { account_id: id, ...choice, devices };
}

function shown(device: Device): object {
  return {
    account_id: device.accountId,
    device_id: device.deviceId,
    device_model_id: device.deviceModelId,
    created_at: isoTime(device.createdAt),
  };
}
