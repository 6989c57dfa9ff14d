import type { Frame } from '@device-insights/gateway/test-ingest/frame';
import type { Random } from './random.js';

/** A channel as the generator needs it. */
export interface HostileChannel {
  readonly sample_rate_hz: number;
  readonly num_channels: number;
}

const HEADER = 16;
/** In one frame. */
export const MOST_INSTANTS = 64;
/** Maximum data time by which numbers are early, seconds: some gaps are filled in time and some are not. */
const AHEAD_S = 3;
export const SAMPLE_BYTES: Readonly<Record<Frame['encoding'], number>> = { 1: 2, 2: 3, 3: 4, 4: 4 };
const ENCODINGS = [1, 2, 3, 4] as const;
/** Float32 infinity, little endian, as its last two bytes. */
const INFINITY = [0x80, 0x7f];
const EXTREMES = [0, -0, -1, 5e-324, 1e308, -1e308, 8.64e15, -8.64e15, 2 ** 53, Infinity, -Infinity];
const JSON_PIECES = [
  'null',
  'true',
  '{}',
  '[]',
  '"x"',
  '-1',
  '1e999',
  '0.5',
  '4294967296',
  '{"type":"samples"}',
  '"\\ud800"',
];

/**
 * Frames of one device: most are good, in order or nearly so; the rest is arbitrary. Binary frames are views of one
 * buffer.
 */
export class HostileFrames {
  readonly #bytes = Buffer.alloc(HEADER + MOST_INSTANTS * 4 * 4 + 8);
  readonly #next: number[];
  /** Share of arbitrary numbers: one far ahead makes all later numbers that continue in order too late. */
  readonly #wild: number;

  constructor(
    readonly random: Random,
    readonly channels: readonly HostileChannel[],
  ) {
    this.#wild = random.chance(0.1) ? 0.01 : 0;
    this.#next = channels.map(() => (random.chance(0.8) ? 0 : random.u32()));
    for (let i = HEADER; i < this.#bytes.length; i += 4) this.#bytes.writeInt32LE(random.u32() >> 12, i);
  }

  /** A binary frame; valid until the next one is requested. `now` is about the device's time, ms. */
  binary(now: number): Buffer {
    const { random } = this;
    const channel = random.below(this.channels.length);
    const encoding = random.pick(ENCODINGS);
    const instants = 1 + random.below(MOST_INSTANTS);
    const width = this.channels[channel]?.num_channels ?? 1;
    const length = HEADER + instants * width * SAMPLE_BYTES[encoding];
    const bytes = this.#bytes;
    const seq = this.#seq(channel, instants);
    bytes.writeUInt32LE((0x01 | (channel << 8) | (encoding << 16)) >>> 0, 0);
    bytes.writeUInt32LE(seq, 4);
    bytes.writeDoubleLE(this.#ts(channel, seq, now), 8);
    if (encoding === 4) this.#plainFloats(length);
    return random.chance(0.2) ? this.#mutated(length) : bytes.subarray(0, length);
  }

  /** A text message: samples in their text form, other messages, and invalid ones. */
  text(now: number): string {
    const { random } = this;
    if (random.chance(0.05)) return random.pick(['{"type":"ping"}', '{"type":"ping","t":1}', '{"type":"ping","t":[]}']);
    const channel = random.below(this.channels.length);
    const instants = 1 + random.below(8);
    const seq = this.#seq(channel, instants);
    const ts = this.#ts(channel, seq, now);
    const values = Array.from({ length: instants * (this.channels[channel]?.num_channels ?? 1) }, () => this.#value());
    const time = Number.isFinite(ts) ? `,"ts":${ts}` : '';
    const text = `{"type":"samples","channel":${channel},"seq":${seq}${time},"samples":[${values}]}`;
    return random.chance(0.3) ? this.#spoilt(text) : text;
  }

  #value(): string {
    const { random } = this;
    if (random.chance(0.05)) return 'null';
    return random.chance(0.1) ? `${random.uniform()}` : `${random.below(2 ** 18)}`;
  }

  /** Numbers: usually the next ones, sometimes skipped, repeated, early, or arbitrary. */
  #seq(channel: number, instants: number): number {
    const { random } = this;
    const next = this.#next[channel] ?? 0;
    const kind = random.uniform();
    if (kind < this.#wild) return random.u32();
    if (kind < 0.1) return Math.max(0, next - random.below(4 * MOST_INSTANTS));
    const ahead = Math.ceil(AHEAD_S * (this.channels[channel]?.sample_rate_hz ?? 1));
    const seq = (kind < 0.18 ? next + random.below(ahead) : next) >>> 0;
    if (kind < 0.102 || kind >= 0.18) this.#next[channel] = (seq + instants) >>> 0;
    return seq;
  }

  /** Times: usually those that follow from the numbers. */
  #ts(channel: number, seq: number, now: number): number {
    const { random } = this;
    const kind = random.uniform();
    if (kind < 0.05) return Number.NaN;
    if (kind < 0.1) return now + (random.uniform() - 0.5) * 200_000;
    if (kind < 0.12) return random.pick(EXTREMES);
    const newest = this.#next[channel] ?? 0;
    return now + ((seq - newest) * 1000) / (this.channels[channel]?.sample_rate_hz ?? 1) + random.uniform() * 20;
  }

  /** Random bits are sometimes NaN; a good frame has no infinity. */
  #plainFloats(length: number): void {
    for (let at = HEADER; at + 4 <= length; at += 4) {
      const high = this.#bytes[at + 3] ?? 0;
      if ((high & 0x7f) === 0x7f) this.#bytes[at + 3] = high & 0xbf;
    }
  }

  #mutated(length: number): Buffer {
    const { random } = this;
    const bytes = this.#bytes;
    const kind = random.below(6);
    if (kind === 0) return bytes.subarray(0, random.below(length + 1));
    if (kind === 1) return bytes.subarray(0, Math.min(bytes.length, length + 1 + random.below(3)));
    if (kind === 2) for (let n = random.below(4); n >= 0; n--) bytes[this.#headerByte()] = random.below(256);
    if (kind === 3) bytes[random.below(4)] = random.below(6);
    if (kind === 4) bytes.set(INFINITY, HEADER + 2);
    if (kind === 5 && this.#wild > 0) bytes.writeUInt32LE((2 ** 32 - 1 - random.below(MOST_INSTANTS)) >>> 0, 4);
    return bytes.subarray(0, length);
  }

  /** A byte of the header; of the number only if numbers may be arbitrary. */
  #headerByte(): number {
    const at = this.random.below(HEADER);
    return this.#wild === 0 && at >= 4 && at < 8 ? 0 : at;
  }

  #spoilt(text: string): string {
    const { random } = this;
    const at = random.below(text.length);
    const kind = random.below(4);
    if (kind === 0) return text.slice(0, at);
    if (kind === 1) return text.slice(0, at) + String.fromCharCode(random.below(0x250)) + text.slice(at + 1);
    if (kind === 2) return text.replace(/:[^,}[]+/, `:${random.pick(JSON_PIECES)}`);
    return random.pick(JSON_PIECES);
  }
}
