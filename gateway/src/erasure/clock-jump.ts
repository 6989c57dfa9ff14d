import type { Clock } from '@device-insights/fanout/process/clock';
import { KEPT_MS } from '../peers/heartbeats.js';
import type { Store } from '../store/store.js';

/** No service is off for longer than this, ms: a wall clock that advances by more at once is wrong, or was. */
const JUMP_MS = 180 * 86_400_000;
/** Time for which a jump is not believed, so that somebody can set the clock, ms. */
const DOUBT_MS = 86_400_000;

/**
 * Doubts a wall clock that has jumped ahead by half a year or more, as a clock without a battery does, or a wrong time
 * server: what is erased by such a clock is lost. The evidence is the heartbeats in the store, so it outlives a restart.
 */
export class ClockJump {
  readonly #store: Pick<Store, 'beats' | 'forgetGateways'>;
  readonly #clock: Clock;
  /** The wall clock and the monotonic clock when they were last read, ms. */
  #last: { readonly wall: number; readonly at: number };
  /** Monotonic time since which this process has seen no jump, ms. */
  #since: number;
  #hasJumped = false;

  constructor(store: Pick<Store, 'beats' | 'forgetGateways'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#last = { wall: clock.now(), at: clock.monotonic() };
    this.#since = this.#last.at;
  }

  /**
   * Whether the clock is in doubt: it has jumped within the last day, or since the last process that ran for a day, or
   * differs by as much from the clock of a gateway that is alive.
   */
  async isDoubtful(): Promise<boolean> {
    const [wall, at] = [this.#clock.now(), this.#clock.monotonic()];
    if (wall - this.#last.wall - (at - this.#last.at) > JUMP_MS) [this.#since, this.#hasJumped] = [at, true];
    this.#last = { wall, at };
    const before = jumpIn([...(await this.#store.beats()).values(), wall]);
    if (at - this.#since >= DOUBT_MS) {
      this.#hasJumped = false;
      // Those of gateways that are alive come again.
      if (before !== null) await this.#store.forgetGateways(before + 1);
    }
    return this.#hasJumped || before !== null;
  }
}

/** Deletes the heartbeats of gateways that ended more than a day ago, unless they are evidence of a jump. */
export async function forgetFormerGateways(store: Pick<Store, 'beats' | 'forgetGateways'>, now: number): Promise<void> {
  if (jumpIn([...(await store.beats()).values(), now]) === null) await store.forgetGateways(now - KEPT_MS);
}

/** The last of these times that is followed by a jump; null if there is none. */
function jumpIn(times: number[]): number | null {
  const sorted = times.sort((a, b) => a - b);
  return sorted.findLast((time, i) => (sorted[i + 1] ?? time) - time > JUMP_MS) ?? null;
}
