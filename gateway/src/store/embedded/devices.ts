import { batches } from '../batches.js';
import { pageOf } from '../cursor.js';
import { AFTER_ALL, deviceCursor, devicePlace } from '../device-order.js';
import {
  type Device,
  type DeviceModel,
  type DeviceQuery,
  type DeviceStore,
  type ListedDevice,
  MAX_DEVICE_MODELS,
  MAX_DEVICES,
} from '../store.js';
import type { Database, Statement } from './database.js';
import type { Calls, DeviceModels } from './kinds.js';
import { Conditions, insertRow, rowReader } from './rows.js';
import { type SessionRow, sessionOf } from './sessions.js';

/** Models read at once: one may have 33 KB, and each client that does not read its answer holds some of them. */
const BATCH = 4;

/** The device models of an embedded store; a model is one JSON text, which keeps all Unicode characters. */
export function embeddedDeviceModels(db: Database): Calls<DeviceModels> {
  return {
    addDeviceModel: (model, limit = MAX_DEVICE_MODELS) => {
      const { id, accountId, createdAt } = model;
      const last = 'SELECT 1 FROM device_models WHERE accountId = ? LIMIT 1 OFFSET ?';
      if (db.get(last, accountId, limit - 1)) return false;
      return insertRow(db, 'device_models', { id, accountId, createdAt, model });
    },
    deviceModel: (id) => {
      const row = db.get<ModelRow>('SELECT id, model FROM device_models WHERE id = ?', id);
      return row ? modelOf(row) : null;
    },
    deviceModels: async function* (accountId) {
      const after = (row: ListedModelRow | null) =>
        db.read(() => db.all<ListedModelRow>(MODELS_PAGE, accountId, row?.createdAt ?? -1, row?.rowid ?? -1, BATCH));
      for await (const rows of batches(accountId, BATCH, after)) yield rows.map(modelOf);
    },
    replaceDeviceModel: (model, by) => {
      const replace = 'UPDATE device_models SET model = ? WHERE id = ? AND model = ?';
      return db.run(replace, JSON.stringify(by), model.id, JSON.stringify(model)) === 1;
    },
    deleteDeviceModel: (id) => {
      if (db.get('SELECT 1 FROM devices WHERE deviceModelId = ? LIMIT 1', id)) return 'referenced';
      return db.run('DELETE FROM device_models WHERE id = ?', id) === 1 ? 'deleted' : 'missing';
    },
  };
}

/** The statement for a batch of an account's models. Exported for the test of its index. */
export const MODELS_PAGE = `SELECT rowid, id, createdAt, model FROM device_models
  WHERE accountId = ? AND (createdAt, rowid) > (?, ?) ORDER BY createdAt, rowid LIMIT ?`;

/** The devices of an embedded store. */
export function embeddedDevices(db: Database): Calls<DeviceStore> {
  const count = (accountId: string, more: 1 | -1) => {
    const sql = `INSERT INTO device_counts (accountId, count) VALUES (?, ?)
      ON CONFLICT (accountId) DO UPDATE SET count = count + excluded.count`;
    db.run(sql, accountId, more);
  };
  return {
    putDevice: (device, limit = MAX_DEVICES) => {
      const { accountId, deviceId, deviceModelId } = device;
      if (!db.get('SELECT 1 FROM device_models WHERE id = ?', deviceModelId)) return 'missing';
      const move = 'UPDATE devices SET deviceModelId = ? WHERE accountId = ? AND deviceId = ?';
      if (db.run(move, deviceModelId, accountId, deviceId) === 1) return 'put';
      const counted = 'SELECT 1 FROM device_counts WHERE accountId = ? AND count >= ?';
      if (db.get(counted, accountId, limit)) return 'full';
      insertRow(db, 'devices', { ...device, problem: null });
      count(accountId, 1);
      return 'put';
    },
    device: (accountId, deviceId) => {
      const row = db.get<ListedRow>(`${listed('')} WHERE d.accountId = ? AND d.deviceId = ?`, accountId, deviceId);
      return row ? listedOf(row) : null;
    },
    devices: (accountId) =>
      db.all<Device>('SELECT * FROM devices WHERE accountId = ? ORDER BY createdAt, rowid', accountId),
    devicePage: (query) => {
      const place = (row: ListedRow) => [0, devicePlace(query, row.problem, row.d_id)] as const;
      return pageOf('devices', db.all<ListedRow>(deviceStatement(query)), query.limit, place, listedOf);
    },
    deleteDevice: (accountId, deviceId) => {
      const remove = 'DELETE FROM devices WHERE accountId = ? AND deviceId = ? RETURNING *';
      const [device = null] = db.all<Device>(remove, accountId, deviceId);
      if (device) count(accountId, -1);
      return device;
    },
  };
}

/** The beginning of a statement for devices, each with its open session or, without one, its newest. */
const listed = (
  index: string,
) => `SELECT s.*, d.accountId AS d_account, d.deviceId AS d_id, d.deviceModelId AS d_model, d.createdAt, d.problem
  FROM devices d ${index} LEFT JOIN sessions s ON s.n = ifnull(
    (SELECT n FROM sessions WHERE accountId = d.accountId AND deviceId = d.deviceId AND status = 'open'),
    (SELECT n FROM sessions WHERE accountId = d.accountId AND deviceId = d.deviceId
      ORDER BY startedAt DESC, id LIMIT 1))`;

/** The statement for a page of devices, one row longer than the page. Exported for the test of its index. */
export function deviceStatement(query: DeviceQuery): Statement {
  const { accountId, prefix, limit, cursor, withProblem } = query;
  const where = new Conditions().add('d.accountId = ?', accountId);
  if (prefix !== null) where.add('d.deviceId >= ? AND d.deviceId < ?', prefix, `${prefix}${AFTER_ALL}`);
  if (withProblem) where.add('d.problem IS NOT NULL');
  const [order, after] = withProblem ? ['d.problem, d.deviceId', '(?, ?)'] : ['d.deviceId', '?'];
  if (cursor !== null) where.add(`(${order}) > ${after}`, ...deviceCursor(query));
  const select = listed(withProblem ? 'INDEXED BY devices_with_problem' : '');
  return where.statement(select, `ORDER BY ${order} LIMIT ?`, limit + 1);
}

interface ModelRow {
  readonly id: string;
  readonly model: string;
}

interface ListedModelRow extends ModelRow {
  readonly rowid: number;
  readonly createdAt: number;
}

/** A device's columns beside those of its session, which are null without one. */
interface ListedRow extends SessionRow {
  readonly d_account: string;
  readonly d_id: string;
  readonly d_model: string;
  readonly createdAt: number;
  readonly problem: string | null;
}

function listedOf({ d_account, d_id, d_model, createdAt, problem, ...row }: ListedRow): ListedDevice {
  const session = row.id === null ? null : sessionOf(row);
  return { accountId: d_account, deviceId: d_id, deviceModelId: d_model, createdAt, problem, session };
}

const rowOf = rowReader<{ readonly id: string; readonly model: DeviceModel }>('device model', ['model']);
const modelOf = (row: ModelRow): DeviceModel => rowOf(row).model;
