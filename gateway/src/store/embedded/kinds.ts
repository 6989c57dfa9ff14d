import type { DeviceModel, DeviceModelStore, Store } from '../store.js';

/** All operations of one connection on the tables: the store's calls except those that need several connections. */
export type Tables = Omit<Store, 'changeDeviceModel' | 'commit' | 'probe' | 'close'> & DeviceModels & Commits & Probes;

export interface DeviceModels extends Omit<DeviceModelStore, 'changeDeviceModel'> {
  /** Replaces a model; returns false if it has changed meanwhile. */
  replaceDeviceModel(model: DeviceModel, by: DeviceModel): Promise<boolean>;
}

interface Commits {
  /** `Store.commit`, of the JSON of its parts: copying objects between threads costs ten times as much. */
  commitText(parts: string): Promise<Outcome[]>;
}

/** The outcome of a part of a commit; `existed` has the positions of its insights that existed already. */
export type Outcome =
  | { readonly lost: true }
  | { readonly lost: false; readonly existed: readonly number[]; readonly closed?: true };

export interface Probes {
  writeProbe(at: number): Promise<void>;
  /** Null if it was never written. */
  readProbe(): Promise<number | null>;
}

/** Of each operation, whether it writes, reads, or reads pages one by one. */
export const KINDS = {
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
  commitText: 'write',
  writeProbe: 'write',
  eraseReadings: 'write',
  eraseSession: 'write',
  eraseKeys: 'write',
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
} as const satisfies Readonly<Record<keyof Tables, 'write' | 'read' | 'pages'>>;

type Writing = { [Method in keyof Tables]: (typeof KINDS)[Method] extends 'write' ? Method : never }[keyof Tables];

/**
 * The operations as functions on a connection, in which those that write run within a transaction, and so return what they
 * found before another one runs.
 */
export type Calls<Operations> = {
  readonly [Method in keyof Operations]: Operations[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Method extends Writing ? Result : Result | Promise<Result>
    : Operations[Method];
};
