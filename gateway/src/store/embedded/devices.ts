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
import type { Database, Value } from './database.js';
import type { Calls, DeviceModels } from './kinds.js';
import { insertRow, rowReader } from './rows.js';
import { type SessionRow, sessionOf } from './sessions.js';

/** Models read at once: one may have 33 KB, and each client that does not read its answer holds some of them. */
const BATCH = 4;

/** The device models of an embedded store; a model is one JSON text, which keeps all Unicode characters. */
export function embeddedDeviceModels(db: Database): Calls<DeviceModels> {
  const last = db.prepare('SELECT 1 FROM device_models WHERE accountId = ? LIMIT 1 OFFSET ?');
  const byId = db.prepare<ModelRow>('SELECT id, model FROM device_models WHERE id = ?');
  const page = db.prepare<ListedModelRow>(MODELS_PAGE);
  const replace = db.prepare('UPDATE device_models SET model = ? WHERE id = ? AND model = ?');
  const remove = db.prepare('DELETE FROM device_models WHERE id = ?');
  const reference = db.prepare('SELECT 1 FROM devices WHERE deviceModelId = ? LIMIT 1');
  const one = (row: ModelRow | undefined) => (row ? modelOf(row) : null);
  return {
    addDeviceModel: (model, limit = MAX_DEVICE_MODELS) => {
      if (last.get(model.accountId, limit - 1)) return false;
      const { id, accountId, createdAt } = model;
      return insertRow(db, 'device_models', { id, accountId, createdAt, model });
    },
    deviceModel: (id) => one(byId.get(id)),
    deviceModels: async function* (accountId) {
      const after = (row: ListedModelRow | null) =>
        db.read(() => page.all(accountId, row?.createdAt ?? -1, row?.rowid ?? -1, BATCH));
      for await (const rows of batches(accountId, BATCH, after)) yield rows.map(modelOf);
    },
    replaceDeviceModel: (model, by) => replace.run(JSON.stringify(by), model.id, JSON.stringify(model)) === 1,
    deleteDeviceModel: (id) => {
      if (reference.get(id)) return 'referenced';
      return remove.run(id) === 1 ? 'deleted' : 'missing';
    },
  };
}

/** The statement for a batch of an account's models. Exported for the test of its index. */
export const MODELS_PAGE = `SELECT rowid, id, createdAt, model FROM device_models
  WHERE accountId = ? AND (createdAt, rowid) > (?, ?) ORDER BY createdAt, rowid LIMIT ?`;

/** The devices of an embedded store. */
export function embeddedDevices(db: Database): Calls<DeviceStore> {
  const model = db.prepare('SELECT 1 FROM device_models WHERE id = ?');
  const byId = db.prepare<Device>('SELECT * FROM devices WHERE accountId = ? AND deviceId = ?');
  const withSession = db.prepare<ListedRow>(`${listed('')} WHERE d.accountId = ? AND d.deviceId = ?`);
  const move = db.prepare('UPDATE devices SET deviceModelId = ? WHERE accountId = ? AND deviceId = ?');
  const counted = db.prepare<{ count: number }>('SELECT count FROM device_counts WHERE accountId = ?');
  const count = db.prepare(
    `INSERT INTO device_counts (accountId, count) VALUES (?, ?)
     ON CONFLICT (accountId) DO UPDATE SET count = count + excluded.count`,
  );
  const ofAccount = db.prepare<Device>('SELECT * FROM devices WHERE accountId = ? ORDER BY createdAt, rowid');
  const remove = db.prepare('DELETE FROM devices WHERE accountId = ? AND deviceId = ?');
  return {
    putDevice: (d, limit = MAX_DEVICES) => {
      if (!model.get(d.deviceModelId)) return 'missing';
      if (move.run(d.deviceModelId, d.accountId, d.deviceId) === 1) return 'put';
      if ((counted.get(d.accountId)?.count ?? 0) >= limit) return 'full';
      insertRow(db, 'devices', { ...d, problem: null });
      count.run(d.accountId, 1);
      return 'put';
    },
    device: (accountId, deviceId) => {
      const row = withSession.get(accountId, deviceId);
      return row ? listedOf(row) : null;
    },
    devices: (accountId) => ofAccount.all(accountId),
    devicePage: (query) => {
      const { sql, values } = deviceStatement(query);
      const rows = db.prepare<ListedRow>(sql).all(...values);
      const place = (row: ListedRow) => [0, devicePlace(query, row.problem, row.d_id)] as const;
      return pageOf('devices', rows, query.limit, place, listedOf);
    },
    deleteDevice: (accountId, deviceId) => {
      const device = byId.get(accountId, deviceId);
      if (!device) return null;
      remove.run(accountId, deviceId);
      count.run(accountId, -1);
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
export function deviceStatement(query: DeviceQuery): { sql: string; values: Value[] } {
  const { accountId, prefix, limit, cursor, withProblem } = query;
  const where = ['d.accountId = ?'];
  const values: Value[] = [accountId];
  if (prefix !== null) {
    where.push('d.deviceId >= ? AND d.deviceId < ?');
    values.push(prefix, `${prefix}${AFTER_ALL}`);
  }
  const place = deviceCursor(query);
  if (withProblem) where.push('d.problem IS NOT NULL');
  if (cursor !== null) {
    where.push(withProblem ? '(d.problem, d.deviceId) > (?, ?)' : 'd.deviceId > ?');
    values.push(...place);
  }
  const order = withProblem ? 'd.problem, d.deviceId' : 'd.deviceId';
  const sql = `${listed(withProblem ? 'INDEXED BY devices_with_problem' : '')} WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, limit + 1] };
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
