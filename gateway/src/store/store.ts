import type { Permission } from '@device-insights/fanout';
import type { InsightType, SqiClass, StoredInsight } from '../insight.js';

/** Number of take-overs of a session that are remembered until the previous gateway asks for them. */
export const TAKEOVERS_KEPT = 20;

/**
 * The store: all data that must outlive a process. Two implementations (embedded SQLite, MongoDB) run one conformance
 * suite (`suite.ts`). Times are ms since the epoch; ids are lower-case UUIDs created by the caller unless stated
 * otherwise. If the store cannot serve a call now (down, busy, damaged), the call rejects with `StoreUnavailable`:
 * nothing of it is done, or, if only the answer was lost, all of it. If the store refuses a call for its contents, it
 * rejects with `StoreRefused`. Any other error is a fault of the program, and not a reason to give up the data.
 */
export interface Store {
  // -- accounts and keys
  /** Creates an account; null if the name is taken. `algorithms` null: entitled to all, including later ones. */
  createAccount(account: Account): Promise<Account | null>;
  account(id: string): Promise<Account | null>;
  accountNamed(name: string): Promise<Account | null>;
  accounts(): Promise<Account[]>;
  entitle(id: string, algorithms: readonly string[] | null): Promise<Account | null>;

  addKey(key: Key): Promise<void>;
  key(id: string): Promise<Key | null>;
  /** The key with that hash, revoked or not. */
  keyByHash(hash: string): Promise<Key | null>;
  /** Oldest first; the keys of one account or, with null, of all accounts. */
  keys(accountId: string | null): Promise<Key[]>;
  /**
   * Marks it revoked (once: the first time is kept) and returns it; null if it does not exist. If `at` lies before the
   * newest revocation, as after a clock was set back, the time of that revocation is used: no revocation is ever
   * inserted before another.
   */
  revokeKey(id: string, at: number): Promise<Key | null>;
  /**
   * Adds `by` as the replacement of a key, which then expires at `expiresAt` or at its own expiry. Returns false,
   * without changes, if the key is revoked, had expired when `by` was created, or is already replaced.
   */
  replaceKey(id: string, by: Key, expiresAt: number): Promise<boolean>;
  /** Keys that were replaced, had expired at a given time and are not revoked yet. */
  replacedKeys(at: number): Promise<Key[]>;
  /** Keys revoked at or after a given time: polled once a second by every gateway. */
  keysRevokedSince(at: number): Promise<Key[]>;
  /** Sets the label of a key and returns it; null if it does not exist. */
  labelKey(id: string, label: string): Promise<Key | null>;
  /** Sets `last_used_at` of the keys (called at most once a minute and key). */
  touchKeys(ids: readonly string[], at: number): Promise<void>;
  /** Newest first, without the keys that may only subscribe; a page starts after the cursor. */
  keyPage(query: KeyQuery): Promise<Page<Key>>;
  /** The users that keys of an account are bound to, by name; a page starts after the cursor. */
  users(query: UserQuery): Promise<Page<User>>;
  /** Deletes the keys that may only subscribe and expired before a given time. */
  forgetSubscribeKeys(before: number): Promise<void>;

  // -- operators of the dashboard
  /** Adds an operator; false if the name is taken. */
  addOperator(operator: Operator): Promise<boolean>;
  operatorNamed(name: string): Promise<Operator | null>;
  /** All operators, by name. */
  operators(): Promise<Operator[]>;
  /**
   * Sets another password for an operator and increments its `revision`, which ends all its logins; null if it does not
   * exist.
   */
  setOperatorPassword(id: string, password: string): Promise<Operator | null>;
  removeOperator(id: string): Promise<Operator | null>;
  /** Adds a login, and deletes those that had expired when it was created. */
  addLogin(login: Login): Promise<void>;
  /**
   * The operator whose login has that hash: null if there is no such login, or if it ended with its operator or
   * password.
   */
  login(hash: string): Promise<{ readonly login: Login; readonly operator: Operator } | null>;
  endLogin(hash: string): Promise<void>;
  /**
   * Adds an entry to the audit log, which keeps the newest `keep` sign-ins (default `SIGN_INS_KEPT`), and of the other
   * entries the newest `keep` (default `AUDIT_KEPT`), so that many sign-ins push out no change.
   */
  audit(entry: AuditEntry, keep?: number): Promise<void>;
  /** Newest first; a page starts after the cursor. */
  auditLog(query: AuditQuery): Promise<Page<AuditEntry>>;

  // -- device models and devices
  /**
   * Adds a model; returns false, without changes, if its account has `limit` models already (atomic with the check).
   */
  addDeviceModel(model: DeviceModel, limit?: number): Promise<boolean>;
  deviceModel(id: string): Promise<DeviceModel | null>;
  /**
   * All models of an account, oldest first, in batches of at most about 1 MB, without holding all of them in memory.
   */
  deviceModels(accountId: string): AsyncIterable<DeviceModel[]>;
  /**
   * Reads, changes and writes a model atomically: `change` is pure, may run again if another writer was faster, and may
   * throw, which changes nothing and rejects with its error. Null if the model does not exist.
   */
  changeDeviceModel(id: string, change: (model: DeviceModel) => DeviceModel): Promise<DeviceModel | null>;
  /** Deletes a model unless a device row references it (atomic with the check). */
  deleteDeviceModel(id: string): Promise<'deleted' | 'referenced' | 'missing'>;

  /**
   * Creates the device row of (account, device id), or moves it to this model. Atomic with the checks that the model
   * exists, and, for a new row, that its account has fewer than `limit`; otherwise nothing is changed.
   */
  putDevice(device: Device, limit?: number): Promise<'put' | 'missing' | 'full'>;
  device(accountId: string, deviceId: string): Promise<ListedDevice | null>;
  devices(accountId: string): Promise<Device[]>;
  /** By device id, or by problem; a page starts after the cursor. One query, however many rows a page has. */
  devicePage(query: DeviceQuery): Promise<Page<ListedDevice>>;
  /** The first devices with an open session, by device id, each with the diagnostics of that session. One query. */
  streamingDevices(query: StreamingQuery): Promise<StreamingDevice[]>;
  deleteDevice(accountId: string, deviceId: string): Promise<Device | null>;

  // -- sessions: one owner each, changed by compare-and-set
  /** Opens a session; false if (account, device id) already has an open one. */
  openSession(session: Session): Promise<boolean>;
  session(id: string): Promise<Session | null>;
  openSessionOf(accountId: string, deviceId: string): Promise<Session | null>;
  /**
   * Gives an open session to `gateway`: sets it as owner with epoch `epoch + 1`, if the row's epoch is still `epoch`.
   * Null if another gateway was faster, or the session is closed.
   */
  claimSession(id: string, epoch: number, gateway: string): Promise<Session | null>;
  /**
   * Closes an open session if its epoch is still `epoch`; otherwise returns false. With `endedAt` null it has received no
   * data: its row is deleted, unless it has insights.
   */
  closeSession(id: string, epoch: number, endedAt: number | null): Promise<boolean>;
  /**
   * Sessions that were taken over from this gateway since its last call, of the newest 20 take-overs of each session;
   * `epoch` is the new owner's.
   */
  takenSessions(gateway: string): Promise<{ id: string; epoch: number }[]>;
  /** Open sessions whose owner is none of these gateways, oldest first. */
  openSessionsOfOthers(gateways: readonly string[]): Promise<Session[]>;
  /**
   * Keeps the diagnostics of a session, and the problem of its device, while the session has this owner and epoch; otherwise changes
   * nothing.
   */
  putDiagnostics(diagnosis: Diagnosis): Promise<void>;
  /** The last diagnostics of a session; null if there are none. */
  diagnostics(sessionId: string): Promise<Diagnostics | null>;
  /** Newest `started_at` first, then id; a page starts after the cursor. */
  sessions(query: SessionQuery): Promise<Page<Session>>;
  /** Writes the heartbeat of this gateway; called once a second. */
  beat(gateway: string, at: number): Promise<void>;
  /** The newest heartbeat of each gateway that was not forgotten. */
  beats(): Promise<ReadonlyMap<string, number>>;
  /** Deletes the heartbeats older than `before`. A gateway that is alive writes its own again. */
  forgetGateways(before: number): Promise<void>;

  // -- insights
  /**
   * Writes a group as one transaction with the ownership check: if a part's session no longer has its owner and epoch,
   * the whole part is dropped and reported as lost. A session that was closed meanwhile takes the part from its last
   * owner, with the arrival of the last data as its end, and is reported as closed: another gateway had taken the owner for
   * dead. The insights of a session and type come in the order of their windows, with increasing `ts`: one whose
   * (session, type, actual_end) or (session, type, ts) exists already is left out of `written`.
   * `progress` is written in the same transaction.
   */
  commit(parts: readonly SessionCommit[]): Promise<SessionCommitResult[]>;
  /** Newest `ts` and `actual_end` per type of a session. */
  lastInsights(sessionId: string): Promise<LastInsights>;
  /**
   * All insights of a session, or those whose `actual_end` is `from` or later, ordered by `actual_end`, then `ts`, in
   * batches, without holding all of them in memory.
   */
  sessionInsights(sessionId: string, from?: number): AsyncIterable<StoredInsight[]>;
  /** What the readings of a session come to, type by type, in the order of the types' names. Computed by the store. */
  sessionSummary(sessionId: string): Promise<InsightSummary[]>;
  /**
   * Ordered by (`ts`, an id of the store), with a bound of data time by (`actual_end`, `ts`, id). With a lower bound of the
   * time that orders them: ascending from there on; without: the last ones before the upper bound, also in ascending order.
   */
  insights(query: InsightQuery, signal?: AbortSignal): Promise<Page<StoredInsight>>;

  // -- erasure: in parts, each short enough that others do not wait for it
  /** Deletes at most `most` insights; how many it found. Fewer than `most`: none is left. */
  eraseInsights(which: ErasedInsights, most: number): Promise<number>;
  /**
   * Deletes the row of a closed session that has no insights any more; it cannot get new ones afterwards. False if
   * there is no such session.
   */
  eraseSession(id: string): Promise<boolean>;
  /** Deletes at most `most` revoked keys of one user of an account, or, with null, of the account; how many it found. */
  eraseKeys(accountId: string, user: string | null, most: number): Promise<number>;
  /**
   * Deletes at most `most` devices, device models and idempotency keys of an account that has no sessions any more; how
   * many it found. A device is deleted before its model.
   */
  eraseHoldings(accountId: string, most: number): Promise<number>;
  /** Deletes an account that has no sessions any more, with all that is left of it; null if there is no such account. */
  eraseAccount(id: string): Promise<Account | null>;

  // -- the rest
  /**
   * Claims (account, route, key) for a request with this body hash. The answer is `fresh` for the first request, the
   * first one's `response` once it exists, `conflict` for another body, and `pending` while the first request runs (for
   * at most a minute). Rows are kept for 24 h, and for each account only the `keep` (default 10,000) newest claims.
   */
  claimIdempotencyKey(claim: IdempotencyClaim, keep?: number): Promise<IdempotencyState>;
  saveIdempotentResponse(claim: IdempotencyClaim, response: SavedResponse): Promise<void>;
  /** Releases the claim of a request that failed without effect. */
  releaseIdempotencyKey(claim: IdempotencyClaim): Promise<void>;
  /** Writes and reads back; rejects if the store does not work. */
  probe(at: number): Promise<void>;
  close(): Promise<void>;
}

/** The store does not answer now; the call should be retried. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The store refuses a call for its contents, and would refuse it again. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** Device models that an account can have. */
export const MAX_DEVICE_MODELS = 10_000;

/** Devices that an account can have. */
export const MAX_DEVICES = 100_000;

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Slugs; null means all. */
  readonly algorithms: readonly string[] | null;
  readonly createdAt: number;
}

export interface Key {
  readonly id: string;
  readonly accountId: string;
  /** The user it is bound to; null for a key that sees the whole account. */
  readonly user: string | null;
  /** SHA-256 of the whole key, hex. The key itself is not stored. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  /** From this time on the key is invalid; null means never. */
  readonly expiresAt: number | null;
  readonly permissions: readonly Permission[];
  /** Chosen by an operator, up to 100 characters; "" for none. */
  readonly label: string;
  /** Whether it is valid only for the subscriber sockets: the dashboard shows live readings with such a key. */
  readonly subscribeOnly: boolean;
  /** Id of the key that replaced it; null if none. */
  readonly replacedBy: string | null;
}

export interface KeyQuery extends Scope {
  readonly limit: number;
  readonly cursor: string | null;
}

export interface UserQuery {
  readonly accountId: string;
  readonly limit: number;
  readonly cursor: string | null;
}

/** A user of an account, as known from its keys. */
export interface User {
  readonly user: string;
  /** Number of keys issued for the user, including those that are no longer valid. */
  readonly keys: number;
  readonly lastUsedAt: number | null;
}

/** Rights of an operator in the dashboard: full, or read-only. */
export type Role = 'operator' | 'viewer';

/** A person who can sign in to the dashboard. */
export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The password's scrypt hash with its salt and costs. The password itself is not stored. */
  readonly password: string;
  /** Counts the passwords, from 1. */
  readonly revision: number;
  readonly createdAt: number;
}

/** One signed-in browser. */
export interface Login {
  /** SHA-256 of the cookie's token, hex. The token itself is not stored. */
  readonly hash: string;
  readonly operatorId: string;
  /** The operator's revision at the sign-in. */
  readonly revision: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** An entry of the audit log: an operation of an operator. */
export interface AuditEntry {
  readonly at: number;
  /** Name of the operator, or of the program. */
  readonly actor: string;
  /** The operation, such as `key issued`. */
  readonly action: string;
  readonly accountId: string | null;
  /** The object of the operation, in words that people recognize. */
  readonly subject: string;
}

/** The action of an entry that is a sign-in; all others are changes. */
export const SIGNED_IN = 'signed in';

/** Numbers of changes and of sign-ins that the audit log keeps. */
export const AUDIT_KEPT = 100_000;
export const SIGN_INS_KEPT = 1000;

interface AuditQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

export interface ModalityChannel {
  readonly ch_id: string;
  readonly modality: string;
  readonly sample_rate_hz: number;
  readonly bit_depth: number;
  readonly num_channels: number;
}

export interface DeviceModel {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly firmwareVersion: string;
  readonly channels: readonly ModalityChannel[];
  /** Coefficients a, b[, c] of SpO2 = a + b R + c R²; null if the model has no curve. */
  readonly spo2Curve: readonly number[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Device {
  readonly accountId: string;
  readonly deviceId: string;
  readonly deviceModelId: string;
  readonly createdAt: number;
  /** The code of the problem of its newest data; null for none. */
  readonly problem: string | null;
}

/** A device with its open session or, without one, its newest; null if it has none. */
export interface ListedDevice extends Device {
  readonly session: Session | null;
}

export interface StreamingDevice {
  readonly deviceId: string;
  readonly sessionId: string;
  readonly diagnostics: Diagnostics | null;
}

export interface StreamingQuery {
  readonly accountId: string;
  /** The beginning of the device ids; null for any. */
  readonly prefix: string | null;
  readonly limit: number;
}

export interface DeviceQuery {
  readonly accountId: string;
  /** Only devices with a problem, in the order of its code, then by device id. */
  readonly withProblem?: boolean;
  /** The beginning of the device ids; null for any. */
  readonly prefix: string | null;
  readonly limit: number;
  readonly cursor: string | null;
}

/** A session's row. The fields that are set at its opening let any gateway continue it. */
export interface Session {
  readonly id: string;
  readonly accountId: string;
  readonly user: string | null;
  readonly deviceId: string;
  readonly deviceModelId: string;
  readonly status: 'open' | 'closed';
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** The owner: a gateway process and the number of owners so far (from 1). */
  readonly gateway: string;
  readonly epoch: number;
  /** Channels and calibration curve of the model at the opening. */
  readonly channels: readonly ModalityChannel[];
  readonly spo2Curve: readonly number[] | null;
  /** Slugs of the algorithms that the account was entitled to at the opening; null means all. */
  readonly algorithms: readonly string[] | null;
  readonly progress: SessionProgress;
}

/** The values that change while a session runs; recorded with commits, and at least every 5 s while data arrive. */
export interface SessionProgress {
  /** Added to device times, ms (section 4 of the ingest protocol); null until it is known. */
  readonly clockShift: number | null;
  /** Server time of number 0 for a device without a clock; null until needed. */
  readonly originWithoutClock: number | null;
  /**
   * For each channel, by index, whose time is counted at a known rate: time (ms) of a number, and the spacing from
   * there on, ms.
   */
  readonly counted?: Readonly<Record<string, { readonly seq: number; readonly time: number; readonly period: number }>>;
  /**
   * For each channel, by index, whose clock was set back during the session: what is added to its times, ms, from a number
   * on, so that data time does not go back; and how far it was ahead of arrival then, ms.
   */
  readonly slips?: Readonly<Record<string, { readonly seq: number; readonly ms: number; readonly lead: number }>>;
  /**
   * Data time of the session's first instant, ms: windows end on whole seconds after it; null before the first data.
   */
  readonly firstInstant: number | null;
  /** Data time of the newest instant, ms; absent before the first data, and in rows from before it was kept. */
  readonly lastInstant?: number;
  /** `next_seq` by index, for the channels that have started. */
  readonly nextSeq: Readonly<Record<string, number>>;
  /** Arrival of the last data, ms; null before the first. */
  readonly lastDataAt: number | null;
  /** Epoch of the owner that left the session with all its insights published; absent otherwise. */
  readonly handedOverBy?: number;
}

/** What a session's owner keeps of the problems of its data, at most 8 KiB as JSON. Times are ms since the epoch. */
export interface Diagnostics {
  readonly notices: readonly DiagnosedNotice[];
  readonly refused: readonly RefusedFrames[];
  readonly channels: readonly DiagnosedRate[];
}

/** A notice that the session had, or has. */
export interface DiagnosedNotice {
  readonly code: string;
  readonly channel: number | null;
  /** Of `no_reading`: the type of insight. */
  readonly insight?: string;
  /** Of `no_reading`. */
  readonly reason?: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  /** The last detail. */
  readonly detail: string;
  readonly isOver: boolean;
}

export interface RefusedFrames {
  readonly code: string;
  readonly count: number;
  /** The detail of the last refusal. */
  readonly detail: string;
}

export interface DiagnosedRate {
  readonly index: number;
  readonly declaredHz: number;
  /** Null before data arrived. */
  readonly measuredHz: number | null;
}

export interface Diagnosis {
  readonly sessionId: string;
  readonly gateway: string;
  readonly epoch: number;
  readonly diagnostics: Diagnostics;
  /** The code of the device's present problem; null for none. */
  readonly problem: string | null;
}

export interface SessionCommit {
  readonly sessionId: string;
  readonly gateway: string;
  readonly epoch: number;
  readonly insights: readonly StoredInsight[];
  readonly progress: SessionProgress | null;
}

/** In the order of the parts of a commit. */
export type SessionCommitResult =
  | { readonly lost: true }
  | { readonly lost: false; readonly written: StoredInsight[]; readonly closed?: true };

export type LastInsights = Partial<Record<InsightType, { readonly ts: number; readonly actualEnd: number }>>;

/** The readings of one type of a session. */
export interface InsightSummary {
  readonly type: InsightType;
  /** Number of readings of each class. */
  readonly readings: Readonly<Record<SqiClass, number>>;
  /** Of the trusted readings alone, which are not `unfit`; null if there are none. */
  readonly trusted: { readonly mean: number; readonly min: number; readonly max: number } | null;
}

/** Rows of an account, or of one of its users (`user` null: all). */
interface Scope {
  readonly accountId: string;
  readonly user: string | null;
}

export interface SessionQuery extends Scope {
  readonly status: 'open' | 'closed' | null;
  /** Only of this device. */
  readonly deviceId?: string | null;
  /** Started at or after a given time, and before another, ms. */
  readonly since?: number | null;
  readonly until?: number | null;
  /** Their data overlap the interval from, inclusive, to, exclusive, ms. */
  readonly dataSince?: number | null;
  readonly dataUntil?: number | null;
  readonly limit: number;
  /** A cursor of an earlier page; a cursor that the store cannot read rejects with `BadCursor`. */
  readonly cursor: string | null;
}

export interface InsightQuery extends Scope {
  readonly type: InsightType | null;
  /** Only of this device. */
  readonly deviceId?: string | null;
  /** `ts` from, inclusive, and to, exclusive, ms. */
  readonly since: number | null;
  readonly until: number | null;
  /** `actual_end` from, inclusive, and to, exclusive, ms. With one of them the order is by data time. */
  readonly dataSince?: number | null;
  readonly dataUntil?: number | null;
  readonly limit: number;
  readonly cursor: string | null;
}

/** All insights of a session, or those of an account that were published before an instant, oldest first. */
export type ErasedInsights = { readonly sessionId: string } | { readonly accountId: string; readonly before: number };

export interface Page<T> {
  readonly rows: T[];
  /** Opaque cursor of the page that follows in the query's direction; null on the last page. */
  readonly next: string | null;
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor';
}

export interface IdempotencyClaim {
  readonly accountId: string;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: string;
  readonly at: number;
}

export interface SavedResponse {
  readonly status: number;
  readonly body: string;
}

export type IdempotencyState =
  | { readonly state: 'fresh' }
  | { readonly state: 'pending' }
  | { readonly state: 'conflict' }
  | { readonly state: 'done'; readonly response: SavedResponse };
