import type { Device, DeviceModel, Store } from '../store.js';
import type { Database } from './database.js';

type DeviceModels = Pick<
  Store,
  'addDeviceModel' | 'deviceModel' | 'deviceModels' | 'changeDeviceModel' | 'deleteDeviceModel'
>;
type Devices = Pick<Store, 'putDevice' | 'devices' | 'deleteDevice'>;

/** The device models of an embedded store; a model is one JSON text, which keeps any Unicode that people put into it. */
export function embeddedDeviceModels(db: Database): DeviceModels {
  const insert = db.prepare('INSERT INTO device_models (id, account_id, created_at, model) VALUES (?, ?, ?, ?)');
  const byId = db.prepare<ModelRow>('SELECT model FROM device_models WHERE id = ?');
  const ofAccount = db.prepare<ModelRow>(
    'SELECT model FROM device_models WHERE account_id = ? ORDER BY created_at, rowid',
  );
  const update = db.prepare('UPDATE device_models SET model = ? WHERE id = ?');
  const remove = db.prepare('DELETE FROM device_models WHERE id = ?');
  const reference = db.prepare('SELECT 1 FROM devices WHERE device_model_id = ? LIMIT 1');
  const one = (row: ModelRow | undefined) => (row ? modelOf(row) : null);
  return {
    addDeviceModel: (model) =>
      db.write(() => {
        insert.run(model.id, model.accountId, model.createdAt, JSON.stringify(model));
      }),
    deviceModel: (id) => db.read(() => one(byId.get(id))),
    deviceModels: (accountId) => db.read(() => ofAccount.all(accountId).map(modelOf)),
    changeDeviceModel: (id, change) =>
      db.write(() => {
        const model = one(byId.get(id));
        if (!model) return null;
        const changed = change(model);
        update.run(JSON.stringify(changed), id);
        return changed;
      }),
    deleteDeviceModel: (id) =>
      db.write(() => {
        if (reference.get(id)) return 'referenced';
        return remove.run(id) === 1 ? 'deleted' : 'missing';
      }),
  };
}

/** The devices of an embedded store. */
export function embeddedDevices(db: Database): Devices {
  const model = db.prepare('SELECT 1 FROM device_models WHERE id = ?');
  const byId = db.prepare<DeviceRow>('SELECT * FROM devices WHERE account_id = ? AND device_id = ?');
  const put = db.prepare(
    `INSERT INTO devices (account_id, device_id, device_model_id, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (account_id, device_id) DO UPDATE SET device_model_id = excluded.device_model_id`,
  );
  const ofAccount = db.prepare<DeviceRow>('SELECT * FROM devices WHERE account_id = ? ORDER BY created_at, rowid');
  const remove = db.prepare('DELETE FROM devices WHERE account_id = ? AND device_id = ?');
  return {
    putDevice: (d) =>
      db.write(() => {
        if (!model.get(d.deviceModelId)) return false;
        put.run(d.accountId, d.deviceId, d.deviceModelId, d.createdAt);
        return true;
      }),
    devices: (accountId) => db.read(() => ofAccount.all(accountId).map(deviceOf)),
    deleteDevice: (accountId, deviceId) =>
      db.write(() => {
        const row = byId.get(accountId, deviceId);
        remove.run(accountId, deviceId);
        return row ? deviceOf(row) : null;
      }),
  };
}

interface ModelRow {
  readonly model: string;
}

interface DeviceRow {
  readonly account_id: string;
  readonly device_id: string;
  readonly device_model_id: string;
  readonly created_at: number;
}

function modelOf(row: ModelRow): DeviceModel {
  return JSON.parse(row.model) as DeviceModel;
}

function deviceOf(row: DeviceRow): Device {
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    deviceModelId: row.device_model_id,
    createdAt: row.created_at,
  };
}
