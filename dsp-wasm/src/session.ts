import { checkChannel, checkPush, KIND } from './arguments.js';
import type { CoreChannel } from './core.js';
import { BYTES_PER_SAMPLE, type Encoding } from './encoding.js';
import type { Kernel } from './kernel.js';

/** One session's signal state, in a slot of the core. After `close` it does nothing, even if another session has the slot. */
export class CoreSession {
  /** Slot, or -1 once closed. */
  index: number;
  readonly #kernel: Kernel;
  readonly #channels: readonly CoreChannel[];
  readonly #release: (index: number) => void;
  readonly #staging: number;
  readonly #stagingBytes: number;
  readonly #first: number;
  readonly #period: number;

  constructor(kernel: Kernel, index: number, channels: readonly CoreChannel[], release: (index: number) => void) {
    this.#kernel = kernel;
    this.index = index;
    this.#channels = channels;
    this.#release = release;
    this.#staging = kernel.constant('STAGING');
    this.#stagingBytes = kernel.constant('STAGING_BYTES');
    this.#first = kernel.constant('PUSH_FIRST');
    this.#period = kernel.constant('PUSH_PERIOD');
    kernel.call.open(index);
    for (const c of channels) kernel.call.channel(index, KIND[c.modality], c.numChannels, c.bitDepth ?? 0);
    kernel.call.ready(index);
  }

  /**
   * Appends instants to a channel. Pushes to one channel are in order of time. A jump of `t` is a gap: up to 0.25 s it is
   * bridged by interpolation, a longer one stays empty. A missing value is a float32 NaN.
   * @param channel index into the channels given to `open`
   * @param t time of the first instant, seconds
   * @param period spacing of the instants, seconds
   * @param payload whole instants in `encoding`; may be longer than the core's staging area (pushed in parts)
   * @returns number of missing instants (NaN in every used sub-channel); 0 after `close`
   * @throws TypeError or RangeError for an unknown channel or encoding, times out of range, or part of an instant
   */
  push(channel: number, t: number, period: number, encoding: Encoding, payload: Uint8Array): number {
    checkChannel(channel, this.#channels);
    const numChannels = this.#channels[channel]?.numChannels ?? 1;
    checkPush(t, period, encoding, payload, numChannels);
    if (this.index < 0) return 0;
    const stride = BYTES_PER_SAMPLE[encoding] * numChannels;
    if (payload.length <= this.#stagingBytes) return this.#pushStaged(channel, t, period, encoding, payload, stride);
    const part = Math.floor(this.#stagingBytes / stride);
    let missing = 0;
    for (let i = 0; i * stride < payload.length; i += part) {
      const bytes = payload.subarray(i * stride, (i + part) * stride);
      missing += this.#pushStaged(channel, t + i * period, period, encoding, bytes, stride);
    }
    return missing;
  }

  /** Passes only integers as arguments, because a float would be allocated on the heap. */
  #pushStaged(ch: number, t: number, period: number, encoding: Encoding, payload: Uint8Array, stride: number): number {
    const { bytes, view, call } = this.#kernel;
    bytes.set(payload, this.#staging);
    view.setFloat64(this.#first, t, true);
    view.setFloat64(this.#period, period, true);
    return call.push(this.index, ch, encoding, Math.floor(payload.length / stride));
  }

  /** Whether it is a session of the given kernel. */
  isOf(kernel: Kernel): boolean {
    return kernel === this.#kernel;
  }

  /**
   * Unread R peaks that the steps have found so far: seconds, ascending.
   * @throws RangeError for an unknown channel
   */
  readPeaks(channel: number): Float64Array {
    checkChannel(channel, this.#channels);
    if (this.index < 0) return new Float64Array(0);
    const count = this.#kernel.call.peaks(this.index, channel);
    return Float64Array.from({ length: count }, (_, i) => this.#kernel.view.getFloat64(this.#staging + 8 * i, true));
  }

  close(): void {
    if (this.index < 0) return;
    this.#release(this.index);
    this.index = -1;
  }
}
