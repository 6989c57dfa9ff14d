import { type Connection, Schema, type Types } from 'mongoose';
import type { StoredInsight } from '../../insight.js';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency.js';
import type {
  Account,
  AuditEntry,
  Device,
  DeviceModel,
  Diagnostics,
  Key,
  Login,
  Operator,
  SavedResponse,
  Session,
} from '../store.js';

/** A row in its collection: the id is `_id`. */
type Document<Row extends { id: string }> = Omit<Row, 'id'> & { _id: string };

export type AccountDocument = Document<Account>;
export type KeyDocument = Document<Key>;
export type OperatorDocument = Document<Operator>;
export type LoginDocument = Omit<Login, 'hash'> & { _id: string };
/** `n` counts the entries. */
export type AuditDocument = AuditEntry & { n: number };
/**
 * `revision` counts the changes: a change is written only if the revision is still the one that was read. `touched`
 * changes with each device row that comes to refer to the model, so that a concurrent deletion conflicts.
 */
export type DeviceModelDocument = Document<DeviceModel> & { revision: number; touched: number };
export type DeviceDocument = Device;
export interface DiagnosticsDocument {
  readonly _id: string;
  readonly diagnostics: Diagnostics;
}
export type SessionDocument = Document<Session> & {
  /** The gateway from which the session was taken, and the taker's epoch, until that gateway has been told. */
  takeovers: { gateway: string; epoch: number }[];
  /** Counts the commits, so that a claim and a concurrent commit conflict. */
  commits: number;
};
export interface GatewayDocument {
  _id: string;
  beat: number;
  /** UUID of the server session of its commits; absent for a gateway of an earlier release. */
  commitSession?: string;
}
/** The scope of its session, copied for the lists. */
export type InsightDocument = StoredInsight & { _id: Types.ObjectId; accountId: string; user: string | null };
export interface IdempotencyDocument {
  accountId: string;
  route: string;
  key: string;
  bodyHash: string;
  at: number;
  response: SavedResponse | null;
  expireAt: Date;
  /** Its number within its account. */
  n: number;
}
/** The last probe, and, as `at`, the version of the schema. */
export interface ProbeDocument {
  _id: string;
  at: number;
}

/** The number of objects of a kind that an account has ever had, or, of devices, has now: `_id` holds both. */
interface CounterDocument {
  _id: string;
  count: number;
}

/** Time at which MongoDB may remove an idempotency key claimed at `at` (ms). */
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
    _id: String,
    accountId: String,
    user: String,
    hash: String,
    prefix: String,
    lastFour: String,
    createdAt: Number,
    lastUsedAt: Number,
    revokedAt: Number,
    expiresAt: Number,
    subscribeOnly: Boolean,
    replacedBy: String,
    permissions: [String],
    label: String,
  },
  OPTIONS,
);
keys.index({ hash: 1 }, { unique: true });
keys.index({ accountId: 1, createdAt: 1, _id: 1 });
keys.index({ accountId: 1, createdAt: -1, _id: 1 });
keys.index({ accountId: 1, user: 1, lastUsedAt: 1 });
keys.index({ expiresAt: 1, replacedBy: 1 }, { partialFilterExpression: { replacedBy: { $gt: '' } } });
keys.index({ expiresAt: 1 }, { partialFilterExpression: { subscribeOnly: true } });
keys.index({ revokedAt: 1 }, { partialFilterExpression: { revokedAt: { $gt: 0 } } });

const operators = new Schema<OperatorDocument>(
  { _id: String, name: String, role: String, password: String, revision: Number, createdAt: Number },
  OPTIONS,
);
operators.index({ name: 1 }, { unique: true });

const logins = new Schema<LoginDocument>(
  { _id: String, operatorId: String, revision: Number, createdAt: Number, expiresAt: Number },
  OPTIONS,
);
logins.index({ expiresAt: 1 });

const audit = new Schema<AuditDocument>(
  { n: Number, at: Number, actor: String, action: String, accountId: String, subject: String },
  OPTIONS,
);
audit.index({ n: -1 }, { unique: true });
audit.index({ action: 1, n: 1 });

const channel = new Schema(
  { ch_id: String, modality: String, sample_rate_hz: Number, bit_depth: Number, num_channels: Number },
  PART,
);

const deviceModels = new Schema<DeviceModelDocument>(
  {
    _id: String,
    accountId: String,
    name: String,
    description: String,
    firmwareVersion: String,
    channels: [channel],
    spo2Curve: { type: [Number], default: null },
    createdAt: Number,
    updatedAt: Number,
    revision: Number,
    touched: Number,
  },
  OPTIONS,
);
deviceModels.index({ accountId: 1, createdAt: 1, _id: 1 });

const devices = new Schema<DeviceDocument>(
  { accountId: String, deviceId: String, deviceModelId: String, createdAt: Number, problem: String },
  OPTIONS,
);
devices.index({ accountId: 1, deviceId: 1 }, { unique: true });
devices.index({ accountId: 1, createdAt: 1, _id: 1 });
devices.index({ deviceModelId: 1 });
devices.index({ accountId: 1, problem: 1, deviceId: 1 }, { partialFilterExpression: { problem: { $gt: '' } } });

const progress = new Schema(
  {
    clockShift: Number,
    originWithoutClock: Number,
    firstInstant: Number,
    lastInstant: Number,
    lastDataAt: Number,
    handedOverBy: Number,
    nextSeq: Schema.Types.Mixed,
    counted: Schema.Types.Mixed,
    slips: Schema.Types.Mixed,
  },
  PART,
);

const sessions = new Schema<SessionDocument>(
  {
    _id: String,
    accountId: String,
    user: String,
    deviceId: String,
    deviceModelId: String,
    status: String,
    startedAt: Number,
    endedAt: Number,
    gateway: String,
    epoch: Number,
    channels: [channel],
    spo2Curve: { type: [Number], default: null },
    algorithms: { type: [String], default: null },
    progress,
    takeovers: [new Schema({ gateway: String, epoch: Number }, PART)],
    commits: Number,
  },
  OPTIONS,
);
sessions.index({ accountId: 1, deviceId: 1 }, { unique: true, partialFilterExpression: { status: 'open' } });
sessions.index({ status: 1, gateway: 1 }, { partialFilterExpression: { status: 'open' } });
sessions.index({ 'takeovers.gateway': 1 });
sessions.index({ accountId: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, status: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, user: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, deviceId: 1, startedAt: -1, _id: 1 });

const diagnostics = new Schema<DiagnosticsDocument>({ _id: String, diagnostics: Schema.Types.Mixed }, OPTIONS);

const gateways = new Schema<GatewayDocument>({ _id: String, beat: Number, commitSession: String }, OPTIONS);
gateways.index({ beat: 1 });

const insights = new Schema<InsightDocument>(
  {
    _id: Schema.Types.ObjectId,
    accountId: String,
    user: String,
    session_id: String,
    device_id: String,
    type: { type: String },
    value: Number,
    unit: String,
    ts: Number,
    confidence: Number,
    sqi_class: String,
    actual_start: Number,
    actual_end: Number,
    coverage: Number,
    e2e_latency_ms: Number,
    algorithm: String,
  },
  OPTIONS,
);
insights.index({ session_id: 1, actual_end: 1, type: 1 }, { unique: true });
insights.index({ session_id: 1, type: 1, ts: 1 }, { unique: true });
insights.index({ session_id: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, user: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, device_id: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, user: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, device_id: 1, ts: 1, _id: 1 });

const idempotency = new Schema<IdempotencyDocument>(
  {
    accountId: String,
    route: String,
    key: String,
    bodyHash: String,
    at: Number,
    expireAt: Date,
    n: Number,
    response: new Schema({ status: Number, body: String }, PART),
  },
  OPTIONS,
);
idempotency.index({ accountId: 1, route: 1, key: 1 }, { unique: true });
idempotency.index({ accountId: 1, n: 1 });
idempotency.index({ expireAt: 1 }, { expireAfterSeconds: 0 });

const probes = new Schema<ProbeDocument>({ _id: String, at: Number }, OPTIONS);

const counters = new Schema<CounterDocument>({ _id: String, count: Number }, OPTIONS);

export type Models = ReturnType<typeof modelsOn>;

/** The collections of a store. */
export function modelsOn(connection: Connection) {
  return {
    accounts: connection.model<AccountDocument>('accounts', accounts, 'accounts'),
    diagnostics: connection.model<DiagnosticsDocument>('diagnostics', diagnostics, 'diagnostics'),
    keys: connection.model<KeyDocument>('keys', keys, 'keys'),
    operators: connection.model<OperatorDocument>('operators', operators, 'operators'),
    logins: connection.model<LoginDocument>('logins', logins, 'logins'),
    audit: connection.model<AuditDocument>('audit', audit, 'audit'),
    deviceModels: connection.model<DeviceModelDocument>('device_models', deviceModels, 'device_models'),
    devices: connection.model<DeviceDocument>('devices', devices, 'devices'),
    sessions: connection.model<SessionDocument>('sessions', sessions, 'sessions'),
    gateways: connection.model<GatewayDocument>('gateways', gateways, 'gateways'),
    insights: connection.model<InsightDocument>('insights', insights, 'insights'),
    idempotency: connection.model<IdempotencyDocument>('idempotency', idempotency, 'idempotency'),
    counters: connection.model<CounterDocument>('counters', counters, 'counters'),
    probes: connection.model<ProbeDocument>('probes', probes, 'probes'),
  };
}

/** The version of this schema, which the store has in its probes. From the first release on, a start migrates earlier ones. */
const VERSION = 13;
const SCHEMA = 'schema';

/** Makes the collections and indexes that are missing. Rejects, without changes, if the store has another schema. */
export async function makeSchema(models: Models): Promise<void> {
  const { probes } = models;
  const found = await probes.findById(SCHEMA);
  if (found) refuseOther(found.at);
  for (const model of Object.values(models)) {
    await model.createCollection();
    await model.createIndexes();
  }
  await probes.updateOne({ _id: SCHEMA }, { $set: { at: VERSION } }, { upsert: true });
}

/** Rejects if the store has another schema, or none. */
export async function assertSchema({ probes }: Models): Promise<void> {
  const found = await probes.findById(SCHEMA);
  if (!found)
    throw new Error('this database has no store yet: start the service, which makes it, or check MONGODB_URI');
  refuseOther(found.at);
}

function refuseOther(version: number): void {
  if (version === VERSION) return;
  throw new Error(
    `the store has another schema (${version}; this version has ${VERSION}): run the version of the service that made it`,
  );
}
