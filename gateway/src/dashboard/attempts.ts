import { isIP } from 'node:net';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { remember } from '@device-insights/fanout/platform/remember';

/** Attempts without a delay, and the longest delay after them, ms. It is short, because people mistype. */
const OF_NAME = { free: 5, longestMs: 30_000 };
const OF_ADDRESS = { free: 20, longestMs: 60_000 };
const FIRST_WAIT_MS = 1000;
/** Failures are forgotten after this long without another one, ms. */
const FORGET_MS = 900_000;
/** Maximum number of names, and of addresses, that are remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000;

/** Standing of a client that tries to sign in: it has signed in with this name before, or not; then, whether it failed lately. */
export type Standing = 'known' | 'new' | 'failed';

interface Failures {
  count: number;
  at: number;
}

/**
 * Slows down attempts to sign in, per name and per client address; an IPv6 network of 64 bits, which one client may have
 * whole, counts as one address. Its memory is limited.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #names = new Map<string, Failures>();
  readonly #addresses = new Map<string, Failures>();
  /** Those of one name at one address. */
  readonly #pairs = new Map<string, Failures>();
  /** Addresses from which each operator has signed in; failures of others with its name do not delay it there. */
  readonly #homes = new Map<string, true>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time, ms, before this client may try this name; 0 means now. */
  waitOf(client: string, name: string): number {
    const address = networkOf(client);
    return Math.max(
      this.#homes.has(pairOf(address, name)) ? 0 : this.#waitOf(this.#names.get(name), OF_NAME),
      this.#waitOf(this.#addresses.get(address), OF_ADDRESS),
    );
  }

  /** How much is known of a client that tries a name: strangers must not hold up those who are known. */
  standingOf(client: string, name: string): Standing {
    const address = networkOf(client);
    if (this.#homes.has(pairOf(address, name))) return 'known';
    return this.#countOf(this.#addresses.get(address)) === 0 ? 'new' : 'failed';
  }

  /** As `waitOf`; if that is 0, the attempt is counted: call it only when the password is checked. */
  begin(client: string, name: string): number {
    const wait = this.waitOf(client, name);
    if (wait > 0) return wait;
    const address = networkOf(client);
    this.#count(this.#names, name);
    this.#count(this.#addresses, address);
    this.#count(this.#pairs, pairOf(address, name));
    return 0;
  }

  /** Records a successful attempt: previous failures with this name are forgotten, but not those of other names at this address. */
  succeeded(client: string, name: string): void {
    const address = networkOf(client);
    const pair = pairOf(address, name);
    const here = this.#addresses.get(address);
    if (here) here.count -= Math.min(here.count, this.#countOf(this.#pairs.get(pair)));
    this.#names.delete(name);
    this.#pairs.delete(pair);
    remember(this.#homes, pair, true, REMEMBERED);
  }

  #waitOf(failures: Failures | undefined, { free, longestMs }: typeof OF_NAME): number {
    if (!failures || failures.count < free) return 0;
    const since = this.#clock.monotonic() - failures.at;
    if (since >= FORGET_MS) return 0;
    return Math.max(0, Math.min(longestMs, FIRST_WAIT_MS * 2 ** (failures.count - free)) - since);
  }

  #count(of: Map<string, Failures>, what: string): void {
    const count = this.#countOf(of.get(what)) + 1;
    remember(of, what, { count, at: this.#clock.monotonic() }, REMEMBERED);
  }

  #countOf(failures: Failures | undefined): number {
    return failures && this.#clock.monotonic() - failures.at < FORGET_MS ? failures.count : 0;
  }
}

/** The first 64 bits of an IPv6 address (the subnet prefix of RFC 4291, section 2.5.1), which may be compressed; else the address. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':');
}

function pairOf(address: string, name: string): string {
  return `${address} ${name}`;
}
