import type { auditShown, keyShown } from '../admin/shown.js';
import type { AnyAlgorithm } from '../analysis/algorithm.js';
import { isoTime, isoTimeOrNull } from '../instant.js';
import type { Inspection } from '../peers/inspection.js';
import type { Refusals } from '../refused-devices.js';
import type {
  Account,
  DeviceModel,
  Diagnostics,
  ListedDevice,
  Operator,
  Session,
  StreamingDevice,
  User,
} from '../store/store.js';

/**
 * Answers of the dashboard's own interface, which its pages share: what is shown of a row of the store, and types of other answers.
 * Times are ISO 8601 strings, or numbers in ms since the epoch.
 */

export type KeyRow = ReturnType<typeof keyShown>;
export type AuditRow = ReturnType<typeof auditShown>;

/** A new key with its text, which is shown only once. */
export type NewKey = KeyRow & { readonly key: string };

/** The signed-in operator. */
export function me({ name, role }: Operator, expiresAt: number) {
  return { name, role, expires_at: isoTime(expiresAt) };
}
export type Me = ReturnType<typeof me>;

export function accountRow({ id, name, algorithms, createdAt }: Account) {
  return {
    id,
    name,
    /** Slugs of the algorithms that it is entitled to; null means all, including future ones. */
    algorithms,
    created_at: isoTime(createdAt),
  };
}
export type AccountRow = ReturnType<typeof accountRow>;

export type AlgorithmRow = Pick<AnyAlgorithm, 'slug' | 'name' | 'version' | 'type' | 'description'>;

export function algorithmRow({ slug, name, version, type, description }: AlgorithmRow): AlgorithmRow {
  return { slug, name, version, type, description };
}

export function userRow({ user, keys, lastUsedAt }: User) {
  return { user, keys, last_used_at: isoTimeOrNull(lastUsedAt) };
}
export type UserRow = ReturnType<typeof userRow>;

export function deviceRow({ deviceId, deviceModelId, createdAt, problem, session }: ListedDevice) {
  return {
    device_id: deviceId,
    device_model_id: deviceModelId,
    created_at: isoTime(createdAt),
    /** Code of the problem of its newest data; null for none. */
    problem,
    /** The newest instant of its data, by its clock. */
    data_end: isoTimeOrNull(session?.progress.lastInstant ?? null),
    /** The open session, if there is one. */
    session: session?.status === 'open' ? openSession(session) : null,
  };
}
export type DeviceRow = ReturnType<typeof deviceRow>;

function openSession({ id, startedAt, progress: { lastDataAt } }: Session) {
  return {
    id,
    started_at: isoTime(startedAt),
    /** Arrival of its last data; up to 5 s old. */
    last_data_at: isoTimeOrNull(lastDataAt),
  };
}

/** A device with its model; null if that was deleted. */
export function deviceView(device: ListedDevice, model: DeviceModel | null) {
  return { ...deviceRow(device), account_id: device.accountId, model: model && modelRow(model) };
}
export type DeviceView = ReturnType<typeof deviceView>;

function modelRow({ id, name, description, firmwareVersion, channels, spo2Curve }: DeviceModel) {
  return {
    id,
    name,
    description,
    firmware_version: firmwareVersion,
    modality_channels: channels,
    has_spo2_calibration: spo2Curve !== null,
  };
}

/** A device with an open session, and the problems that it has now, at most 5 s old. */
export function streamingRow({ deviceId, sessionId, diagnostics }: StreamingDevice) {
  const present = diagnostics?.notices.filter(({ isOver }) => !isOver) ?? [];
  const notices = present.map(({ code, insight, reason, detail }) => ({
    ...{ code, detail },
    ...(insight && { insight }),
    ...(reason && { reason }),
  }));
  return { device_id: deviceId, session_id: sessionId, notices, refused: diagnostics?.refused ?? [] };
}
export type StreamingRow = ReturnType<typeof streamingRow>;

/** A refused connection of a device; the same one several times is one row, with the time of the last one. */
export function refusedRow({ deviceId, keyPrefix, at, ...others }: Refusals) {
  return { device_id: deviceId, key_prefix: keyPrefix, at: isoTime(at), ...others };
}
export type RefusedRow = ReturnType<typeof refusedRow>;

export function sessionRow(row: Session) {
  return {
    id: row.id,
    account_id: row.accountId,
    user: row.user,
    device_id: row.deviceId,
    device_model_id: row.deviceModelId,
    status: row.status,
    started_at: isoTime(row.startedAt),
    ended_at: isoTimeOrNull(row.endedAt),
    last_data_at: isoTimeOrNull(row.progress.lastDataAt),
    /** First and last instant of its data, by the device's clock. */
    data_start: isoTimeOrNull(row.progress.firstInstant),
    data_end: isoTimeOrNull(row.progress.lastInstant ?? null),
    channels: row.channels,
  };
}
export type SessionRow = ReturnType<typeof sessionRow>;

/** A key that may only subscribe. */
export interface LiveKey {
  readonly key: string;
  /** Time until it expires, ms: the clock of a browser may be far off. */
  readonly lasts_ms: number;
}

/** The state of a session in its gateway; null if the session is closed or its gateway does not answer. */
export type Live = Inspection | null;

/** The stored diagnostics of a session; null if there are none. */
export type Kept = Diagnostics | null;
export type { ChannelState, Inspection } from '../peers/inspection.js';
export type { Page as Listed } from '../store/store.js';
export type { Series } from './series.js';
export type { Tachogram } from './tachogram.js';
