import type { Clock } from '@device-insights/fanout/platform/clock';
import type { SampleRun } from '../analysis/sample-run.js';
import type { ModalityChannel, SessionProgress } from '../store/store.js';
import { Copies } from './copies.js';
import { type Fault, type Frame, fault } from './frame.js';
import { DISORDERED, type Notices, rateOff, UNSTEADY, wentBack } from './notices.js';
import { NUMBERING_FAULTS, Numbering } from './numbering.js';
import { Order } from './order.js';
import { Excess, MAX_LEAD_MS, Pace } from './pace.js';
import { Held, type Piece, Sequence } from './sequence.js';
import { BACK_MS, MAX_FUTURE_MS, type Slip, Timeline } from './timeline.js';

interface IntakeOptions {
  readonly channels: readonly ModalityChannel[];
  /** Arrival times: the server's clock, which must not go back, or the times of a recording. */
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /**
   * The stored state of the session: `NO_PROGRESS` for a new session, the stored progress if this process takes it
   * over.
   */
  readonly progress: SessionProgress;
  /** Receives problems with the data. */
  readonly notices: Notices;
}

/** The progress of a session before its first data, without a clock shift. */
export const NO_PROGRESS: SessionProgress = {
  clockShift: 0,
  originWithoutClock: null,
  firstInstant: null,
  nextSeq: {},
  lastDataAt: null,
};

const TOO_LATE =
  'these sequence numbers have been given up as lost: within a session numbers must neither wrap nor start again, but continue at next_seq';
const IN_FUTURE =
  'ts lies more than 60 s in the future: give ms since the epoch, not µs, in binary as a little-endian double; if the device clock is off, connect with the clock parameter, in ms too';
const TOO_FAST =
  'data without ts arrive faster than they can be measured, so their times would lie in the future: send ts with stored data, or send data without ts no faster than measured';

const TOO_FAST_BACK =
  'ts went back or hardly advanced (it must be in ms), or the first frames had none, so times are counted on from the frame before, and data arrive faster than they can be measured: send data with earlier ts in a session or upload of its own, with ts from the first frame';

/** The device gets a notice if its rate is known and differs from the model's by more than this. */
const NOTED_RATE_OFF = 0.05;
/** Time for which data are not trusted after part of a copy was used, ms. */
const TORN_MS = 10_000;
const SECOND_MS = 1000;
/** An instant within this distance of a whole second counts as on it, ms. */
const EPSILON_MS = 1e-3;

/**
 * The receiving side of one session: takes frames in any order and returns sample runs with final times, in order of time
 * within each channel.
 */
export class Intake {
  readonly #channels: Channel[];
  readonly #held = new Held();
  /** Offset from the monotonic clock to arrival times without stamps: setting the wall clock must not change them. */
  readonly #anchor: number;
  #origin: number | null;
  #firstInstant: number | null;
  #lastInstant: number | undefined;
  #lastDataAt: number | null;

  constructor(private readonly options: IntakeOptions) {
    this.#anchor = options.clock.now() - options.clock.monotonic();
    this.#origin = options.progress.originWithoutClock;
    this.#firstInstant = options.progress.firstInstant;
    this.#lastInstant = options.progress.lastInstant;
    this.#lastDataAt = options.progress.lastDataAt;
    this.#channels = options.channels.map(
      (model, index) => new Channel(index, model, this.#held, options.progress.slips?.[index] ?? null),
    );
  }

  /** Receives a frame; returns the runs that are now in order, or why the frame is refused: then no part of it is used. */
  receive(frame: Frame): readonly SampleRun[] | Fault {
    const at = { channel: frame.channel, seq: frame.seq };
    const channel = this.#channels[frame.channel];
    if (!channel) return fault('unknown_channel', 'the session has no such channel', at);
    const now = this.options.clock.now();
    if (channel.sequence.isTooLate(frame)) return fault('too_late', TOO_LATE, at);
    if (frame.ts !== null && this.#shifted(frame.ts) > now + MAX_FUTURE_MS) return fault('in_future', IN_FUTURE, at);
    if (this.#isTooFast(channel, frame, now))
      return fault('too_fast', frame.ts === null ? TOO_FAST : TOO_FAST_BACK, at);
    return this.#accept(channel, frame, now);
  }

  #accept(channel: Channel, frame: Frame, now: number): readonly SampleRun[] {
    const at = this.options.clock.monotonic();
    const copied = channel.copied;
    const { fresh, pieces } = channel.sequence.accept(frame, at);
    const runs = this.#runsOf(channel, pieces);
    this.#watchNumbers(channel, frame, fresh, channel.copied - copied, at);
    channel.unacknowledgedMs += fresh * channel.timeline.nominal;
    if (fresh > 0) this.#lastDataAt = now;
    return runs;
  }

  /**
   * Gives up the gaps in channels that have received nothing new for 2 s; call about twice a second. Returns the runs after
   * them; null if there were none.
   */
  tick(): readonly SampleRun[] | null {
    const now = this.options.clock.monotonic();
    const late = this.#channels.map((channel) => ({ channel, pieces: channel.sequence.tick(now) }));
    if (late.every(({ pieces }) => pieces.length === 0)) return null;
    return late.flatMap(({ channel, pieces }) => this.#runsOf(channel, pieces));
  }

  /** Gives up all gaps, because no more data will arrive; returns the runs after them. */
  flush(): readonly SampleRun[] {
    return this.#channels.flatMap((channel) => this.#runsOf(channel, channel.sequence.flush()));
  }

  /** `next_seq` by index, for the channels that have started here. */
  nextSeq(): Record<string, number> {
    return byIndex(this.#channels, ({ sequence }) => sequence.next);
  }

  /** For each channel, the count of numbers that were used for data time delivered before. */
  copied(): number[] {
    return this.#channels.map(({ copied }) => copied);
  }

  /** For each channel, its measured rate divided by the declared one; null if it is not known. */
  relativeRates(): (number | null)[] {
    return this.#channels.map(({ timeline: { nominal, measured } }) =>
      measured.period === null ? null : nominal / measured.period,
    );
  }

  /** Data times of the first and the newest instant, ms; null before the first. */
  get extent(): readonly [first: number, last: number] | null {
    if (this.#firstInstant === null || this.#lastInstant === undefined) return null;
    return [this.#firstInstant, this.#lastInstant];
  }

  /** Arrival of the last data, ms since the epoch; null before the first. */
  get lastDataAt(): number | null {
    return this.#lastDataAt;
  }

  /** Data time received since the last call of `acknowledged`, of the channel with the most, ms. */
  get unacknowledgedMs(): number {
    let most = 0;
    for (const { unacknowledgedMs } of this.#channels) most = Math.max(most, unacknowledgedMs);
    return most;
  }

  /** Number of the session-wide fixed times that are known so far. */
  get anchors(): number {
    return Number(this.#origin !== null) + Number(this.#firstInstant !== null);
  }

  acknowledged(): void {
    for (const channel of this.#channels) channel.unacknowledgedMs = 0;
  }

  progress(): SessionProgress {
    const { progress } = this.options;
    const slips = byIndex(this.#channels, ({ timeline }) => timeline.slip);
    const counted = { ...progress.counted, ...byIndex(this.#channels, ({ timeline }) => timeline.countedLine) };
    return {
      clockShift: progress.clockShift,
      originWithoutClock: this.#origin,
      firstInstant: this.#firstInstant,
      nextSeq: { ...progress.nextSeq, ...this.nextSeq() },
      lastDataAt: this.#lastDataAt,
      ...(this.#lastInstant !== undefined && { lastInstant: this.#lastInstant }),
      ...(Object.keys(counted).length > 0 && { counted }),
      ...(Object.keys(slips).length > 0 && { slips }),
    };
  }

  /** Whether new numbers of a frame whose time is counted arrive so fast that they must be stored data. */
  #isTooFast({ sequence, timeline, excess, copied }: Channel, { seq, instants, ts }: Frame, now: number): boolean {
    if (sequence.next !== null && seq + instants <= sequence.next) return false;
    const at = this.#anchor + this.options.clock.monotonic();
    const [stamp, arrival] = ts === null ? [null, at] : [this.#shifted(ts), now];
    const lead = timeline.lead(seq - copied, instants, stamp, arrival);
    if (lead === null || !excess.isTooMuch(lead, instants * timeline.nominal, at)) return false;
    timeline.skip(instants);
    return true;
  }

  #runsOf(channel: Channel, pieces: readonly Piece[]): readonly SampleRun[] {
    const [first] = pieces;
    if (first && pieces.length === 1) return this.#place(channel, first); // As nearly every frame.
    return pieces.flatMap((piece) => this.#place(channel, piece));
  }

  /** Places the instants of a piece that are no copy, numbered as if no copies had arrived. */
  #place(channel: Channel, piece: Piece): readonly SampleRun[] {
    const count = channel.copies.take(piece);
    channel.copied += count;
    if (channel.copies.isTorn) channel.tornBefore = piece.seq - channel.copied + TORN_MS / channel.timeline.nominal;
    if (count < piece.instants && channel.copied === 0) return this.#placeNew(channel, piece);
    if (count < piece.instants)
      return this.#placeNew(channel, { ...rest(piece, count), seq: piece.seq + count - channel.copied });
    channel.copied += piece.lost;
    return [];
  }

  #placeNew(channel: Channel, piece: Piece): readonly SampleRun[] {
    const { index, timeline } = channel;
    const ts = piece.ts === null ? null : this.#shifted(piece.ts);
    if (ts === null && !timeline.hasBegun) timeline.count(this.#pace(index, piece, timeline.nominal));
    // Stamps are compared with the current wall clock; the pace of counted time must not change when it is set.
    const arrival = ts === null ? this.#anchor + piece.arrival : this.options.clock.now();
    const { t, period, trusted } = timeline.place(piece, ts, arrival);
    this.#firstInstant ??= Math.floor(t);
    this.#lastInstant = Math.max(this.#lastInstant ?? t, t + (piece.instants - 1) * period);
    const { lost, encoding, payload } = piece;
    const isWhole = piece.seq >= channel.tornBefore;
    channel.order.take(piece);
    this.#notice(channel, ts);
    const isTrusted = channel.order.isRight && isWhole && trusted;
    const run = { channel: index, t, period, trusted: isTrusted, lost, encoding, payload };
    return splitAtSeconds(run, piece.instants, this.#firstInstant);
  }

  /** Continues the stored line, or counts from the common origin at the model's rate. */
  #pace(channel: number, piece: Piece, nominal: number): Pace {
    const stored = this.options.progress.counted?.[channel];
    if (stored) return new Pace(nominal, stored, true);
    return new Pace(nominal, { seq: 0, time: this.#originWithoutClock(piece, nominal), period: nominal }, false);
  }

  /**
   * Time of number 0 for a device without a clock: its first frame began at its arrival, or ends at most 1 s after it.
   */
  #originWithoutClock({ seq, skipped, instants, arrival }: Piece, nominal: number): number {
    const first = seq - skipped;
    this.#origin ??=
      this.#anchor + arrival - first * nominal - Math.max(0, (instants + skipped) * nominal - MAX_LEAD_MS);
    return this.#origin;
  }

  #shifted(ts: number): number {
    return ts + (this.options.progress.clockShift ?? 0);
  }

  /** Reports faults of the numbers; they are the cause of a wrong rate. */
  #watchNumbers(channel: Channel, frame: Frame, fresh: number, copied: number, at: number): void {
    const found = channel.numbering.take(frame, fresh, copied, at);
    if (found === undefined) return;
    const { notices } = this.options;
    channel.hasNumberingFault = found !== null;
    for (const code of NUMBERING_FAULTS) if (code !== found?.code) notices.clear(code, frame.channel);
    if (!found) return;
    notices.clear('rate_off', frame.channel);
    notices.raise(found.code, frame.channel, found);
  }

  /** Reports what the placed pieces of a channel show: wrong order, and stamps or a rate that are not as they should be. */
  #notice(channel: Channel, ts: number | null): void {
    const { index, timeline, order, model } = channel;
    const { notices } = this.options;
    const isSteady = timeline.steady;
    notices.tell('order_wrong', index, order.isRight ? null : DISORDERED);
    notices.tell('ts_unsteady', index, isSteady ? null : UNSTEADY);
    const back = ts === null ? 0 : channel.stamp - ts;
    if (ts !== null) channel.stamp = ts;
    if (back > BACK_MS && isSteady) notices.raise('ts_back', index, wentBack(back));
    if (channel.hasNumberingFault && isSteady) timeline.measured.restart();
    if (!isSteady || timeline.measured.period === null) return;
    const relativeRate = timeline.nominal / timeline.measured.period;
    const isRight = Math.abs(relativeRate - 1) <= NOTED_RATE_OFF;
    notices.tell('rate_off', index, isRight ? null : rateOff(model.sample_rate_hz, relativeRate));
  }
}

/** The state of one channel. */
class Channel {
  readonly sequence: Sequence;
  readonly timeline: Timeline;
  readonly numbering: Numbering;
  readonly copies: Copies;
  readonly excess = new Excess();
  readonly order = new Order();
  /** Count of numbers that were used for copies. */
  copied = 0;
  /** Below this number (without copies), times are not trusted, because part of a copy was used. */
  tornBefore = 0;
  /** Whether the last judged stretch of numbers had a fault. */
  hasNumberingFault = false;
  unacknowledgedMs = 0;
  /** The last stamp, ms. */
  stamp = Number.NEGATIVE_INFINITY;

  constructor(
    readonly index: number,
    readonly model: ModalityChannel,
    held: Held,
    slip: Slip | null,
  ) {
    const nominal = SECOND_MS / model.sample_rate_hz;
    this.sequence = new Sequence(nominal, held);
    this.timeline = new Timeline(nominal, slip);
    this.numbering = new Numbering(nominal);
    this.copies = new Copies(nominal);
  }
}

/** A value of each channel by its index, without those that have none. */
function byIndex<T>(channels: readonly Channel[], of: (channel: Channel) => T | null): Record<string, T> {
  const values: Record<string, T> = {};
  for (const channel of channels) {
    const value = of(channel);
    if (value !== null) values[channel.index] = value;
  }
  return values;
}

/** A piece without its first instants. */
function rest(piece: Piece, count: number): Piece {
  const { instants, payload, skipped } = piece;
  const from = (count * payload.length) / instants;
  return { ...piece, skipped: skipped + count, instants: instants - count, payload: payload.subarray(from) };
}

/**
 * Splits a run of `instants` at the whole seconds after `first` (ms), so that a long frame becomes many short steps of
 * work. Lost numbers are counted with the first part. Payloads are views.
 */
export function splitAtSeconds(run: SampleRun, instants: number, first: number): SampleRun[] {
  const width = run.payload.length / instants;
  const parts: SampleRun[] = [];
  for (let from = 0; from < instants; ) {
    const t = run.t + from * run.period;
    const second = Math.floor((t - first + EPSILON_MS) / SECOND_MS) + 1;
    const inSecond = Math.ceil((first + second * SECOND_MS - EPSILON_MS - t) / run.period);
    const to = Math.min(instants, from + Math.max(1, inSecond));
    if (to - from === instants) return [run];
    parts.push({ ...run, t, lost: from === 0 ? run.lost : 0, payload: run.payload.subarray(from * width, to * width) });
    from = to;
  }
  return parts;
}
