import type { Clock } from '@device-insights/fanout/platform/clock';
import type { GatewayStore } from '../store/store.js';

/** The observed state of a gateway. Times are monotonic, ms. */
interface Seen {
  beat: number;
  /**
   * Time of its last heartbeat; estimated by the wall clock for a gateway whose heartbeat has not been seen to change.
   */
  at: number;
  /** Time at which its heartbeat was seen to change; null if it never was. */
  heardAt: number | null;
  readonly since: number;
}

/**
 * A longer interval between two reads than this means that this process or the store stood still, so that no heartbeat
 * could be seen, ms.
 */
const STANDSTILL_MS = 5000;
/** A gateway whose heartbeat changed this recently is alive, ms. */
export const ALIVE_MS = 3000;
/** A gateway that is no longer in the store is kept for this long after its last heartbeat, ms. */
export const KEPT_MS = 86_400_000;

/**
 * Which gateways of the store are alive. A gateway is alive while its heartbeat changes, whatever its clock and this
 * process's clock say: setting a wall clock does not make a dead gateway count as alive, or the reverse. A gateway
 * is not dead because it is no longer in the store: another one with a wrong clock may have forgotten it.
 */
export class Heartbeats {
  readonly #gateways = new Map<string, Seen>();
  #firstLookAt: number | null = null;
  #lookedAt: number | null = null;
  #looking: Promise<void> = Promise.resolve();
  #nextLook: Promise<void> | null = null;

  constructor(
    private readonly store: Pick<GatewayStore, 'beats'>,
    private readonly clock: Clock,
  ) {}

  /** Reads the heartbeats as they are after the call; call about once a second. Rejects as the store does. */
  look(): Promise<void> {
    this.#nextLook ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#nextLook = null;
        this.#looking = this.#read();
        return this.#looking;
      });
    return this.#nextLook;
  }

  async #read(): Promise<void> {
    const beats = await this.store.beats();
    const now = this.clock.monotonic();
    this.#leaveOut(now - (this.#lookedAt ?? now));
    for (const [gateway, beat] of beats) this.#see(gateway, beat, now);
    for (const [gateway, { at }] of this.#gateways)
      if (!beats.has(gateway) && now - at > KEPT_MS) this.#gateways.delete(gateway);
    this.#firstLookAt ??= now;
    this.#lookedAt = now;
  }

  /** Time since a gateway's heartbeat changed, ms; infinite for an unknown gateway. */
  silenceOf(gateway: string): number {
    return this.clock.monotonic() - (this.#gateways.get(gateway)?.at ?? Number.NEGATIVE_INFINITY);
  }

  /** Time since the first read, ms; 0 before it. */
  get observedFor(): number {
    return this.#firstLookAt === null ? 0 : this.clock.monotonic() - this.#firstLookAt;
  }

  /** The newest heartbeat of a gateway; undefined for an unknown gateway. */
  beatOf(gateway: string): number | undefined {
    return this.#gateways.get(gateway)?.beat;
  }

  /** The newest heartbeat of all gateways; -infinity if there is none. */
  get newest(): number {
    return Math.max(...[...this.#gateways.values()].map(({ beat }) => beat));
  }

  /** The gateways whose heartbeat changed in the last `ms`. */
  heardWithin(ms: number): string[] {
    const since = this.clock.monotonic() - ms;
    return [...this.#gateways].filter(([, { heardAt }]) => heardAt !== null && heardAt >= since).map(([id]) => id);
  }

  /** The gateways that have been silent for no longer than `ms`, or have been observed for less than `least` ms. */
  notSilentFor(ms: number, least: number): string[] {
    const now = this.clock.monotonic();
    return [...this.#gateways].filter(([, { at, since }]) => now - at <= ms || now - since < least).map(([id]) => id);
  }

  #see(gateway: string, beat: number, now: number): void {
    const seen = this.#gateways.get(gateway);
    if (!seen) {
      const isNew = this.#lookedAt !== null; // Its first heartbeat was after this process had read them.
      const age = isNew ? 0 : Math.max(0, this.clock.now() - beat);
      this.#gateways.set(gateway, { beat, at: now - age, heardAt: isNew ? now : null, since: now });
    } else if (seen.beat !== beat) {
      seen.beat = beat;
      seen.at = seen.heardAt = now;
    }
  }

  #leaveOut(gap: number): void {
    if (gap > STANDSTILL_MS) for (const seen of this.#gateways.values()) seen.at += gap;
  }
}

/**
 * Throws an error that says what to do while another gateway is alive, whose insights a bus within this process does not
 * carry. Only heartbeats that are seen to change count: others may be left from an earlier run.
 */
export function refuseOthers(heartbeats: Heartbeats, gateway: string): void {
  if (heartbeats.heardWithin(ALIVE_MS).some((id) => id !== gateway))
    throw new Error('several gateways use this store, but no Redis connects them: set REDIS_URL');
}
