import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import type { Publisher } from '../publisher/publisher.js';
import type { GatewayStore } from '../store/store.js';
import { ALIVE_MS, type Heartbeats } from './heartbeats.js';

/** Clocks that differ by no more than this agree, ms: a heartbeat is up to a second old when it is read. */
const TOLERANCE_MS = 2000;
/** Two clocks that differ by no more than this say the same: the last heartbeat of a gateway that is alive may be this old, ms. */
const AGREE_MS = ALIVE_MS + TOLERANCE_MS;
/** A clock that is off by more than this makes the health false, ms: no late heartbeat looks like that. */
const WRONG_MS = 60_000;
/** Votes of the store's own clock: it decides between as many gateways on both sides. */
const STORE_VOTES = 1.5;

export interface ClockWatchOptions {
  readonly heartbeats: Heartbeats;
  readonly store: Pick<GatewayStore, 'serverTime'>;
  /** Id of this gateway, whose own heartbeat may be from before its clock was set back. */
  readonly gateway: string;
  readonly publisher: Pick<Publisher, 'aheadMs'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error' | 'warn' | 'info'>;
}

/**
 * Compares the wall clock of this gateway with the clocks of the others, by their heartbeats, and with the stamps of its
 * own insights. Apps repair lost connections by the `ts` of insights, so they can miss some if the clocks differ. Most
 * clocks, with the store's own, decide which one is wrong. Where they cannot, the gateway that is behind another one says so:
 * a heartbeat may be late for many reasons, but it cannot be early.
 */
export class ClockWatch {
  #hasLooked = false;
  #behindMs = 0;
  #differenceMs = 0;
  #errorMs = 0;

  constructor(private readonly options: ClockWatchOptions) {}

  /** Time by which this gateway's clock is behind another gateway's clock or behind its own stamps, ms; 0 if it is not. */
  get behindMs(): number {
    return this.#behindMs;
  }

  /** Largest difference between this gateway's clock and that of another one that is alive, as of the last look, ms. */
  get differenceMs(): number {
    return this.#differenceMs;
  }

  /** Time by which this gateway's clock is ahead of most clocks, ms; negative if it is behind, 0 if it agrees or none decide. */
  get errorMs(): number {
    return this.#errorMs;
  }

  /** Throws an error that says what to do while this gateway's clock is far from most clocks. */
  check(): void {
    if (Math.abs(this.#errorMs) > WRONG_MS) throw new Error(`${saysOf(this.#errorMs)}: set it (chrony)`);
  }

  /** Whether a gateway with this id has sent a heartbeat to the store, as of the last look. */
  knows(gateway: string): boolean {
    return this.options.heartbeats.beatOf(gateway) !== undefined;
  }

  /** Reads the heartbeats; call once a second. Rejects as the store does. */
  async look(): Promise<void> {
    const { heartbeats, store, clock, log, publisher, gateway } = this.options;
    await heartbeats.look();
    const asked = clock.now();
    const server = await store.serverTime();
    if (!this.#hasLooked) this.#lookBack();
    const now = clock.now();
    const alive = heartbeats.heardWithin(ALIVE_MS).filter((id) => id !== gateway);
    const ahead = alive.map((id) => (heartbeats.beatOf(id) ?? now) - now);
    const votes = [0, ...ahead].map((at) => ({ ahead: at, votes: 1 }));
    if (server !== null) votes.push({ ahead: server - (asked + now) / 2, votes: STORE_VOTES });
    const most = mostOf(votes);
    const errorMs = most === null || Math.abs(most) <= AGREE_MS ? 0 : -most;
    if (errorMs !== 0 && this.#errorMs === 0)
      log.error({ errorMs: Math.round(errorMs) }, `${saysOf(errorMs)}: set it (chrony)`);
    this.#errorMs = errorMs;
    const others = Math.max(0, ...(most === null ? ahead : [-errorMs]));
    this.#differenceMs = Math.max(0, ...ahead.map(Math.abs));
    const behindMs = Math.max(others, publisher.aheadMs);
    if (behindMs > TOLERANCE_MS && this.#behindMs <= TOLERANCE_MS)
      log.warn(
        { behindMs: Math.round(behindMs) },
        others > TOLERANCE_MS
          ? "the clock of this gateway is behind another gateway's: set both, or apps may miss insights after lost connections"
          : "the clock was set back: the 'ts' of insights is ahead of it, and goes on at half speed until the clock has caught up; if it was far ahead by mistake, restart the gateway",
      );
    if (behindMs <= TOLERANCE_MS && this.#behindMs > TOLERANCE_MS) log.info({}, 'the clocks agree again');
    this.#behindMs = behindMs;
  }

  /** Reports heartbeats from the future: of a gateway whose clock was ahead, such as this one before a restart. */
  #lookBack(): void {
    const { heartbeats, clock, log } = this.options;
    const { newest } = heartbeats;
    if (newest - clock.now() > TOLERANCE_MS)
      log.warn(
        { now: new Date(clock.now()).toISOString(), newest: new Date(newest).toISOString() },
        'a gateway of this store had a clock that is ahead of this one: check both; until that time has passed, apps may miss insights after lost connections',
      );
    this.#hasLooked = true;
  }
}

interface Vote {
  /** Time by which a clock is ahead of this gateway's, ms. */
  readonly ahead: number;
  readonly votes: number;
}

/** The clock with which more than half of the votes agree, as its time ahead of this gateway's, ms; null if there is none. */
function mostOf(clocks: readonly Vote[]): number | null {
  const sum = (of: readonly Vote[]) => of.reduce((total, { votes }) => total + votes, 0);
  const most = clocks.find(
    ({ ahead }) => sum(clocks.filter((other) => Math.abs(other.ahead - ahead) <= AGREE_MS)) > sum(clocks) / 2,
  );
  return most?.ahead ?? null;
}

function saysOf(errorMs: number): string {
  const side = errorMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this gateway is wrong: ${Math.round(Math.abs(errorMs) / 1000)} s ${side} most clocks (the other gateways', the store's)`;
}
