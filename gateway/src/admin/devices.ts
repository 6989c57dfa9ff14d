import { isoTime } from '../instant.js';
import type { Device } from '../store/store.js';
import { accountOf } from './accounts.js';
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

function shown(device: Device): object {
  return {
    account_id: device.accountId,
    device_id: device.deviceId,
    device_model_id: device.deviceModelId,
    created_at: isoTime(device.createdAt),
  };
}
