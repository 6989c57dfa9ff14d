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
import type { Database, Value } from './database.js';
import { fromJson } from './json.js';
import { type SessionRow, sessionOf } from './sessions.js';

export interface DeviceModels extends Omit<DeviceModelStore, 'changeDeviceModel'> {
  /** Replaces a model; returns false if it has changed meanwhile. */
  replaceDeviceModel(model: DeviceModel, by: DeviceModel): Promise<boolean>;
}

/** Models read at once: one may have 33 KB, and each client that does not read its answer holds some of them. */
const BATCH = 4;

/** The device models of an embedded store; a model is one JSON text, which keeps all Unicode characters. */
export function embeddedDeviceModels(db: Database): DeviceModels {
  const insert = db.prepare('INSERT INTO device_models (id, account_id, created_at, model) VALUES (?, ?, ?, ?)');
  const last = db.prepare('SELECT 1 FROM device_models WHERE account_id = ? LIMIT 1 OFFSET ?');
  const byId = db.prepare<ModelRow>('SELECT id, model FROM device_models WHERE id = ?');
  const page = db.prepare<ListedModelRow>(MODELS_PAGE);
  const replace = db.prepare('UPDATE device_models SET model = ? WHERE id = ? AND model = ?');
  const remove = db.prepare('DELETE FROM device_models WHERE id = ?');
  const reference = db.prepare('SELECT 1 FROM devices WHERE device_model_id = ? LIMIT 1');
  const one = (row: ModelRow | undefined) => (row ? modelOf(row) : null);
  return {
    addDeviceModel: (model, limit = MAX_DEVICE_MODELS) =>
      db.write(() => {
        if (last.get(model.accountId, limit - 1)) return false;
        insert.run(model.id, model.accountId, model.createdAt, JSON.stringify(model));
        return true;
      }),
    deviceModel: (id) => db.read(() => one(byId.get(id))),
    deviceModels: (accountId) =>
      modelsOf(accountId, (row) => db.read(() => page.all(accountId, row?.created_at ?? -1, row?.rowid ?? -1, BATCH))),
    replaceDeviceModel: (model, by) =>
      db.write(() => replace.run(JSON.stringify(by), model.id, JSON.stringify(model)) === 1),
    deleteDeviceModel: (id) =>
      db.write(() => {
        if (reference.get(id)) return 'referenced';
        return remove.run(id) === 1 ? 'deleted' : 'missing';
      }),
  };
}

/** The statement for a batch of an account's models. Exported for the test of its index. */
export const MODELS_PAGE = `SELECT rowid, id, created_at, model FROM device_models
  WHERE account_id = ? AND (created_at, rowid) > (?, ?) ORDER BY created_at, rowid LIMIT ?`;

async function* modelsOf(
  accountId: string,
  page: (after: ListedModelRow | null) => Promise<ListedModelRow[]>,
): AsyncGenerator<DeviceModel[]> {
  for await (const rows of batches(accountId, BATCH, page)) yield rows.map(modelOf);
}

/** The devices of an embedded store. */
export function embeddedDevices(db: Database): DeviceStore {
  const model = db.prepare('SELECT 1 FROM device_models WHERE id = ?');
  const byId = db.prepare<DeviceRow>('SELECT * FROM devices WHERE account_id = ? AND device_id = ?');
  const withSession = db.prepare<ListedRow>(`${listed('')} WHERE d.account_id = ? AND d.device_id = ?`);
  const insert = db.prepare(
    'INSERT INTO devices (account_id, device_id, device_model_id, created_at) VALUES (?, ?, ?, ?)',
  );
  const move = db.prepare('UPDATE devices SET device_model_id = ? WHERE account_id = ? AND device_id = ?');
  const counted = db.prepare<{ count: number }>('SELECT count FROM device_counts WHERE account_id = ?');
  const count = db.prepare(
    `INSERT INTO device_counts (account_id, count) VALUES (?, ?)
     ON CONFLICT (account_id) DO UPDATE SET count = count + excluded.count`,
  );
  const ofAccount = db.prepare<DeviceRow>('SELECT * FROM devices WHERE account_id = ? ORDER BY created_at, rowid');
  const remove = db.prepare('DELETE FROM devices WHERE account_id = ? AND device_id = ?');
  return {
    putDevice: (d, limit = MAX_DEVICES) =>
      db.write(() => {
        if (!model.get(d.deviceModelId)) return 'missing';
        if (move.run(d.deviceModelId, d.accountId, d.deviceId) === 1) return 'put';
        if ((counted.get(d.accountId)?.count ?? 0) >= limit) return 'full';
        insert.run(d.accountId, d.deviceId, d.deviceModelId, d.createdAt);
        count.run(d.accountId, 1);
        return 'put';
      }),
    device: (accountId, deviceId) =>
      db.read(() => {
        const row = withSession.get(accountId, deviceId);
        return row ? listedOf(row) : null;
      }),
    devices: (accountId) => db.read(() => ofAccount.all(accountId).map(deviceOf)),
    devicePage: async (query) => {
      const { sql, values } = deviceStatement(query);
      const rows = await db.read(() => db.prepare<ListedRow>(sql).all(...values));
      const place = (row: ListedRow) => [0, devicePlace(query, row.problem, row.d_id)] as const;
      return pageOf('devices', rows, query.limit, place, listedOf);
    },
    deleteDevice: (accountId, deviceId) =>
      db.write(() => {
        const row = byId.get(accountId, deviceId);
        if (!row) return null;
        remove.run(accountId, deviceId);
        count.run(accountId, -1);
        return deviceOf(row);
      }),
  };
}

/** The beginning of a statement for devices, each with its open session or, without one, its newest. */
const listed = (
  index: string,
) => `SELECT s.*, d.account_id AS d_account, d.device_id AS d_id, d.device_model_id AS d_model, d.created_at, d.problem
  FROM devices d ${index} LEFT JOIN sessions s ON s.n = ifnull(
    (SELECT n FROM sessions WHERE account_id = d.account_id AND device_id = d.device_id AND status = 'open'),
    (SELECT n FROM sessions WHERE account_id = d.account_id AND device_id = d.device_id
      ORDER BY started_at DESC, id LIMIT 1))`;

/** The statement for a page of devices, one row longer than the page. Exported for the test of its index. */
export function deviceStatement(query: DeviceQuery): { sql: string; values: Value[] } {
  const { accountId, prefix, limit, cursor, withProblem } = query;
  const where = ['d.account_id = ?'];
  const values: Value[] = [accountId];
  if (prefix !== null) {
    where.push('d.device_id >= ? AND d.device_id < ?');
    values.push(prefix, `${prefix}${AFTER_ALL}`);
  }
  const place = deviceCursor(query);
  if (withProblem) where.push('d.problem IS NOT NULL');
  if (cursor !== null) {
    where.push(withProblem ? '(d.problem, d.device_id) > (?, ?)' : 'd.device_id > ?');
    values.push(...place);
  }
  const order = withProblem ? 'd.problem, d.device_id' : 'd.device_id';
  const sql = `${listed(withProblem ? 'INDEXED BY devices_with_problem' : '')} WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, limit + 1] };
}

interface ModelRow {
  readonly id: string;
  readonly model: string;
}

interface ListedModelRow extends ModelRow {
  readonly rowid: number;
  readonly created_at: number;
}

interface DeviceRow {
  readonly account_id: string;
  readonly device_id: string;
  readonly device_model_id: string;
  readonly created_at: number;
  readonly problem: string | null;
}

/** A device's columns beside those of its session, which are null without one. */
interface ListedRow extends SessionRow {
  readonly d_account: string;
  readonly d_id: string;
  readonly d_model: string;
  readonly created_at: number;
  readonly problem: string | null;
}

function listedOf(row: ListedRow): ListedDevice {
  return {
    accountId: row.d_account,
    deviceId: row.d_id,
    deviceModelId: row.d_model,
    createdAt: row.created_at,
    problem: row.problem,
    session: row.id === null ? null : sessionOf(row),
  };
}

function modelOf(row: ModelRow): DeviceModel {
  return fromJson<DeviceModel>(row.model, `device model ${row.id}`);
}

function deviceOf(row: DeviceRow): Device {
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    deviceModelId: row.device_model_id,
    createdAt: row.created_at,
    problem: row.problem,
  };
}
