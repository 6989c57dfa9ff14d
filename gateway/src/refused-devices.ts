import { remember } from '@device-insights/fanout/platform/remember';

/** Refusals that are remembered of each account, and accounts of which they are remembered; the oldest are forgotten first. */
const REMEMBERED = 100;
const ACCOUNTS = 1000;

/** A refused connection of a device, as the log and the dashboard show it. */
export interface RefusedDevice {
  /** As the device sent it, at most 128 characters; null if it sent none. */
  readonly deviceId: string | null;
  readonly code: number;
  readonly reason: string;
  readonly address: string;
  /** The first characters of its key; null if it sent none. */
  readonly keyPrefix: string | null;
}

/** The same refusal, with the number of times and the time of the last one, ms. */
export interface Refusals extends RefusedDevice {
  readonly count: number;
  readonly at: number;
}

/** The last refused connections of each account, on this gateway. A device that tries again counts in one entry. */
export class RefusedDevices {
  readonly #accounts = new Map<string, Map<string, Refusals>>();

  add(accountId: string, refused: RefusedDevice, at: number): void {
    const own = this.#accounts.get(accountId) ?? new Map<string, Refusals>();
    remember(this.#accounts, accountId, own, ACCOUNTS);
    const kind = JSON.stringify(refused);
    remember(own, kind, { ...refused, count: (own.get(kind)?.count ?? 0) + 1, at }, REMEMBERED);
  }

  /** Those of an account, the newest first. */
  of(accountId: string): Refusals[] {
    return [...(this.#accounts.get(accountId)?.values() ?? [])].reverse();
  }
}
