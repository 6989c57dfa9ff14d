import { isoTime } from '../instant.js';
import type { Device, Page } from '../store/store.js';
import { accountOf } from './accounts.js';
import { pastOf } from './expiry.js';
import { Refusal } from './refusal.js';
import { note, type Workplace } from './workplace.js';

export async function listDevices(place: Workplace, accountId: string): Promise<object[]> {
  const { id } = await accountOf(place, accountId);
  return (await place.store.devices(id)).map(shown);
}

/** Deletes a device, so that its model can be deleted. Its sessions stay. */
export async function deleteDevice(place: Workplace, accountId: string, deviceId: string): Promise<object> {
  const { id } = await accountOf(place, accountId);
  const device = await place.store.deleteDevice(id, deviceId);
  if (!device) throw new Refusal(`the account has no device ${JSON.stringify(deviceId)}: see "admin device list"`);
  await note(place, 'device deleted', id, deviceId);
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
export async function deleteDevices(place: Workplace, accountId: string, choice: DeviceChoice): Promise<object> {
  const { id } = await accountOf(place, accountId);
  const { prefix = null } = choice;
  const now = place.clock.now();
  const since = choice.since === undefined ? Number.NEGATIVE_INFINITY : pastOf('--since', choice.since, now);
  const before = choice.before === undefined ? Number.POSITIVE_INFINITY : pastOf('--before', choice.before, now);
  let devices = 0;
  let cursor: string | null = null;
  do {
    const page: Page<Device> = await place.store.devicePage({ accountId: id, prefix, limit: PAGE, cursor });
    const chosen = page.rows.filter(({ createdAt }) => createdAt >= since && createdAt < before);
    const deleted = await Promise.all(chosen.map(({ deviceId }) => place.store.deleteDevice(id, deviceId)));
    devices += deleted.filter((device) => device !== null).length;
    cursor = page.next;
  } while (cursor !== null);
  const words = Object.entries(choice).map(([name, value]) => `--${name} ${value}`);
  await note(place, 'devices deleted', id, `${devices} devices: ${words.join(' ')}`);
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
