import type { ClientSession } from 'mongoose';
import type { Device, DeviceModel, Store } from '../store.js';
import type { MongoConnection } from './connection.js';
import { documentOf, rowOf } from './rows.js';
import type { DeviceDocument, DeviceModelDocument, Models } from './schemas.js';

type DeviceModels = Pick<
  Store,
  'addDeviceModel' | 'deviceModel' | 'deviceModels' | 'changeDeviceModel' | 'deleteDeviceModel'
>;
type Devices = Pick<Store, 'putDevice' | 'devices' | 'deleteDevice'>;

/** The device models of a MongoDB store. */
export function mongoDeviceModels(mongo: MongoConnection, { deviceModels, devices }: Models): DeviceModels {
  const find = (id: string) => deviceModels.findById(id).lean<DeviceModelDocument>();
  return {
    addDeviceModel: (model) =>
      mongo.run(async () => {
        await deviceModels.create({ ...documentOf(model), revision: 0, touched: 0 });
      }),
    deviceModel: (id) =>
      mongo.run(async () => {
        const found = await find(id);
        return found && modelOf(found);
      }),
    deviceModels: (accountId) =>
      mongo.run(async () =>
        (await deviceModels.find({ accountId }).sort({ createdAt: 1, _id: 1 }).lean<DeviceModelDocument[]>()).map(
          modelOf,
        ),
      ),
    changeDeviceModel: (id, change) =>
      mongo.run(async () => {
        for (;;) {
          const found = await find(id);
          if (!found) return null;
          const { revision } = found;
          const changed = change(modelOf(found));
          const { _id, ...fields } = documentOf(changed);
          const update = { $set: { ...fields, revision: revision + 1 } };
          const { matchedCount } = await deviceModels.updateOne({ _id: id, revision }, update);
          if (matchedCount === 1) return changed;
        }
      }),
    deleteDeviceModel: (id) =>
      mongo.transaction(async (session) => {
        if (await devices.exists({ deviceModelId: id }).session(session)) return 'referenced';
        const { deletedCount } = await deviceModels.deleteOne({ _id: id }, { session });
        return deletedCount === 1 ? 'deleted' : 'missing';
      }),
  };
}

/** The devices of a MongoDB store. */
export function mongoDevices(mongo: MongoConnection, { deviceModels, devices }: Models): Devices {
  /** Writes to the model too, so that its deletion at the same moment and this cannot both happen. */
  const put = async ({ accountId, deviceId, deviceModelId, createdAt }: Device, session: ClientSession) => {
    const touch = { $inc: { touched: 1 } };
    const { matchedCount } = await deviceModels.updateOne({ _id: deviceModelId }, touch, { session });
    if (matchedCount === 0) return false;
    const update = { $set: { deviceModelId }, $setOnInsert: { createdAt } };
    await devices.updateOne({ accountId, deviceId }, update, { session, upsert: true });
    return true;
  };
  return {
    putDevice: async (device) => {
      const { accountId, deviceId, deviceModelId } = device;
      // A row that is there keeps its model from being deleted: nothing is to be written.
      const there = await mongo.run(() => devices.exists({ accountId, deviceId, deviceModelId }));
      return there !== null || mongo.transaction((session) => put(device, session));
    },
    devices: (accountId) =>
      mongo.run(async () =>
        (await devices.find({ accountId }).sort({ createdAt: 1, _id: 1 }).lean<DeviceDocument[]>()).map(deviceOf),
      ),
    deleteDevice: (accountId, deviceId) =>
      mongo.run(async () => {
        const found = await devices.findOneAndDelete({ accountId, deviceId }).lean<DeviceDocument>();
        return found && deviceOf(found);
      }),
  };
}

function modelOf(document: DeviceModelDocument): DeviceModel {
  const { revision, touched, ...model } = rowOf(document);
  return model;
}

function deviceOf({ accountId, deviceId, deviceModelId, createdAt }: DeviceDocument): Device {
  return { accountId, deviceId, deviceModelId, createdAt };
}
