import { createHash, randomUUID } from 'node:crypto';
import type { Beat } from '../../beat.js';
import { publishedAt, type Reading, type SqiClass, type StoredInsight, UNITS } from '../../insight.js';
import {
  type Account,
  type Device,
  type DeviceModel,
  type Key,
  type Operator,
  type Page,
  pagesOf,
  type Session,
  type SessionCommit,
  type SessionProgress,
  type Store,
  type StoredBlock,
} from '../store.js';

/** Two handles on the same data, as two processes would have them. */
export interface Handles {
  readonly store: Store;
  readonly other: Store;
}

const DAY_MS = 86_400_000;
/** Far in the future, so that no server expires the data that the tests call old. */
const FIRST_MOMENT = Date.UTC(2100, 0, 1);

let moments = 0;
/** A time for this test only: ten days after the previous one. */
export const newMoment = () => FIRST_MOMENT + moments++ * 10 * DAY_MS;

export function sampleAccount(fields: Partial<Account> = {}): Account {
  const id = randomUUID();
  return { id, name: `account ${id}`, algorithms: null, createdAt: FIRST_MOMENT, ...fields };
}

export function sampleKey(fields: Partial<Key> = {}): Key {
  const id = randomUUID();
  return {
    id,
    accountId: randomUUID(),
    user: null,
    hash: createHash('sha256').update(id).digest('hex'),
    prefix: 'svc_abcd',
    lastFour: 'wxyz',
    createdAt: FIRST_MOMENT,
    lastUsedAt: null,
    revokedAt: null,
    expiresAt: null,
    subscribeOnly: false,
    replacedBy: null,
    permissions: ['read', 'stream'],
    label: 'phone of Ann',
    ...fields,
  };
}

export function sampleOperator(fields: Partial<Operator> = {}): Operator {
  const id = randomUUID();
  return {
    id,
    name: `operator ${id}`,
    role: 'operator',
    password: 'scrypt$1$a$b',
    revision: 1,
    createdAt: FIRST_MOMENT,
    ...fields,
  };
}

export function sampleModel(fields: Partial<DeviceModel> = {}): DeviceModel {
  return {
    id: randomUUID(),
    accountId: randomUUID(),
    name: 'Ring',
    description: '',
    firmwareVersion: '1.0',
    channels: [sampleChannel()],
    spo2Curve: null,
    createdAt: FIRST_MOMENT,
    updatedAt: FIRST_MOMENT,
    ...fields,
  };
}

export function sampleChannel(): DeviceModel['channels'][number] {
  return { ch_id: randomUUID(), modality: 'ppg_green', sample_rate_hz: 62.5, bit_depth: 18, num_channels: 2 };
}

export function sampleDevice(model: DeviceModel, fields: Partial<Device> = {}): Device {
  return {
    accountId: model.accountId,
    deviceId: randomUUID(),
    deviceModelId: model.id,
    createdAt: FIRST_MOMENT,
    problem: null,
    ...fields,
  };
}

export const NO_PROGRESS: SessionProgress = {
  clockShift: null,
  originWithoutClock: null,
  firstInstant: null,
  nextSeq: {},
  lastDataAt: null,
};

export function sampleSession(fields: Partial<Session> = {}): Session {
  return {
    id: randomUUID(),
    accountId: randomUUID(),
    user: null,
    deviceId: randomUUID(),
    deviceModelId: randomUUID(),
    status: 'open',
    startedAt: FIRST_MOMENT,
    endedAt: null,
    gateway: randomUUID(),
    epoch: 1,
    channels: [sampleChannel()],
    spo2Curve: null,
    algorithms: null,
    progress: NO_PROGRESS,
    ...fields,
  };
}

/** A session that is open in a store. */
export async function opened(store: Pick<Store, 'openSession'>, fields: Partial<Session> = {}): Promise<Session> {
  const session = sampleSession(fields);
  await store.openSession(session);
  return session;
}

/** A model that is in a store. */
export async function addedModel(store: Store, fields: Partial<DeviceModel> = {}): Promise<DeviceModel> {
  const model = sampleModel(fields);
  await store.addDeviceModel(model);
  return model;
}

/** A key that is in a store. */
export async function addedKey(store: Store, fields: Partial<Key> = {}): Promise<Key> {
  const key = sampleKey(fields);
  await store.addKey(key);
  return key;
}

const CONFIDENCES: Readonly<Record<SqiClass, number>> = { excellent: 0.913, acceptable: 0.65, unfit: 0.2 };

/** An insight of a session with the window's end and the moment of publication. */
export function sampleInsight(
  session: Session,
  actualEnd: number,
  ts = actualEnd + 120,
  fields: Partial<Reading> = {},
): StoredInsight {
  const { type = 'hr', sqi_class = 'excellent', confidence = CONFIDENCES[sqi_class] } = fields;
  const reading: Reading = {
    type,
    value: 71.3,
    unit: UNITS[type],
    session_id: session.id,
    device_id: session.deviceId,
    confidence,
    sqi_class,
    actual_start: actualEnd - 8000,
    actual_end: actualEnd,
    coverage: 0.875,
    algorithm: 'hr-ppg@1.0.0',
    ...fields,
  };
  return publishedAt(reading, ts);
}

/** The commit of a session's owner. */
export function partOf(
  session: Session,
  insights: StoredInsight[],
  progress: SessionProgress | null = null,
  beats: StoredBlock[] = [],
) {
  const { id: sessionId, gateway, epoch } = session;
  return { sessionId, gateway, epoch, insights, beats, progress } satisfies SessionCommit;
}

/** A block with a beat of each source a second, committed at `ts`. */
export function sampleBlock(start: number, ts = Math.floor(start)): StoredBlock {
  const beats = Array.from({ length: 10 }, (_, i): Beat[] => [
    { t: start + 1000 * i + 500.3, source: 'ecg', quality: 0.997 },
    { t: start + 1000 * i + 723.6, source: 'ppg', quality: 0 },
  ]);
  return { start, ts, beats: beats.flat() };
}

/** As many insights as the slowest server here writes or deletes in a second. */
export const BATCH = 200;

/** Commits a session's insights, batch after batch. */
export async function commitAll(store: Store, session: Session, insights: readonly StoredInsight[]): Promise<void> {
  for (let i = 0; i < insights.length; i += BATCH) await store.commit([partOf(session, insights.slice(i, i + BATCH))]);
}

/** All parts of a stream. */
export async function collected<Part>(parts: AsyncIterable<Part>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

/** Follows `next` to the last page; returns the rows of each page. */
export function allPages<Row>(page: (cursor: string | null) => Promise<Page<Row>>): Promise<Row[][]> {
  return collected(pagesOf(page));
}

/** The error with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}

/** Runs the same call `count` times concurrently, on two handles in turn. */
export function atOnce<Handle, Result>(
  count: number,
  handles: Handle[],
  act: (handle: Handle, index: number) => Promise<Result>,
) {
  return Promise.all(
    Array.from({ length: count }, (_, index) => {
      const handle = handles[index % handles.length];
      if (handle === undefined) throw new Error('no handle');
      return act(handle, index);
    }),
  );
}
