import type { ModalityChannel } from './device-models.js';
import type { Page, PageQuery, Scope } from './page.js';

/** The sessions: one owner each, changed by compare-and-set. */
export interface SessionStore {
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
   * data: its row is deleted, unless it has insights or beats.
   */
  closeSession(id: string, epoch: number, endedAt: number | null): Promise<boolean>;
  /**
   * Keeps the diagnostics of a session, and the problem of its device, while the session has this owner and epoch; otherwise changes
   * nothing.
   */
  putDiagnostics(diagnosis: Diagnosis): Promise<void>;
  /** The last diagnostics of a session; null if there are none. */
  diagnostics(sessionId: string): Promise<Diagnostics | null>;
  /** The first devices with an open session, by device id, each with the diagnostics of that session. One query. */
  streamingDevices(query: StreamingQuery): Promise<StreamingDevice[]>;
  /** Newest `started_at` first, then id; a page starts after the cursor. */
  sessions(query: SessionQuery): Promise<Page<Session>>;
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

export interface SessionQuery extends Scope, PageQuery {
  readonly status: 'open' | 'closed' | null;
  /** Only of this device. */
  readonly deviceId?: string | null;
  /** Started at or after a given time, and before another, ms. */
  readonly since?: number | null;
  readonly until?: number | null;
  /** Their data overlap the interval from, inclusive, to, exclusive, ms. */
  readonly dataSince?: number | null;
  readonly dataUntil?: number | null;
}
