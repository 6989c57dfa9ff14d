import type { Store } from '../store.js';
import { embeddedAccounts, embeddedKeys } from './accounts.js';
import type { Database } from './database.js';
import { type DeviceModels, embeddedDeviceModels, embeddedDevices } from './devices.js';
import { embeddedErasure } from './erasure.js';
import { embeddedGateways } from './gateways.js';
import { embeddedIdempotency } from './idempotency.js';
import { embeddedInsights } from './insights.js';
import { embeddedAudit, embeddedOperators } from './operators.js';
import { embeddedSessions } from './sessions.js';

/** All operations of one connection on the tables: the store's calls except those that need several connections. */
export type Tables = Omit<Store, 'changeDeviceModel' | 'probe' | 'close'> & DeviceModels & Probes;

interface Probes {
  writeProbe(at: number): Promise<void>;
  /** Null if it was never written. */
  readProbe(): Promise<number | null>;
}

/** Of each operation, whether it writes, reads, or reads pages one by one. */
export const KINDS: Readonly<Record<keyof Tables, 'write' | 'read' | 'pages'>> = {
  createAccount: 'write',
  entitle: 'write',
  addKey: 'write',
  revokeKey: 'write',
  replaceKey: 'write',
  labelKey: 'write',
  touchKeys: 'write',
  forgetSubscribeKeys: 'write',
  addOperator: 'write',
  setOperatorPassword: 'write',
  removeOperator: 'write',
  addLogin: 'write',
  endLogin: 'write',
  audit: 'write',
  addDeviceModel: 'write',
  replaceDeviceModel: 'write',
  deleteDeviceModel: 'write',
  putDevice: 'write',
  deleteDevice: 'write',
  openSession: 'write',
  claimSession: 'write',
  closeSession: 'write',
  putDiagnostics: 'write',
  takenSessions: 'write',
  beat: 'write',
  forgetGateways: 'write',
  commit: 'write',
  writeProbe: 'write',
  eraseInsights: 'write',
  eraseBeats: 'write',
  eraseSession: 'write',
  eraseKeys: 'write',
  eraseHoldings: 'write',
  eraseAccount: 'write',
  claimIdempotencyKey: 'write',
  saveIdempotentResponse: 'write',
  releaseIdempotencyKey: 'write',
  account: 'read',
  accountNamed: 'read',
  accounts: 'read',
  key: 'read',
  keyByHash: 'read',
  keys: 'read',
  keysRevokedSince: 'read',
  keyPage: 'read',
  users: 'read',
  subscribeKeys: 'read',
  operatorNamed: 'read',
  operators: 'read',
  login: 'read',
  auditLog: 'read',
  signIns: 'read',
  deviceModel: 'read',
  device: 'read',
  devices: 'read',
  devicePage: 'read',
  session: 'read',
  openSessionOf: 'read',
  diagnostics: 'read',
  streamingDevices: 'read',
  sessions: 'read',
  openSessionsOfOthers: 'read',
  beats: 'read',
  serverTime: 'read',
  lastInsights: 'read',
  sessionSummary: 'read',
  insights: 'read',
  readProbe: 'read',
  deviceModels: 'pages',
  sessionInsights: 'pages',
  sessionBeats: 'pages',
};

/** The tables of a connection. */
export function tablesOn(db: Database): Tables {
  return {
    ...embeddedAccounts(db),
    ...embeddedKeys(db),
    ...embeddedOperators(db),
    ...embeddedAudit(db),
    ...embeddedDeviceModels(db),
    ...embeddedDevices(db),
    ...embeddedSessions(db),
    ...embeddedGateways(db),
    ...embeddedInsights(db),
    ...embeddedIdempotency(db),
    ...embeddedErasure(db),
    ...embeddedProbes(db),
  };
}

function embeddedProbes(db: Database): Probes {
  const write = db.prepare('INSERT OR REPLACE INTO probes (id, at) VALUES (1, ?)');
  const read = db.prepare<{ at: number }>('SELECT at FROM probes WHERE id = 1');
  return {
    writeProbe: (at) => db.write(() => void write.run(at)),
    readProbe: () => db.read(() => read.get()?.at ?? null),
  };
}
