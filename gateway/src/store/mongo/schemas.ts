import { type Connection, Schema, type Types } from 'mongoose';
import type { StoredInsight } from '../../insight.js';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency.js';
import type { Account, Device, DeviceModel, Key, SavedResponse, Session } from '../store.js';

/** A row as it lies in its collection: the id is `_id`. */
type Document<Row extends { id: string }> = Omit<Row, 'id'> & { _id: string };

export type AccountDocument = Document<Account>;
export type KeyDocument = Document<Key>;
/** `revision` counts the changes: a change is written where it is still the one that was read. `touched` counts devices. */
export type DeviceModelDocument = Document<DeviceModel> & { revision: number; touched: number };
export type DeviceDocument = Device;
export type SessionDocument = Document<Session> & {
  /** From whom it was taken, when, and the taker's epoch. */
  takeovers: { gateway: string; at: number; epoch: number }[];
  /** Counts the commits, so that a claim and a commit cannot both happen unseen. */
  commits: number;
};
export interface GatewayDocument {
  _id: string;
  beat: number;
}
/** The scope of its session comes with it, for the lists. */
export type InsightDocument = StoredInsight & { _id: Types.ObjectId; accountId: string; user: string | null };
export interface IdempotencyDocument {
  accountId: string;
  route: string;
  key: string;
  bodyHash: string;
  at: number;
  response: SavedResponse | null;
  expireAt: Date;
}
export interface ProbeDocument {
  _id: string;
  at: number;
}

/** When MongoDB may remove an idempotency key claimed at `at` (ms). */
export function expiryOf(at: number): Date {
  return new Date(at + IDEMPOTENCY_KEPT_MS);
}

const OPTIONS = { strict: 'throw', strictQuery: 'throw', versionKey: false, minimize: false, id: false } as const;
const PART = { ...OPTIONS, _id: false } as const;

const accounts = new Schema<AccountDocument>(
  { _id: String, name: String, algorithms: { type: [String], default: null }, createdAt: Number },
  OPTIONS,
);
accounts.index({ name: 1 }, { unique: true });

const keys = new Schema<KeyDocument>(
  {
    ...{ _id: String, accountId: String, user: String, hash: String, prefix: String, lastFour: String },
    ...{ createdAt: Number, lastUsedAt: Number, revokedAt: Number },
  },
  OPTIONS,
);
keys.index({ hash: 1 }, { unique: true });
keys.index({ accountId: 1, createdAt: 1, _id: 1 });
keys.index({ revokedAt: 1 }, { partialFilterExpression: { revokedAt: { $gt: 0 } } });

const channel = new Schema(
  { ch_id: String, modality: String, sample_rate_hz: Number, bit_depth: Number, num_channels: Number },
  PART,
);

const deviceModels = new Schema<DeviceModelDocument>(
  {
    ...{ _id: String, accountId: String, name: String, description: String, firmwareVersion: String },
    ...{ channels: [channel], spo2Curve: { type: [Number], default: null }, createdAt: Number, updatedAt: Number },
    ...{ revision: Number, touched: Number },
  },
  OPTIONS,
);
deviceModels.index({ accountId: 1, createdAt: 1, _id: 1 });

const devices = new Schema<DeviceDocument>(
  { accountId: String, deviceId: String, deviceModelId: String, createdAt: Number },
  OPTIONS,
);
devices.index({ accountId: 1, deviceId: 1 }, { unique: true });
devices.index({ accountId: 1, createdAt: 1, _id: 1 });
devices.index({ deviceModelId: 1 });

const progress = new Schema(
  {
    ...{ clockShift: Number, originWithoutClock: Number, firstInstant: Number, lastDataAt: Number },
    nextSeq: Schema.Types.Mixed,
  },
  PART,
);

const sessions = new Schema<SessionDocument>(
  {
    ...{ _id: String, accountId: String, user: String, deviceId: String, deviceModelId: String, status: String },
    ...{ startedAt: Number, endedAt: Number, gateway: String, epoch: Number, channels: [channel] },
    ...{ spo2Curve: { type: [Number], default: null }, algorithms: { type: [String], default: null }, progress },
    takeovers: [new Schema({ gateway: String, at: Number, epoch: Number }, PART)],
    commits: Number,
  },
  OPTIONS,
);
sessions.index({ accountId: 1, deviceId: 1 }, { unique: true, partialFilterExpression: { status: 'open' } });
sessions.index({ status: 1, gateway: 1 }, { partialFilterExpression: { status: 'open' } });
sessions.index({ 'takeovers.gateway': 1, 'takeovers.at': 1 });
sessions.index({ accountId: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, status: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, user: 1, startedAt: -1, _id: 1 });

const gateways = new Schema<GatewayDocument>({ _id: String, beat: Number }, OPTIONS);
gateways.index({ beat: 1 });

const insights = new Schema<InsightDocument>(
  {
    ...{ _id: Schema.Types.ObjectId, accountId: String, user: String, session_id: String, device_id: String },
    ...{ type: { type: String }, value: Number, unit: String, ts: Number, confidence: Number, sqi_class: String },
    ...{ actual_start: Number, actual_end: Number, coverage: Number, e2e_latency_ms: Number, algorithm: String },
  },
  OPTIONS,
);
insights.index({ session_id: 1, actual_end: 1, type: 1 }, { unique: true });
insights.index({ session_id: 1, type: 1, ts: 1 }, { unique: true });
insights.index({ session_id: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, user: 1, ts: 1, _id: 1 });

const idempotency = new Schema<IdempotencyDocument>(
  {
    ...{ accountId: String, route: String, key: String, bodyHash: String, at: Number, expireAt: Date },
    response: new Schema({ status: Number, body: String }, PART),
  },
  OPTIONS,
);
idempotency.index({ accountId: 1, route: 1, key: 1 }, { unique: true });
idempotency.index({ expireAt: 1 }, { expireAfterSeconds: 0 });

const probes = new Schema<ProbeDocument>({ _id: String, at: Number }, OPTIONS);

export type Models = Awaited<ReturnType<typeof modelsOn>>;

/** The collections of a store, with their indexes, made where they are missing. */
export async function modelsOn(connection: Connection) {
  const models = {
    accounts: connection.model<AccountDocument>('accounts', accounts, 'accounts'),
    keys: connection.model<KeyDocument>('keys', keys, 'keys'),
    deviceModels: connection.model<DeviceModelDocument>('device_models', deviceModels, 'device_models'),
    devices: connection.model<DeviceDocument>('devices', devices, 'devices'),
    sessions: connection.model<SessionDocument>('sessions', sessions, 'sessions'),
    gateways: connection.model<GatewayDocument>('gateways', gateways, 'gateways'),
    insights: connection.model<InsightDocument>('insights', insights, 'insights'),
    idempotency: connection.model<IdempotencyDocument>('idempotency', idempotency, 'idempotency'),
    probes: connection.model<ProbeDocument>('probes', probes, 'probes'),
  };
  for (const model of Object.values(models)) {
    await model.createCollection();
    await model.createIndexes();
  }
  return models;
}
