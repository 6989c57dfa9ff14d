import type { Permission } from '@device-insights/fanout/key-check';
import { z } from 'zod';
import type { Beat } from '../beat.js';
import type { InsightType, SqiClass } from '../insight.js';
import { PASSWORD_LENGTH } from '../operators/password.js';
import type { Inspection } from '../peers/inspection.js';
import { digits, instant, limit, list, matching, object, oneOf, text } from '../rest/fields.js';
import type { DiagnosedNotice, Diagnostics, RefusedFrames } from '../store/store.js';

/** The dashboard's own interface: schemas of requests, and types of responses, which its pages share. */

// -- requests
export const signIn = object({ name: text(1, 200), password: text(1, 200) });
export const newPassword = object({
  current: text(1, 200),
  password: text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max),
});
export const newAccount = object({ name: text(1, 200) });
export const entitlement = object({
  algorithms: z.union([z.null(), list(text(1, 100), 100)], { error: () => 'must be null or a list of slugs' }),
});
export const newKey = object({
  user: z.union([z.null(), text(1, 200)]).default(null),
  /** A duration from now, such as `30d`, or an RFC 3339 time; null means never. */
  expires: z.union([z.null(), text(1, 40)]).default(null),
  /** Default: all of them, for a user's key `read` and `stream`. */
  permissions: list(text(1, 10), 3).optional(),
  label: text(0, 100).default(''),
});
export const labelling = object({ label: text(0, 100) });
export const rotation = object({ overlap: matching(/^\d{1,4}[mhd]$/, 'a time such as 10m, 24h or 7d') });

const cursor = z.string().optional();
export const keyQuery = z.object({ user: z.string().optional(), limit: limit(50, 200), cursor });
export const pageQuery = z.object({ limit: limit(50, 200), cursor });
export const deviceQuery = z.object({
  problems: oneOf(['only']).optional(),
  prefix: z.string().max(128).optional(),
  limit: limit(50, 200),
  cursor,
});
export const streamingQuery = z.object({ prefix: z.string().max(128).optional(), limit: limit(50, 500) });
export const sessionQuery = z.object({
  device: z.string().max(128).optional(),
  status: oneOf(['open', 'closed']).optional(),
  data_since: instant().optional(),
  data_until: instant().optional(),
  limit: limit(50, 200),
  cursor,
});
const ms = digits(0, 8.64e15).optional();
export const seriesQuery = z.object({ from: ms, to: ms });
export const liveQuery = z.object({ channel: digits(0, 63).optional() });

// -- responses: times are ISO 8601 strings, or numbers in ms since the epoch
export interface Me {
  readonly name: string;
  readonly role: 'operator' | 'viewer';
  readonly expires_at: string;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
}

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  /** Slugs of the algorithms that it is entitled to; null means all, including future ones. */
  readonly algorithms: readonly string[] | null;
  readonly created_at: string;
}

export interface AlgorithmRow {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly type: InsightType | 'beats';
  readonly description: string;
}

export interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly user: string | null;
  readonly prefix: string;
  readonly last_four: string;
  readonly label: string;
  readonly permissions: readonly Permission[];
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly expires_at: string | null;
  readonly replaced_by?: string;
}

/** A new key with its text, which is shown only once. */
export interface NewKey extends KeyRow {
  readonly key: string;
}

/** A key that may only subscribe. */
export interface LiveKey {
  readonly key: string;
  /** Time until it expires, ms: the clock of a browser may be far off. */
  readonly lasts_ms: number;
}

export interface UserRow {
  readonly user: string;
  readonly keys: number;
  readonly last_used_at: string | null;
}

export interface DeviceRow {
  readonly device_id: string;
  readonly device_model_id: string;
  readonly created_at: string;
  /** Code of the problem of its newest data; null for none. */
  readonly problem: string | null;
  /** The newest instant of its data, by its clock. */
  readonly data_end: string | null;
  /** The open session, if there is one. */
  readonly session: OpenSession | null;
}

/** A device with an open session, and the problems that it has now, at most 5 s old. */
export interface StreamingRow {
  readonly device_id: string;
  readonly session_id: string;
  readonly notices: readonly Pick<DiagnosedNotice, 'code' | 'insight' | 'reason' | 'detail'>[];
  readonly refused: readonly RefusedFrames[];
}

/** A refused connection of a device; the same one several times is one row. */
export interface RefusedRow {
  readonly device_id: string | null;
  /** Its close code. */
  readonly code: number;
  readonly reason: string;
  readonly address: string;
  readonly key_prefix: string | null;
  readonly count: number;
  /** Time of the last one. */
  readonly at: string;
}

interface OpenSession {
  readonly id: string;
  readonly started_at: string;
  /** Arrival of its last data; up to 5 s old. */
  readonly last_data_at: string | null;
}

interface ChannelRow {
  readonly ch_id: string;
  readonly modality: string;
  readonly sample_rate_hz: number;
  readonly bit_depth: number;
  readonly num_channels: number;
}

export interface ModelRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly firmware_version: string;
  readonly modality_channels: readonly ChannelRow[];
  readonly has_spo2_calibration: boolean;
}

export interface DeviceView extends DeviceRow {
  readonly account_id: string;
  /** Null if it was deleted. */
  readonly model: ModelRow | null;
}

export interface SessionRow {
  readonly id: string;
  readonly account_id: string;
  readonly user: string | null;
  readonly device_id: string;
  readonly device_model_id: string;
  readonly status: 'open' | 'closed';
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly last_data_at: string | null;
  /** First and last instant of its data, by the device's clock. */
  readonly data_start: string | null;
  readonly data_end: string | null;
  readonly channels: readonly ChannelRow[];
}

/** The readings of one type in parallel lists. In a gap all lists except `t` are null. */
export interface Series {
  readonly type: InsightType;
  readonly unit: string;
  readonly algorithms: readonly string[];
  /** `actual_end`, ms. */
  readonly t: readonly number[];
  readonly value: readonly (number | null)[];
  readonly confidence: readonly (number | null)[];
  readonly quality: readonly (SqiClass | null)[];
  readonly coverage: readonly (number | null)[];
  readonly latency: readonly (number | null)[];
  /** Number of readings, and whether some of them are left out here. */
  readonly readings: number;
  readonly thinned: boolean;
}

/** The intervals between the beats of one source. */
export interface Tachogram {
  readonly source: Beat['source'];
  /** Of each interval the time of its end, ms, and its length, ms; null where a beat before it is missing. */
  readonly t: readonly number[];
  readonly rr: readonly (number | null)[];
  /** Intervals that follow each other, ascending: the former, and the one after it, ms. */
  readonly former: readonly number[];
  readonly next: readonly number[];
  /** Number of intervals, and whether some of them are left out here. */
  readonly intervals: number;
  readonly thinned: boolean;
}

/** The state of a session in its gateway; null if the session is closed or its gateway does not answer. */
export type Live = Inspection | null;

/** What is kept of the problems of a session; null for nothing. */
export type Kept = Diagnostics | null;
export type { ChannelState, Inspection } from '../peers/inspection.js';

export interface Load {
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly event_loop_delay_ms: number;
  readonly uptime_s: number;
  readonly devices: number;
  readonly sessions: number;
  readonly max_sessions: number;
  readonly subscribers: number | null;
  readonly waiting_readings: number;
  readonly core_seconds: number;
  readonly core_session_seconds: number;
}

export interface Node {
  readonly ok: boolean;
  readonly ingest: boolean;
  readonly subscribe: boolean;
  readonly reason: string | null;
  readonly cause: string | null;
  readonly gateway: string;
  readonly gateways: readonly { readonly id: string; readonly beat: string }[];
  readonly load: Load;
  readonly versions: { readonly service: string; readonly node: string };
  readonly algorithms: readonly AlgorithmRow[];
}

export interface AuditRow {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly account_id: string | null;
  readonly subject: string;
}
