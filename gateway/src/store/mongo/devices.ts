import type { ClientSession, PipelineStage } from 'mongoose';
import { batches } from '../batches.js';
import { pageOf } from '../cursor.js';
import { AFTER_ALL, deviceCursor, devicePlace } from '../device-order.js';
import {
  type Device,
  type DeviceModel,
  type DeviceModelStore,
  type DeviceQuery,
  type DeviceStore,
  type ListedDevice,
  MAX_DEVICE_MODELS,
  MAX_DEVICES,
} from '../store.js';
import type { MongoConnection } from './connection.js';
import { counterOf, nextOf } from './counters.js';
import type { DeviceModelDocument } from './models/device-models.js';
import type { DeviceDocument } from './models/devices.js';
import type { SessionDocument } from './models/sessions.js';
import { after, documentOf, type Order, rowOf } from './rows.js';
import type { Models } from './schemas.js';
import { sessionOf } from './sessions.js';

/** Models of one read: one may have 33 KB, and each client that does not read its answer holds some of them. */
const BATCH = 8;

/** The device models of a MongoDB store. */
export function mongoDeviceModels(mongo: MongoConnection, models: Models): DeviceModelStore {
  const { deviceModels, devices } = models;
  const find = (id: string) => deviceModels.findById(id);
  return {
    addDeviceModel: (model, limit = MAX_DEVICE_MODELS) =>
      mongo.transaction(async (session) => {
        await nextOf(models, model.accountId, 'models', session); // Two concurrent calls conflict here.
        if ((await deviceModels.countDocuments({ accountId: model.accountId }, { session, limit })) >= limit)
          return false;
        await deviceModels.create([{ ...documentOf(model), revision: 0, touched: 0 }], { session });
        return true;
      }),
    deviceModel: async (id) => {
      const found = await find(id);
      return found && modelOf(found);
    },
    deviceModels: async function* (accountId) {
      const page = (last: DeviceModelDocument | null) =>
        mongo.run(() =>
          deviceModels
            .find({ accountId, ...(last ? after(OLDEST, [last.createdAt, last._id]) : {}) })
            .sort(OLDEST)
            .limit(BATCH),
        );
      for await (const found of batches(accountId, BATCH, page)) yield found.map(modelOf);
    },
    changeDeviceModel: async (id, change) => {
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
    },
    deleteDeviceModel: (id) =>
      mongo.transaction(async (session) => {
        if (await devices.exists({ deviceModelId: id }).session(session)) return 'referenced';
        const { deletedCount } = await deviceModels.deleteOne({ _id: id }, { session });
        return deletedCount === 1 ? 'deleted' : 'missing';
      }),
  };
}

const OLDEST: Order = { createdAt: 1, _id: 1 };

/** The devices of a MongoDB store. */
export function mongoDevices(mongo: MongoConnection, models: Models): DeviceStore {
  const { counters, deviceModels, devices } = models;
  const uncount = (accountId: string, session: ClientSession) =>
    counters.updateOne({ _id: counterOf(accountId, 'devices') }, { $inc: { count: -1 } }, { session });
  /** Also writes to the model, so that a concurrent deletion of the model conflicts with this. */
  const put = async (device: Device, limit: number, session: ClientSession) => {
    const { accountId, deviceId, deviceModelId, createdAt } = device;
    const touch = { $inc: { touched: 1 } };
    const { matchedCount } = await deviceModels.updateOne({ _id: deviceModelId }, touch, { session });
    if (matchedCount === 0) return 'missing';
    const update = { $set: { deviceModelId }, $setOnInsert: { createdAt } };
    const { upsertedCount } = await devices.updateOne({ accountId, deviceId }, update, { session, upsert: true });
    if (upsertedCount === 0 || (await nextOf(models, accountId, 'devices', session)) <= limit) return 'put';
    await devices.deleteOne({ accountId, deviceId }, { session });
    await uncount(accountId, session);
    return 'full';
  };
  return {
    putDevice: async (device, limit = MAX_DEVICES) => {
      const { accountId, deviceId, deviceModelId } = device;
      // An existing row prevents the deletion of its model: nothing has to be written.
      const there = await devices.exists({ accountId, deviceId, deviceModelId });
      return there ? 'put' : mongo.transaction((session) => put(device, limit, session));
    },
    devices: async (accountId) => (await devices.find({ accountId }).sort(OLDEST)).map(deviceOf),
    device: async (accountId, deviceId) => {
      const pipeline = [{ $match: { accountId, deviceId } }, ...withSession(accountId)];
      const [found] = await devices.aggregate<ListedDocument>(pipeline);
      return found ? listedOf(found) : null;
    },
    devicePage: async (query) => {
      const pipeline: PipelineStage[] = [
        { $match: deviceFilter(query) },
        { $sort: query.withProblem ? { problem: 1, deviceId: 1 } : { deviceId: 1 } },
        { $limit: query.limit + 1 },
        ...withSession(query.accountId),
      ];
      const documents = await devices.aggregate<ListedDocument>(pipeline);
      const at = ({ problem, deviceId }: DeviceDocument) => [0, devicePlace(query, problem, deviceId)] as const;
      return pageOf('devices', documents, query.limit, at, listedOf);
    },
    deleteDevice: (accountId, deviceId) =>
      mongo.transaction(async (session) => {
        const found = await devices.findOneAndDelete({ accountId, deviceId }, { session });
        if (!found) return null;
        await uncount(accountId, session);
        return deviceOf(found);
      }),
  };
}

/** A device with its open session, if there is one, and its newest. */
interface ListedDocument extends DeviceDocument {
  readonly open: readonly SessionDocument[];
  readonly newest: readonly SessionDocument[];
}

/** The stages that add to each device its open session and its newest, each by an index of sessions. */
function withSession(accountId: string): PipelineStage.Lookup[] {
  const lookup = (as: string, pipeline: NonNullable<PipelineStage.Lookup['$lookup']['pipeline']>) => ({
    $lookup: { from: 'sessions', localField: 'deviceId', foreignField: 'deviceId', pipeline, as },
  });
  return [
    lookup('open', [{ $match: { accountId, status: 'open' } }]),
    lookup('newest', [{ $match: { accountId } }, { $sort: { startedAt: -1, _id: 1 } }, { $limit: 1 }]),
  ];
}

function listedOf(document: ListedDocument): ListedDevice {
  const session = document.open[0] ?? document.newest[0];
  return { ...deviceOf(document), session: session ? sessionOf(session) : null };
}

function deviceFilter(query: DeviceQuery) {
  const { accountId, prefix, cursor, withProblem } = query;
  const from = prefix === null ? {} : { deviceId: { $gte: prefix, $lt: `${prefix}${AFTER_ALL}` } };
  const [first = '', deviceId = ''] = deviceCursor(query);
  if (withProblem) {
    const problem = first;
    const later = [{ problem: { $gt: problem } }, { problem, deviceId: { $gt: deviceId } }];
    return { accountId, problem: { $gt: '' }, ...from, ...(cursor === null ? {} : { $or: later }) };
  }
  return { accountId, ...from, ...(cursor === null ? {} : { $and: [{ deviceId: { $gt: first } }] }) };
}

function modelOf(document: DeviceModelDocument): DeviceModel {
  const { revision, touched, ...model } = rowOf(document);
  return model;
}

function deviceOf({ accountId, deviceId, deviceModelId, createdAt, problem }: DeviceDocument): Device {
  return { accountId, deviceId, deviceModelId, createdAt, problem: problem ?? null };
}
