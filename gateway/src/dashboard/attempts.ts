import { isIP } from 'node:net';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { remember } from '@device-insights/fanout/platform/remember';

/** Failures of one address without a delay, because people mistype. */
const FREE = 20;
/** The first delay after them, which doubles with each failure, and the longest, ms. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** Failures are forgotten after this long without another one, ms. */
const FORGET_MS = 900_000;
/** Maximum number of addresses, networks and operators that are remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000;

/** Failures of a client that do not move it back in the order of checks, because people mistype. */
const MISTYPED = 2;

/** Times are those of the monotonic clock, ms. */
interface Failures {
  count: number;
  readonly first: number;
  readonly at: number;
}

/**
 * Counts failed attempts to sign in, and slows them down per client address; an IPv6 network of 64 bits, which one client
 * may have whole, counts as one address. Nothing is refused because of failures elsewhere: then strangers could lock an
 * operator out. Its memory is limited.
 */
export class Attempts {
  readonly #addresses = new Map<string, Failures>();
  /** Those of wider networks, of which a stranger may have many addresses. */
  readonly #networks = new Map<string, Failures>();
  /** Those of one name at one address. */
  readonly #pairs = new Map<string, Failures>();
  /** Addresses from which each operator has signed in. */
  readonly #homes = new Map<string, true>();

  constructor(private readonly clock: Clock) {}

  /** The time, ms, before this client may try again; 0 means now. */
  waitOf(client: string): number {
    const failures = this.#addresses.get(addressOf(client));
    if (!failures || failures.count < FREE) return 0;
    const since = this.clock.monotonic() - failures.at;
    if (since >= FORGET_MS) return 0;
    return Math.max(0, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures.count - FREE)) - since);
  }

  /** Number of recent failures in a network, as `networkOf` gives it, beyond those that count as mistyped. */
  failuresOf(network: string): number {
    return Math.max(0, this.#countOf(this.#networks.get(network)) - MISTYPED);
  }

  /** The time of the first recent failure in a network; now if there is none. */
  sinceOf(network: string): number {
    const failures = this.#networks.get(network);
    return failures && this.#countOf(failures) > 0 ? failures.first : this.clock.monotonic();
  }

  /** Whether this operator has signed in from this client's address before. */
  isKnown(client: string, name: string): boolean {
    return this.#homes.has(pairOf(client, name));
  }

  /** As `waitOf`; if that is 0, the attempt is counted: call it only when the password is checked. */
  begin(client: string, name: string): number {
    const wait = this.waitOf(client);
    if (wait > 0) return wait;
    this.#count(this.#addresses, addressOf(client));
    this.#count(this.#networks, networkOf(client));
    this.#count(this.#pairs, pairOf(client, name));
    return 0;
  }

  /** Records a successful attempt: previous failures with this name here are forgotten, but not those with other names. */
  succeeded(client: string, name: string): void {
    const pair = pairOf(client, name);
    const own = this.#countOf(this.#pairs.get(pair));
    for (const failures of [this.#addresses.get(addressOf(client)), this.#networks.get(networkOf(client))])
      if (failures) failures.count -= Math.min(failures.count, own);
    this.#pairs.delete(pair);
    this.know(client, name);
  }

  /** Records that this operator has signed in from this client's address. */
  know(client: string, name: string): void {
    remember(this.#homes, pairOf(client, name), true, REMEMBERED);
  }

  #count(of: Map<string, Failures>, what: string): void {
    const [failures, at] = [of.get(what), this.clock.monotonic()];
    const count = this.#countOf(failures);
    remember(of, what, { count: count + 1, first: failures && count > 0 ? failures.first : at, at }, REMEMBERED);
  }

  #countOf(failures: Failures | undefined): number {
    return failures && this.clock.monotonic() - failures.at < FORGET_MS ? failures.count : 0;
  }
}

/** The first 64 bits of an IPv6 address (the subnet prefix of RFC 4291, section 2.5.1); else the address. */
export function addressOf(client: string): string {
  return prefixOf(client, 4);
}

/** The first 48 bits of an IPv6 address (the size of a site, RFC 6177); else the address. */
export function networkOf(client: string): string {
  return prefixOf(client, 3);
}

/** Groups of 16 bits at the beginning of an IPv6 address, which may be compressed; else the address. */
function prefixOf(address: string, groups: number): string {
  if (isIP(address) !== 6) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right]
    .slice(0, groups)
    .map((group) => Number.parseInt(group, 16))
    .join(':');
}

function pairOf(client: string, name: string): string {
  return `${addressOf(client)} ${name}`;
}
