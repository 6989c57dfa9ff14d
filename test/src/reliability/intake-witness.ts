import type { Frame } from '@device-insights/gateway/test-ingest/frame';
import { SAMPLE_BYTES } from './hostile-frames.js';

/** The checked fields of an intake's output. */
interface Run {
  readonly channel: number;
  readonly t: number;
  readonly period: number;
  readonly lost: number;
  readonly encoding: Frame['encoding'];
  readonly payload: Uint8Array;
}

interface Line {
  readonly width: number;
  /** Spacing of the instants by the model, and length of the longest frame at that spacing, ms. */
  readonly nominal: number;
  longest: number;
  /** Number of the first accepted frame; null before. */
  first: number | null;
  next: number;
  /** Time of the last instant, ms. */
  end: number;
  delivered: number;
  lost: number;
}

/** Maximum by which a frame may begin ahead of its arrival, ms; its last instant may lie later by the frame's length. */
const MAX_FUTURE_MS = 60_000;
/** Total spacing of the instants that are held at that limit, ms. */
const SPACING_MS = 1000;

/**
 * Checks one intake: runs are in order of time and at most a minute ahead of their arrival, numbers only increase, and
 * every number is delivered once, or counted as lost or as a copy.
 */
export class IntakeWitness {
  readonly #lines: readonly Line[];

  /** @param now arrival time, ms */
  constructor(
    channels: readonly { readonly num_channels: number; readonly sample_rate_hz: number }[],
    private readonly now: () => number,
  ) {
    this.#lines = channels.map(({ num_channels: width, sample_rate_hz: rate }) => ({
      width,
      nominal: 1000 / rate,
      longest: 0,
      first: null,
      next: 0,
      end: Number.NEGATIVE_INFINITY,
      delivered: 0,
      lost: 0,
    }));
  }

  /** Called before a frame is received. */
  offer({ channel, seq, instants }: Frame): void {
    const line = this.#line(channel);
    line.longest = Math.max(line.longest, instants * line.nominal);
    if (line.delivered === 0) line.first = seq;
  }

  push({ channel, t, period, lost, encoding, payload }: Run): void {
    const line = this.#line(channel);
    const instants = payload.length / (line.width * SAMPLE_BYTES[encoding]);
    if (!Number.isInteger(instants) || instants < 1) throw new Error(`a run of ${instants} instants`);
    if (!(Number.isFinite(t) && Number.isFinite(period) && period > 0))
      throw new Error(`a run at ${t}, every ${period}`);
    if (!Number.isInteger(lost) || lost < 0) throw new Error(`a run after ${lost} lost`);
    if (!(t > line.end)) throw new Error(`a run at ${t} after one that ended at ${line.end}`);
    const ahead = t - this.now();
    if (ahead > MAX_FUTURE_MS + line.longest + SPACING_MS)
      throw new Error(`a run that begins ${ahead} ms after it arrived`);
    line.end = t + (instants - 1) * period;
    line.delivered += instants;
    line.lost += lost;
  }

  /** The next numbers, as announced to the device. */
  advance(nextSeq: Readonly<Record<string, number>>): void {
    for (const [channel, next] of Object.entries(nextSeq)) {
      const line = this.#line(Number(channel));
      if (next < line.next || next > 2 ** 32) throw new Error(`next_seq went from ${line.next} to ${next}`);
      line.next = next;
    }
  }

  /** Called when nothing is held any more. */
  settle(nextSeq: Readonly<Record<string, number>>, copied: readonly number[]): void {
    this.advance(nextSeq);
    for (const [channel, { first, next, delivered, lost }] of this.#lines.entries()) {
      const [known, all] = [`${delivered} delivered, ${lost} lost`, next - (first ?? 0)];
      const copies = copied[channel] ?? 0;
      if (delivered + lost + copies !== all)
        throw new Error(`channel ${channel}: ${known}, ${copies} copied of ${all}`);
    }
  }

  #line(channel: number): Line {
    const line = this.#lines[channel];
    if (!line) throw new Error(`there is no channel ${channel}`);
    return line;
  }
}
