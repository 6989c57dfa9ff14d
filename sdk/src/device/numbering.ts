import type { ReadyChannel } from './messages.js';

const MOST_NUMBERS = 2 ** 32;

/** The sequence numbers of a device's samples: those of a channel begin where the service expects them. */
export class Numbering {
  /** By channel: the number that the service expected first, and the one after the newest, counted from there. */
  readonly #origins = new Map<number, number>();
  readonly #next = new Map<number, number>();

  begin(channel: number, origin: number): void {
    this.#origins.set(channel, origin);
  }

  /**
   * Leaves numbers out, as lost by the device.
   *
   * @throws RangeError for a number of instants that is not whole
   */
  skip(channel: number, instants: number): void {
    if (!Number.isInteger(instants) || instants < 0)
      throw new RangeError(`instants must be a whole number from 0 on; it is ${instants}`);
    this.#next.set(channel, (this.#next.get(channel) ?? 0) + instants);
  }

  /**
   * Numbers samples.
   *
   * @param count values of the samples: whole instants
   * @param seq their caller's own number, counted from the channel's origin; absent: the next one
   * @returns the number of their first instant
   * @throws RangeError for an incomplete instant, or a number outside of the protocol's
   */
  take({ index, num_channels }: ReadyChannel, count: number, seq: number | undefined): number {
    const instants = count / num_channels;
    if (instants < 1 || !Number.isInteger(instants))
      throw new RangeError(
        `${count} samples are not a whole number of instants: channel ${index} has ${num_channels} values per instant`,
      );
    const own = seq ?? this.#next.get(index) ?? 0;
    const first = (this.#origins.get(index) ?? 0) + own;
    if (!Number.isInteger(first) || first < 0 || first + instants > MOST_NUMBERS)
      throw new RangeError(
        `sequence number ${first} is not from 0 to 2^32 - 1: end the session before its numbers run out`,
      );
    this.#next.set(index, own + instants);
    return first;
  }
}
