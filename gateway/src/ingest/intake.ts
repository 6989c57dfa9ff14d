import type { SampleRun } from '../analysis/analysis.js';
import type { FrameErrorCode } from '../errors.js';
import type { ModalityChannel, SessionProgress } from '../store/store.js';
import type { Frame } from './frame.js';
import { type Piece, Sequence } from './sequence.js';
import { Timeline } from './timeline.js';

export interface IntakeOptions {
  readonly channels: readonly ModalityChannel[];
  /** Time of arrival: the server's, or a recording's own. */
  readonly clock: { now(): number };
  /** What is known of the session: `NO_PROGRESS` for a new one, the stored one where this process takes it up. */
  readonly progress: SessionProgress;
  /** Takes the runs, per channel in order of time. */
  readonly push: (run: SampleRun) => void;
  /** Told once per channel when its rate lies more than 20 % off the model's. */
  readonly onRateOff?: (channel: number, relativeRate: number) => void;
}

/** A session before its first data, with device times taken as they are. */
export const NO_PROGRESS: SessionProgress = {
  clockShift: 0,
  originWithoutClock: null,
  firstInstant: null,
  nextSeq: {},
  lastDataAt: null,
};

/** Why a well-formed frame is not used. */
export type IntakeRefusal = Extract<FrameErrorCode, 'unknown_channel' | 'too_late' | 'in_future'>;

/** Frames whose time lies farther ahead than this are refused, ms. */
const MAX_FUTURE_MS = 60_000;
/** Rates farther off the model's than this are logged. */
const MAX_RATE_OFF = 0.2;
const SECOND_MS = 1000;
/** Instants this close to a whole second lie on it, ms. */
const EPSILON_MS = 1e-3;

/** The receiving side of one session: frames in any order in, sample runs with settled times out. Pure but for `push`. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #channels: Channel[];
  #origin: number | null;
  #firstInstant: number | null;
  #lastDataAt: number | null;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#origin = options.progress.originWithoutClock;
    this.#firstInstant = options.progress.firstInstant;
    this.#lastDataAt = options.progress.lastDataAt;
    this.#channels = options.channels.map((channel, index) => this.#channel(channel, index));
  }

  /** Takes a frame; a code where it is refused, in which case nothing of it is used. */
  receive(frame: Frame): IntakeRefusal | null {
    const channel = this.#channels[frame.channel];
    if (!channel) return 'unknown_channel';
    const now = this.#options.clock.now();
    if (channel.sequence.isTooLate(frame)) return 'too_late';
    if (frame.ts !== null && this.#shifted(frame.ts) > now + MAX_FUTURE_MS) return 'in_future';
    const fresh = channel.sequence.accept(frame, now);
    channel.unacknowledgedMs += fresh * channel.timeline.nominal;
    if (fresh > 0) this.#lastDataAt = now;
    return null;
  }

  /** Gives up the holes in channels where nothing new has come for 2 s, about twice a second; returns whether it did. */
  tick(): boolean {
    const now = this.#options.clock.now();
    return this.#channels.filter(({ sequence }) => sequence.tick(now)).length > 0;
  }

  /** Gives up all holes: nothing more will come. */
  flush(): void {
    for (const { sequence } of this.#channels) sequence.flush();
  }

  /** `next_seq` per index of the channels that have begun here. */
  nextSeq(): Record<string, number> {
    const next: Record<string, number> = {};
    for (const [index, { sequence }] of this.#channels.entries())
      if (sequence.next !== null) next[index] = sequence.next;
    return next;
  }

  /** Data time received since the last `acknowledged`, of the channel with the most, ms. */
  get unacknowledgedMs(): number {
    return this.#channels.reduce((most, channel) => Math.max(most, channel.unacknowledgedMs), 0);
  }

  /** How many of the times that are fixed for the whole session are known by now. */
  get anchors(): number {
    return [this.#origin, this.#firstInstant].filter((time) => time !== null).length;
  }

  acknowledged(): void {
    for (const channel of this.#channels) channel.unacknowledgedMs = 0;
  }

  progress(): SessionProgress {
    return {
      clockShift: this.#options.progress.clockShift,
      originWithoutClock: this.#origin,
      firstInstant: this.#firstInstant,
      nextSeq: { ...this.#options.progress.nextSeq, ...this.nextSeq() },
      lastDataAt: this.#lastDataAt,
    };
  }

  #channel(model: ModalityChannel, index: number): Channel {
    const nominal = SECOND_MS / model.sample_rate_hz;
    const timeline = new Timeline(nominal);
    const sequence = new Sequence(nominal, (piece) => this.#place(index, piece, timeline));
    return { sequence, timeline, unacknowledgedMs: 0, isRateOff: false };
  }

  #place(channel: number, piece: Piece, timeline: Timeline): void {
    const ts = piece.ts === null ? null : this.#shifted(piece.ts);
    const { t, period } = timeline.place(piece, ts, () => this.#originWithoutClock(piece, timeline.nominal));
    this.#firstInstant ??= Math.floor(t);
    const { lost, encoding, payload } = piece;
    splitAtSeconds(
      { channel, t, period, lost, encoding, payload },
      piece.instants,
      this.#firstInstant,
      this.#options.push,
    );
    this.#watchRate(channel, timeline.relativeRate);
  }

  /** Time of number 0 where a device has no clock: such that the first frame without a time began when it arrived. */
  #originWithoutClock(piece: Piece, nominal: number): number {
    this.#origin ??= this.#options.clock.now() - (piece.seq - piece.skipped) * nominal;
    return this.#origin;
  }

  #shifted(ts: number): number {
    return ts + (this.#options.progress.clockShift ?? 0);
  }

  #watchRate(index: number, relativeRate: number): void {
    const channel = this.#channels[index];
    if (!channel || channel.isRateOff || Math.abs(relativeRate - 1) <= MAX_RATE_OFF) return;
    channel.isRateOff = true;
    this.#options.onRateOff?.(index, relativeRate);
  }
}

interface Channel {
  readonly sequence: Sequence;
  readonly timeline: Timeline;
  unacknowledgedMs: number;
  isRateOff: boolean;
}

/**
 * Splits a run of `instants` at the whole seconds after `first`, ms, so that a long frame becomes many short turns of
 * work. What was lost stays with the first part. Payloads are views.
 */
export function splitAtSeconds(run: SampleRun, instants: number, first: number, push: (part: SampleRun) => void): void {
  const width = run.payload.length / instants;
  for (let from = 0; from < instants; ) {
    const t = run.t + from * run.period;
    const second = Math.floor((t - first + EPSILON_MS) / SECOND_MS) + 1;
    const inSecond = Math.ceil((first + second * SECOND_MS - EPSILON_MS - t) / run.period);
    const to = Math.min(instants, from + Math.max(1, inSecond));
    push({ ...run, t, lost: from === 0 ? run.lost : 0, payload: run.payload.subarray(from * width, to * width) });
    from = to;
  }
}
