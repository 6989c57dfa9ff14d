import type { InsightType, StoredInsight } from '../insight.js';

/**
 * The store: what must outlive a process. Two implementations (embedded SQLite, MongoDB) run one conformance suite
 * (`suite.ts`). Times are ms since the epoch; ids are lower-case UUIDs made by the caller unless said otherwise.
 * A call that the store cannot serve now (down, busy) rejects with `StoreUnavailable`; nothing of it is done then.
 */
export interface Store {
  // -- accounts and keys
  /** Makes an account; null where the name is taken. `algorithms` null: entitled to all, also to later ones. */
  createAccount(account: Account): Promise<Account | null>;
  account(id: string): Promise<Account | null>;
  accountNamed(name: string): Promise<Account | null>;
  accounts(): Promise<Account[]>;
  entitle(id: string, algorithms: readonly string[] | null): Promise<Account | null>;

  addKey(key: Key): Promise<void>;
  /** The key with that hash, revoked or not. */
  keyByHash(hash: string): Promise<Key | null>;
  /** Oldest first; of one account, or, with null, of all. */
  keys(accountId: string | null): Promise<Key[]>;
  /** Marks it revoked (once: the first time stays) and returns it; null where there is none. */
  revokeKey(id: string, at: number): Promise<Key | null>;
  /** Keys revoked at or after an instant: polled once a second by every gateway. */
  keysRevokedSince(at: number): Promise<Key[]>;
  /** Sets `last_used_at` of the keys (called at most once a minute and key). */
  touchKeys(ids: readonly string[], at: number): Promise<void>;

  // -- device models and devices
  addDeviceModel(model: DeviceModel): Promise<void>;
  deviceModel(id: string): Promise<DeviceModel | null>;
  /** Oldest first. */
  deviceModels(accountId: string): Promise<DeviceModel[]>;
  /**
   * Reads, changes and writes a model as one step: `change` is pure, may run again when another writer was faster, and
   * may throw, which changes nothing and rejects with its error. Null where there is none.
   */
  changeDeviceModel(id: string, change: (model: DeviceModel) => DeviceModel): Promise<DeviceModel | null>;
  /** Deletes a model unless a device row references it (one step with the check). */
  deleteDeviceModel(id: string): Promise<'deleted' | 'referenced' | 'missing'>;

  /**
   * Creates the device row of (account, device id), or moves it to this model. One step with the check that the model
   * exists: false, and no row, where it does not.
   */
  putDevice(device: Device): Promise<boolean>;
  devices(accountId: string): Promise<Device[]>;
  deleteDevice(accountId: string, deviceId: string): Promise<Device | null>;

  // -- sessions: one owner each, changed by compare-and-set
  /** Opens a session; false where (account, device id) has an open one. */
  openSession(session: Session): Promise<boolean>;
  session(id: string): Promise<Session | null>;
  openSessionOf(accountId: string, deviceId: string): Promise<Session | null>;
  /**
   * Gives an open session to `gateway`: sets it as owner with epoch `epoch + 1`, if the row's epoch is still `epoch`.
   * Null where somebody was faster, or it is closed.
   */
  claimSession(id: string, epoch: number, gateway: string, at: number): Promise<Session | null>;
  /** Closes an open session whose epoch is still `epoch`; false where it is not. */
  closeSession(id: string, epoch: number, endedAt: number): Promise<boolean>;
  /** Sessions which were claimed away from this gateway at or after an instant (at least of the last hour); `epoch` is the new owner's. */
  sessionsTakenFrom(gateway: string, since: number): Promise<{ id: string; epoch: number }[]>;
  /** Open sessions whose owner's last `beat` lies before an instant, or that never had one. */
  orphanedSessions(beatBefore: number): Promise<Session[]>;
  /** Newest `started_at` first, then id; a page starts after the cursor. */
  sessions(query: SessionQuery): Promise<Page<Session>>;
  /** Says that this gateway lives. */
  beat(gateway: string, at: number): Promise<void>;
  /** Gateways whose last beat is at or after an instant. */
  gatewaysSince(at: number): Promise<string[]>;

  // -- insights
  /**
   * Writes a group as one transaction with the ownership check: a part whose session is not open under its owner and
   * epoch any more is dropped whole and reported as lost. An insight whose (session, type, actual_end) or (session, type, ts) is there already is
   * left out of `written`. `progress` is written with it.
   */
  commit(parts: readonly SessionCommit[]): Promise<SessionCommitResult[]>;
  /** Newest `ts` and `actual_end` per type of a session. */
  lastInsights(sessionId: string): Promise<LastInsights>;
  /** All of a session, by `actual_end`, then `ts`, in batches, without holding them all. */
  sessionInsights(sessionId: string): AsyncIterable<StoredInsight[]>;
  /** By (`ts`, an id of the store's). With `since`: ascending from there on; without: the last ones before `until`, still returned ascending. */
  insights(query: InsightQuery): Promise<Page<StoredInsight>>;

  // -- the rest
  /**
   * Claims (account, route, key) for a request with this body hash: `fresh` for the first one, the first one's `response` once it is there, `conflict` for another body, `pending` while the first one runs (for at most a minute). Rows are kept for 24 h.
   */
  claimIdempotencyKey(claim: IdempotencyClaim): Promise<IdempotencyState>;
  saveIdempotentResponse(claim: IdempotencyClaim, response: SavedResponse): Promise<void>;
  /** Gives a claim back whose request failed without effect. */
  releaseIdempotencyKey(claim: IdempotencyClaim): Promise<void>;
  /** Takes a write and reads it back; rejects where the store does not work. */
  probe(at: number): Promise<void>;
  close(): Promise<void>;
}

/** The store does not answer now; worth a retry. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** Slugs; null is all of them. */
  readonly algorithms: readonly string[] | null;
  readonly createdAt: number;
}

export interface Key {
  readonly id: string;
  readonly accountId: string;
  /** The user it is bound to; null for a key that sees the whole account. */
  readonly user: string | null;
  /** SHA-256 of the whole key, hex. The key itself is kept nowhere. */
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
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
  /** Coefficients a, b[, c] of SpO2 = a + b R + c R²; null where the model has no curve. */
  readonly spo2Curve: readonly number[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Device {
  readonly accountId: string;
  readonly deviceId: string;
  readonly deviceModelId: string;
  readonly createdAt: number;
}

/** A session's row. What is fixed at its opening lets any gateway go on with it. */
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
  /** Channels and curve as the model had them at the opening. */
  readonly channels: readonly ModalityChannel[];
  readonly spo2Curve: readonly number[] | null;
  /** Slugs the account was entitled to at the opening; null is all. */
  readonly algorithms: readonly string[] | null;
  readonly progress: SessionProgress;
}

/** What moves while a session runs; recorded with commits and at least every 5 s while data flow. */
export interface SessionProgress {
  /** Added to device times, ms (section 4 of the ingest protocol); null until it is known. */
  readonly clockShift: number | null;
  /** Server time of number 0 where a device has no clock; null until needed. */
  readonly originWithoutClock: number | null;
  /** Data time of the session's first instant, ms: window ends lie on whole seconds after it; null before the first data. */
  readonly firstInstant: number | null;
  /** `next_seq` per channel index that has begun. */
  readonly nextSeq: Readonly<Record<string, number>>;
  /** Arrival of the last data, ms; null before the first. */
  readonly lastDataAt: number | null;
}

export interface SessionCommit {
  readonly sessionId: string;
  readonly gateway: string;
  readonly epoch: number;
  readonly insights: readonly StoredInsight[];
  readonly progress: SessionProgress | null;
}

/** Parallel to the parts of a commit. */
export type SessionCommitResult = { readonly lost: true } | { readonly lost: false; readonly written: StoredInsight[] };

export type LastInsights = Partial<Record<InsightType, { readonly ts: number; readonly actualEnd: number }>>;

/** Rows of an account, or of one user of it (`user` null: all). */
export interface Scope {
  readonly accountId: string;
  readonly user: string | null;
}

export interface SessionQuery extends Scope {
  readonly status: 'open' | 'closed' | null;
  readonly limit: number;
  /** A cursor of an earlier page; one that the store cannot read rejects with `BadCursor`. */
  readonly cursor: string | null;
}

export interface InsightQuery extends Scope {
  readonly type: InsightType | null;
  readonly since: number | null;
  readonly until: number | null;
  readonly limit: number;
  readonly cursor: string | null;
}

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
