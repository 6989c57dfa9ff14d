import type { Clock } from '@device-insights/fanout/process/clock';
import { KEPT_MS } from '../peers/heartbeats.js';
import type { GatewayStore } from '../store/store.js';

/** No service is off for longer than this, ms: a wall clock that advances by more at once is wrong, or was. */
const JUMP_MS = 180 * 86_400_000;
/** Time for which a jump is not believed, so that somebody can set the clock, ms. */
const DOUBT_MS = 86_400_000;
/** Clocks of gateways that differ by more are doubted, ms: more than the age that a heartbeat reaches between two looks. */
const DIFFERENCE_MS = 900_000;

const JUMPED =
  'the clock is half a year or more ahead of a heartbeat in the store: RETENTION_DAYS erases nothing for a day; set the clock if it is wrong';
const DIFFERENT =
  'the clocks of two gateways differ by more than a quarter of an hour: RETENTION_DAYS erases nothing until they agree; set the one that is wrong';

/**
 * Doubts a wall clock: what is erased by a wrong one is lost. It is in doubt for a day after it has jumped
 * ahead by half a year or more, as a clock without a battery does, or a wrong time server, unless it is set back before; and
 * while it differs from that of another gateway. The evidence of jumps is the heartbeats in the store, so it outlives a restart.
 */
export class ClockDoubt {
  readonly #store: GatewayStore;
  readonly #clock: Clock;
  /** The heartbeats when they were last read. */
  #beats: ReadonlyMap<string, number> = new Map();
  /** The wall clock and the monotonic clock when there was last no evidence of a jump, ms. */
  #believed: { readonly wall: number; readonly at: number };

  constructor(store: GatewayStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#believed = { wall: clock.now(), at: clock.monotonic() };
  }

  /**
   * Reads the clocks and the heartbeats; call every ten minutes.
   *
   * @returns the cause for which the clock is in doubt, as a line for the log; null if there is none
   */
  async look(): Promise<string | null> {
    const [wall, at] = [this.#clock.now(), this.#clock.monotonic()];
    const earlier = this.#beats;
    this.#beats = await this.#store.beats();
    const before = jumpIn([...this.#beats.values(), Math.min(this.#believed.wall, wall), wall]);
    if (before !== null) {
      if (at - this.#believed.at >= DOUBT_MS) {
        await this.#store.forgetGateways(before + 1); // Those of gateways that are alive come again.
        this.#believed = { wall, at };
      }
      return JUMPED;
    }
    this.#believed = { wall, at };
    const isOff = ([id, beat]: [string, number]) =>
      (earlier.get(id) ?? beat) !== beat && Math.abs(beat - wall) > DIFFERENCE_MS;
    return [...this.#beats].some(isOff) ? DIFFERENT : null;
  }
}

/** Deletes the heartbeats of gateways that ended more than a day ago, unless they are evidence of a jump. */
export async function forgetFormerGateways(store: GatewayStore, now: number): Promise<void> {
  if (jumpIn([...(await store.beats()).values(), now]) === null) await store.forgetGateways(now - KEPT_MS);
}

/** The last of these times that is followed by a jump; null if there is none. */
function jumpIn(times: number[]): number | null {
  const sorted = times.sort((a, b) => a - b);
  return sorted.findLast((time, i) => (sorted[i + 1] ?? time) - time > JUMP_MS) ?? null;
}
