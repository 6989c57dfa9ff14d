import type { Page, PageQuery } from './page.js';
import type { Session } from './sessions.js';

/** Devices that an account can have. */
export const MAX_DEVICES = 100_000;

/** The devices that have streamed. */
export interface DeviceStore {
  /**
   * Creates the device row of (account, device id), or moves it to this model. Atomic with the checks that the model
   * exists, and, for a new row, that its account has fewer than `limit`; otherwise nothing is changed.
   */
  putDevice(device: Device, limit?: number): Promise<'put' | 'missing' | 'full'>;
  device(accountId: string, deviceId: string): Promise<ListedDevice | null>;
  devices(accountId: string): Promise<Device[]>;
  /** By device id, or by problem; a page starts after the cursor. One query, however many rows a page has. */
  devicePage(query: DeviceQuery): Promise<Page<ListedDevice>>;
  deleteDevice(accountId: string, deviceId: string): Promise<Device | null>;
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

export interface DeviceQuery extends PageQuery {
  readonly accountId: string;
  /** Only devices with a problem, in the order of its code, then by device id. */
  readonly withProblem?: boolean;
  /** The beginning of the device ids; null for any. */
  readonly prefix: string | null;
}
