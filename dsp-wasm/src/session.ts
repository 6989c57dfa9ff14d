import { checkChannel, checkPush, checkSource, KIND } from './arguments.js';
import type { CoreChannel } from './core.js';
import { BYTES_PER_SAMPLE, type Encoding } from './encoding.js';
import type { Kernel } from './kernel.js';

/** What beats are found in, in the order of their numbers (assembly/estimators.ts). */
const BEAT_SOURCES = ['ecg', 'ppg'] as const;
export type BeatSource = (typeof BEAT_SOURCES)[number];

/** A beat of the heart. */
export interface Beat {
  /** Time of the R peak, or of the steepest upstroke of the pulse, seconds since the first instant. */
  readonly t: number;
  /** From 0 to 1. */
  readonly quality: number;
}

/** A beat at or before the end of the newest step, less this, is final: never changed, added or removed later. Seconds. */
export const BEAT_LAG_S = 8;

/** A window of variability or rhythm ends this before the step that computes it, when nearly all of its beats are final. Seconds. */
export const WINDOW_LAG_S = 3;

/** One session's signal state, in a slot of the core. After `close` it does nothing, even if another session has the slot. */
export class CoreSession {
  /** Slot, or -1 once closed. */
  index: number;
  readonly #kernel: Kernel;
  readonly #channels: readonly CoreChannel[];
  readonly #release: (index: number) => void;
  readonly #staging: number;
  readonly #stagingBytes: number;
  readonly #times: number;

  constructor(kernel: Kernel, index: number, channels: readonly CoreChannel[], release: (index: number) => void) {
    this.#kernel = kernel;
    this.index = index;
    this.#channels = channels;
    this.#release = release;
    this.#staging = kernel.constant('STAGING');
    this.#stagingBytes = kernel.constant('STAGING_BYTES');
    this.#times = kernel.constant('PUSH');
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
    view.setFloat64(this.#times, t, true);
    view.setFloat64(this.#times + 8, period, true);
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

  /**
   * Beats with `from` < t <= `to`, ascending, that the steps so far have found; they reach back 60 s or more. Light is searched only when
   * its beats, or an estimate of them, are asked for, and then from the time before, at most 16 s, on: ask every 10 s or so.
   * @throws RangeError for an unknown source
   */
  beats(source: BeatSource, from: number, to: number): Beat[] {
    checkSource(source, BEAT_SOURCES);
    if (this.index < 0) return [];
    const count = this.#kernel.call.beats(this.index, BEAT_SOURCES.indexOf(source));
    const { view } = this.#kernel;
    const at = (i: number) => view.getFloat64(this.#staging + 8 * i, true);
    const kept = Array.from({ length: count }, (_, i) => ({ t: at(2 * i), quality: at(2 * i + 1) }));
    return kept.filter(({ t }) => t > from && t <= to);
  }

  close(): void {
    if (this.index < 0) return;
    this.#release(this.index);
    this.index = -1;
  }
}
