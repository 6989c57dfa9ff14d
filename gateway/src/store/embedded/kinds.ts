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

/** The operations that write; the others read, on a connection on which SQLite refuses a write. */
export const WRITES = [
  'createAccount',
  'entitle',
  'addKey',
  'revokeKey',
  'replaceKey',
  'labelKey',
  'touchKeys',
  'forgetSubscribeKeys',
  'addOperator',
  'setOperatorPassword',
  'removeOperator',
  'addLogin',
  'endLogin',
  'audit',
  'addDeviceModel',
  'replaceDeviceModel',
  'deleteDeviceModel',
  'putDevice',
  'deleteDevice',
  'openSession',
  'claimSession',
  'closeSession',
  'putDiagnostics',
  'takenSessions',
  'beat',
  'forgetGateways',
  'commitText',
  'writeProbe',
  'eraseReadings',
  'eraseSession',
  'eraseKeys',
  'eraseAccount',
  'claimIdempotencyKey',
  'saveIdempotentResponse',
  'releaseIdempotencyKey',
] as const satisfies (keyof Tables)[];

/**
 * The operations as functions on a connection, in which those that write run within a transaction, and so return what they
 * found before another one runs.
 */
export type Calls<Operations> = {
  readonly [Method in keyof Operations]: Operations[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Method extends (typeof WRITES)[number] ? Result : Result | Promise<Result>
    : Operations[Method];
};
