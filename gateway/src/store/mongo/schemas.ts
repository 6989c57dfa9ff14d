import type { Connection } from 'mongoose';
import { type AccountDocument, accounts } from './models/accounts.js';
import { type AuditDocument, audit } from './models/audit.js';
import { type BeatsDocument, beats } from './models/beats.js';
import { type CounterDocument, counters } from './models/counters.js';
import { type DeviceModelDocument, deviceModels } from './models/device-models.js';
import { type DeviceDocument, devices } from './models/devices.js';
import { type DiagnosticsDocument, diagnostics } from './models/diagnostics.js';
import { type GatewayDocument, gateways } from './models/gateways.js';
import { type IdempotencyDocument, idempotency } from './models/idempotency.js';
import { type InsightDocument, insights } from './models/insights.js';
import { type KeyDocument, keys } from './models/keys.js';
import { type LoginDocument, logins } from './models/logins.js';
import { type OperatorDocument, operators } from './models/operators.js';
import { type ProbeDocument, probes } from './models/probes.js';
import { type SessionDocument, sessions } from './models/sessions.js';

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
    beats: connection.model<BeatsDocument>('beats', beats, 'beats'),
    idempotency: connection.model<IdempotencyDocument>('idempotency', idempotency, 'idempotency'),
    counters: connection.model<CounterDocument>('counters', counters, 'counters'),
    probes: connection.model<ProbeDocument>('probes', probes, 'probes'),
  };
}

/** The version of this schema, which the store has in its probes. From the first release on, a start migrates earlier ones. */
const VERSION = 15;
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
