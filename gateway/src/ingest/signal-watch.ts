import { BRIDGED_MS, BYTES_PER_SAMPLE, type SampleRun } from '../analysis/sample-run.js';
import type { Signal } from '../peers/inspection.js';
import { sampleAt } from './frame.js';

/** Length of the signal that is kept of a displayed channel, ms of data time. */
const KEPT_MS = 30_000;
/** Time after the last request at which recording for display ends, ms. */
const WATCHED_MS = 10_000;
/** A display has room for 600 stretches; it shows the smallest and the largest sample of each. */
const STRETCH_MS = KEPT_MS / 600;
/** Number of sub-channels shown: the algorithms use no more. */
const LANES = 4;
/** Maximum number of bytes kept, whatever the rate: 10 kHz of four sub-channels for 10 s. */
const MAX_BYTES = 2 * 1024 * 1024;

type Kept = Pick<SampleRun, 't' | 'period' | 'encoding' | 'payload'>;

/** Keeps the samples of one channel while they are displayed. They are not stored. */
export class SignalWatch {
  #channel = -1;
  #width = 1;
  #askedAt = Number.NEGATIVE_INFINITY;
  #kept: Kept[] = [];
  #bytes = 0;

  constructor(private readonly clock: { monotonic(): number }) {}

  /** Takes a run, and copies it if its channel is displayed. */
  take({ channel, t, period, encoding, payload }: SampleRun): void {
    if (channel !== this.#channel) return;
    if (this.clock.monotonic() - this.#askedAt > WATCHED_MS) this.#begin(-1, 1);
    else {
      this.#kept.push({ t, period, encoding, payload: payload.slice() });
      this.#bytes += payload.length;
      while (this.#bytes > MAX_BYTES || t - (this.#kept[0]?.t ?? t) > KEPT_MS)
        this.#bytes -= this.#kept.shift()?.payload.length ?? 0;
    }
  }

  /** The display of a channel, which is recorded from now on. */
  look(channel: number, width: number): Signal {
    this.#askedAt = this.clock.monotonic();
    if (channel !== this.#channel) this.#begin(channel, width);
    return { channel, ...picture(this.#kept, this.#width) };
  }

  #begin(channel: number, width: number): void {
    this.#channel = channel;
    this.#width = width;
    this.#kept = [];
    this.#bytes = 0;
  }
}

function picture(kept: readonly Kept[], width: number): Pick<Signal, 't' | 'lanes'> {
  const drawn = new Picture(Math.min(width, LANES));
  let next = kept[0]?.t ?? 0;
  for (const { t: start, period, encoding, payload } of kept) {
    if (start - next > Math.max(BRIDGED_MS, 2 * period)) drawn.gap(next);
    const bytes = BYTES_PER_SAMPLE[encoding];
    const instants = payload.length / (bytes * width);
    for (let i = 0; i < instants; i++)
      drawn.add(start + i * period, (lane) => sampleAt(payload, encoding, (i * width + lane) * bytes));
    next = start + instants * period;
  }
  return drawn.end();
}

/** Collects samples into stretches. */
class Picture {
  readonly #t: number[] = [];
  readonly #lanes: (number | null)[][];
  #at = Number.NaN;
  #samples: number[][] = [];

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => []);
  }

  add(t: number, sampleOf: (lane: number) => number): void {
    const at = Math.floor(t / STRETCH_MS) * STRETCH_MS;
    if (at !== this.#at) {
      this.#close();
      this.#at = at;
      this.#samples = this.#lanes.map(() => []);
    }
    for (const [lane, samples] of this.#samples.entries()) samples.push(sampleOf(lane));
  }

  gap(t: number): void {
    this.#close();
    this.#at = Number.NaN;
    this.#t.push(t);
    for (const values of this.#lanes) values.push(null);
  }

  end(): Pick<Signal, 't' | 'lanes'> {
    this.#close();
    return { t: this.#t, lanes: this.#lanes };
  }

  #close(): void {
    if (Number.isNaN(this.#at)) return;
    this.#t.push(this.#at, this.#at + STRETCH_MS / 2);
    for (const [lane, values] of this.#lanes.entries()) values.push(...ends(this.#samples[lane] ?? []));
  }
}

/** The smallest and the largest sample of a stretch, in their original order. */
function ends(samples: readonly number[]): [number | null, number | null] {
  const found = samples.filter((value) => !Number.isNaN(value));
  if (found.length === 0) return [null, null];
  const [least, most] = [Math.min(...found), Math.max(...found)];
  return found.indexOf(least) <= found.lastIndexOf(most) ? [least, most] : [most, least];
}
