import type { IncomingMessage } from 'node:http';
import { CLOSE } from '@device-insights/contract/close-codes';
import { DEVICE_ID } from '@device-insights/contract/parameters';
import { hashKey, holdsKey, keyInHeader, keysInQuery, onlyKey, prefixOf } from '@device-insights/fanout/api-key';
import type { KeyCheck, KeyHolder } from '@device-insights/fanout/key-check';
import { clientAddress } from '@device-insights/fanout/platform/client-address';
import { CloseError } from '../errors.js';
import type { RefusedDevice } from '../refused-devices.js';
import { type DeviceModel, type DeviceModelStore, type DeviceStore, MAX_DEVICES } from '../store/store.js';
import { UUID } from '../uuid.js';
import type { Allowance } from './allowance.js';

/** The checked parameters of a connecting device. */
export interface Admission {
  readonly accountId: string;
  readonly user: string | null;
  /** SHA-256 of the key. */
  readonly keyHash: string;
  readonly deviceId: string;
  readonly model: DeviceModel;
  /** The device's own time at the moment of connecting, ms since the epoch; null if it was not given. */
  readonly deviceClock: number | null;
  /** The server's time at that moment, ms. */
  readonly at: number;
  /** The upload that asks for a session of its own, with its Idempotency-Key; null for a socket. */
  readonly upload: { readonly key: string | null } | null;
}

type Parameters = Pick<Admission, 'deviceId' | 'deviceClock'> & { readonly modelId: string };

const FOREIGN_MODEL = 'the device model belongs to another account: use the id of one of your own';
const MAY_NOT_STREAM = 'the key lacks the permission "stream": use a key that has it';
const NUMBER = /^-?\d+(\.\d+)?$/;
const TOO_MANY = `an account has at most ${MAX_DEVICES} devices: delete unused ones in the dashboard, or with admin device delete`;
/** New devices that one key may register in a day: one that sees the whole account, and one that is bound to a user. */
const NEW_DEVICES = { ofAccount: 10_000, ofUser: 1000 } as const;
const TOO_MANY_NEW =
  'this key has registered too many new devices in a day: use one device_id for each device; try again later';
/** Characters of a refused device id that are shown. */
const SHOWN_ID = 128;
/** The range of a Date (ECMA-262, 21.4.1.1), ms. */
const MAX_TIME = 8.64e15;

/** The key that a request carries, in the query or the header; null if there is none, or none in the form of a key. */
function keyOf({ url = '', headers }: IncomingMessage): string | null {
  const given = keysInQuery(url);
  return given.length > 0 ? onlyKey(given) : keyInHeader(headers.authorization ?? '');
}

/** The hash of that key. */
export function keyHashOf(request: IncomingMessage): string | null {
  const key = keyOf(request);
  return key && hashKey(key);
}

/** Describes the refusal of a connection. */
export function refusedDevice(request: IncomingMessage, { reason, message }: CloseError): RefusedDevice {
  const key = keyOf(request);
  const deviceId = queryOf(request).get('device_id')?.slice(0, SHOWN_ID) ?? null;
  return {
    deviceId: deviceId !== null && holdsKey(deviceId) ? 'an API key' : deviceId,
    code: CLOSE[reason].code,
    reason: message,
    address: clientAddress(request),
    keyPrefix: key && prefixOf(key),
  };
}

/** The holder of a key, which the protocol (section 1) checks first. Throws `CloseError`; rejects as the store does. */
export async function holderOf(keyHash: string | null, keys: KeyCheck): Promise<KeyHolder> {
  const holder = keyHash === null ? null : await keys.holder(keyHash);
  if (!holder) throw new CloseError('authenticationFailed');
  return holder;
}

/**
 * Admits a device of this holder in the order of the protocol (section 1): parameters, then device model. Throws
 * `CloseError`; rejects as the store does.
 */
export async function admit(
  request: IncomingMessage,
  holder: KeyHolder,
  at: number,
  store: DeviceModelStore,
  upload: Admission['upload'],
): Promise<Admission> {
  const { deviceId, modelId, deviceClock } = parametersOf(queryOf(request));
  const model = await modelFor(holder, modelId, store);
  const { account: accountId, user } = holder;
  const keyHash = keyHashOf(request) ?? ''; // Never empty: the key was found.
  return { accountId, user, keyHash, deviceId, model, deviceClock, at, upload };
}

/**
 * Makes sure that an admitted device is stored, if the key may register another one. Throws `CloseError`; rejects as the
 * store does.
 *
 * @param newDevices counts those of each key
 */
export async function register(
  { accountId, user, keyHash, deviceId, model, at }: Admission,
  newDevices: Allowance,
  store: DeviceStore,
): Promise<void> {
  const daily = user === null ? NEW_DEVICES.ofAccount : NEW_DEVICES.ofUser;
  if (!(await store.device(accountId, deviceId)) && !newDevices.take(keyHash, daily))
    throw new CloseError('overloaded', TOO_MANY_NEW);
  const outcome = await store.putDevice({ accountId, deviceId, deviceModelId: model.id, createdAt: at, problem: null });
  if (outcome === 'missing') throw new CloseError('unknownModel');
  if (outcome === 'full') throw new CloseError('tooManyDevices', TOO_MANY);
}

async function modelFor(holder: KeyHolder, id: string, store: DeviceModelStore): Promise<DeviceModel> {
  const model = await store.deviceModel(id);
  if (!model) throw new CloseError('unknownModel');
  if (model.accountId !== holder.account) throw new CloseError('forbidden', FOREIGN_MODEL);
  if (!holder.permissions.includes('stream')) throw new CloseError('forbidden', MAY_NOT_STREAM);
  return model;
}

function parametersOf(query: URLSearchParams): Parameters {
  const deviceId = single(query, 'device_id');
  if (!deviceId || !DEVICE_ID.test(deviceId)) {
    throw new CloseError(
      'badRequest',
      'device_id must be 1 to 128 of the characters A-Z a-z 0-9 . _ : - (but not . or ..)',
    );
  }
  const modelId = single(query, 'device_model_id')?.toLowerCase();
  if (!modelId || !UUID.test(modelId)) throw new CloseError('badRequest', 'device_model_id must be a UUID');
  return { deviceId, modelId, deviceClock: clockOf(single(query, 'clock')) };
}

function clockOf(text: string | null): number | null {
  if (text === null) return null;
  const clock = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(clock) <= MAX_TIME) return clock;
  throw new CloseError('badRequest', 'clock must be a time in ms since the epoch');
}

function single(query: URLSearchParams, name: string): string | null {
  const values = query.getAll(name);
  if (values.length > 1) throw new CloseError('badRequest', `${name} must be given only once`);
  return values[0] ?? null;
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}
