import { readFileSync } from 'node:fs';
import { encodeFrame } from '@device-insights/sdk';
import { fileOf } from './server-process.js';

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With the `{names}` of its parameters. */
  readonly path: string;
  /** Whether it needs a key. */
  readonly isPublic: boolean;
}

/** All operations of the committed document. */
export function operations(): Operation[] {
  const { paths } = JSON.parse(readFileSync(fileOf('gateway/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; security?: unknown[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, security }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      isPublic: security?.length === 0,
    })),
  );
}

/**
 * Another user's access to one user's data: to all of them (`same`: they belong to the account), not to this one, or
 * without the other's rows.
 */
type Sight = 'same' | 'forbidden' | 'hidden';

/** Answers of an operation to a valid key, and to valid keys of others. */
export interface Row {
  readonly status: number;
  /** To a key of another account. `same`: the answer has none of our rows. */
  readonly otherAccount: Sight;
  /** To a key of another user of the account. */
  readonly otherUser: Sight;
  readonly body?: object;
  /** Default: `read` for GET, otherwise `manage`. */
  readonly needs?: 'stream';
}

const CHANNEL = { modality: 'ecg', sample_rate_hz: 250, bit_depth: 24, num_channels: 1 };
/** Data of the account: any of its keys may read and change them. */
const shared = { otherAccount: 'forbidden', otherUser: 'same' } as const;
const listed = { otherAccount: 'hidden', otherUser: 'same' } as const;
const anyone = { otherAccount: 'same', otherUser: 'same' } as const;
const perUser = { otherAccount: 'forbidden', otherUser: 'forbidden' } as const;
const perUserList = { otherAccount: 'hidden', otherUser: 'hidden' } as const;

/** One frame of channel 0, after its length. */
const FRAME = encodeFrame({ channel: 0, seq: 0, ts: Date.now(), samples: Float64Array.of(1, 2, 3) });
const UPLOAD = Uint8Array.of(FRAME.length, 0, 0, 0, ...FRAME);

/** One row for each operation; an operation without a row fails the test. */
export const ROWS: Readonly<Record<string, Row>> = {
  createDeviceModel: { status: 201, ...anyone, body: { name: 'made by the matrix' } },
  listDeviceModels: { status: 200, ...listed },
  getDeviceModel: { status: 200, ...shared },
  updateDeviceModel: { status: 200, ...shared, body: { description: 'changed' } },
  deleteDeviceModel: { status: 204, ...shared },
  listModalities: { status: 200, ...shared },
  createModality: { status: 201, ...shared, body: CHANNEL },
  updateModality: { status: 200, ...shared, body: { bit_depth: 16 } },
  deleteModality: { status: 204, ...shared },
  listSessions: { status: 200, ...perUserList },
  getSession: { status: 200, ...perUser },
  listSessionInsights: { status: 200, ...perUser },
  listSessionBeats: { status: 200, ...perUser },
  getSessionSummary: { status: 200, ...perUser },
  createUpload: { status: 201, otherAccount: 'forbidden', otherUser: 'same', needs: 'stream', body: UPLOAD },
  listInsights: { status: 200, ...perUserList },
  listAlgorithms: { status: 200, ...anyone },
  getHealth: { status: 200, ...anyone },
  getOpenApi: { status: 200, ...anyone },
};

/** Body of a device model to work on. */
export const MODEL = { name: 'of the matrix', modality_channels: [CHANNEL] };
