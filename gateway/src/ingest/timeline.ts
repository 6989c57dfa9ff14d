import { type CountedLine, MAX_LEAD_MS, type Pace } from './pace.js';
import { MAX_FASTER, MeasuredRate, Rate } from './rate.js';
import type { Piece } from './sequence.js';

/** The position of a piece in data time. */
export interface Placement {
  /** Data time of the first instant, ms. */
  readonly t: number;
  /** Spacing of the instants, ms. */
  readonly period: number;
  /**
   * Whether these are the real times of the samples. They are not while time is counted at a rate that is unknown or
   * differs from the model's, while stamped time is ahead of arrival, while steps of the stamps repeat or lie behind as
   * they would at another rate, or while the stamps are unsteady.
   */
  readonly trusted: boolean;
}

type Place = Pick<Placement, 't' | 'period'>;

/**
 * What is added to the stamps from a number on, because the device's clock was set back, and how far stamped time was
 * ahead of arrival then, ms.
 */
export interface Slip {
  readonly seq: number;
  readonly ms: number;
  readonly lead: number;
}

/** A step of `ts` beyond the numbers that counts as a gap; backwards, a step that jitter does not explain, ms. */
const STEP_MS = 250;
/** Two steps in a row that agree to this share of their interval are a difference of rate, not two losses. */
const SAME_RATE = 0.02;
/** Two steps in a row that differ by no more than jitter explains may be a difference of rate, ms. */
const LIKE_STEP_MS = 2 * STEP_MS;
/**
 * Largest step ahead, as a share of its interval, that may be a difference of rate; steps back, which cannot be losses,
 * have no limit.
 */
const MAX_RATE_STEP = 0.25;
/** Stamps that go back by more than this are those of a clock that was set, ms; less is jitter. */
export const BACK_MS = 1000;
/** Maximum lead of stamped time over arrival, ms: as far as the protocol allows for a stamp. */
export const MAX_FUTURE_MS = 60_000;
/**
 * Maximum by which a stamp may come nearer to its arrival than earlier stamps without counting as a clock that was set,
 * ms.
 */
const ARRIVAL_JITTER_MS = 1000;
/**
 * Time for which own stamps are used after a frame of one instant, and not used after a stamp that did not advance, ms.
 */
const TRUST_MS = 10_000;
/**
 * Stamps that step back within this time of a step ahead, or stay the same, are unsteady for this time; a longer step ahead is no jitter,
 * ms.
 */
const STEADY_MS = 10_000;
/** Stamps that advance less than the numbers by this factor are in another unit, or stand still: no rate is off by so much. */
const CREEPING = 100;
/** Maximum factor by which a run is stretched or squeezed to lead back to the line. */
const MAX_SLEW = 1.25;
/** Counted time is trusted if its rate differs from the model's by at most this share. */
const TRUSTED_RATE_OFF = 0.05;
/** Minimum spacing of instants, ms: a few steps of a time of 10^12 ms in a double. */
const LEAST_PERIOD_MS = 2 ** -10;

/**
 * Data time of one channel: turns (number, stamp) pairs into a steady time for each piece that never goes back.
 *
 * Frames of several instants lie on the line fitted to their stamps, without jumps, because the jitter of such stamps
 * comes from the transport. A frame of one instant keeps its own stamp, as a camera stamps each exposure; so do longer
 * frames among such frames. If stamps do not advance (from a driver that stamps in batches), the line is used for a
 * while. Without stamps, time is counted at the pace of the arrivals and is never more than 1 s ahead of them.
 *
 * With stamps, arrival is a limit too: whatever its number and stamp, a piece begins at most 60 s ahead of its arrival.
 */
export class Timeline {
  /** The rate that the stamps show, or the arrivals where there are no stamps. */
  readonly measured: MeasuredRate;
  #rate: Rate | null = null;
  /** The line of counted time, for a channel without a clock. */
  #pace: Pace | null = null;
  /** Added to stamps since they went back, ms. */
  #slip = 0;
  /** The slip before that: after a single wrong stamp, correct ones follow. */
  #formerSlip = 0;
  /** Number of the first stamp with the slip. */
  #slipSeq = 0;
  /** Amount by which time was last ahead of arrival by stamps that have no slip, ms; 0 if it was not. */
  #lead = 0;
  /** Amount by which the stamps stepped ahead, as they do after a gap, and have not stepped back since, ms. */
  #ahead = 0;
  /** Number of the last stamp that stepped ahead. */
  #aheadSeq = Number.NEGATIVE_INFINITY;
  /** Below this number, the stamps are unsteady. */
  #unsteadyBefore = 0;
  /**
   * Whether the last stamp shows that the rate of the line may be wrong: it stepped like the previous one, or behind the
   * line without going back.
   */
  #isRateInDoubt = false;
  /** Whether time is ahead of arrival and is being led back. */
  #ranAhead = false;
  /** The last stamp's step as a share of its interval; 0 if it made no step. */
  #lastStep = 0;
  #stampedSeq: number | null = null;
  /** The last stamp, ms, and the first number that had it. */
  #stamp = Number.NaN;
  #stampSeq = 0;
  /** A stamp since which the stamps have hardly advanced, ms, and its number. */
  #stillSince = Number.NaN;
  #stillSeq = 0;
  /** Time of the last instant placed, and of the instant that would follow it, ms. */
  #last = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  /**
   * Below the first number, longer frames keep their own stamps too; below the second, no frame keeps its own stamp.
   */
  #trustBefore = 0;
  #distrustBefore = 0;
  #wasSingle = false;

  /**
   * @param nominal the model's spacing of the instants, ms
   * @param stored the slip that the channel had at another gateway
   */
  constructor(
    readonly nominal: number,
    readonly stored: Slip | null = null,
  ) {
    this.measured = new MeasuredRate(nominal);
  }

  /** The current slip, before the first stamp the stored one; null if there is none. */
  get slip(): Slip | null {
    if (!this.#rate) return this.stored;
    return this.#slip === 0 ? null : { seq: this.#slipSeq, ms: this.#slip, lead: this.#lead };
  }

  /**
   * Amount by which counted time would be ahead of arrival at the end of a frame, beyond the lead that its stamps had, ms.
   * Time is counted where there is no stamp, and where the clock was set back. Null if the frame's own stamp gives its time.
   * @param ts time of the frame, shifted, ms; null without a clock
   */
  lead(seq: number, instants: number, ts: number | null, arrival: number): number | null {
    const line = this.#rate ?? this.#pace;
    if (ts !== null && !(line && this.#isSetBack(ts, line.at(seq)))) return null;
    return line ? line.at(seq + instants) - arrival - this.#lead : 0;
  }

  /** Whether a stamp, or one before it, went back as that of a clock that was set: not those that repeat or jitter. */
  #isSetBack(ts: number, line: number): boolean {
    const goesOn = this.#slip === 0 && ts >= this.#stamp;
    return this.steady && !goesOn && line - ts > BACK_MS;
  }

  /** Lets numbers take no time, because their data were refused; the stamps after them are shifted by so much less. */
  skip(numbers: number): void {
    if (this.#rate) {
      const ms = numbers * this.#rate.period;
      this.#rate.shift(-ms);
      this.#slip = Math.max(0, this.#slip - ms);
    } else this.#pace?.skip(numbers);
    this.measured.restart();
  }

  /** The line of counted time, once its rate is known; null if the device has a clock. */
  get countedLine(): CountedLine | null {
    return !this.#rate && this.#pace?.settled ? this.#pace.line : null;
  }

  /** Whether the stamps tell the rate: not while they step ahead and back again. */
  get steady(): boolean {
    return this.#stampedSeq === null || this.#stampedSeq >= this.#unsteadyBefore;
  }

  /** Whether time has begun, by a stamp or counted. */
  get hasBegun(): boolean {
    return this.#rate !== null || this.#pace !== null;
  }

  /** Counts time from now on, until there is a stamp. */
  count(pace: Pace): void {
    this.#pace = pace;
  }

  /**
   * Places the next piece of the channel.
   * @param ts time of the piece's frame, shifted, ms; null without a clock, where time is counted
   * @param arrival time of the piece's arrival, by a clock that never goes back, ms
   */
  place(piece: Piece, ts: number | null, arrival: number): Placement {
    const counted = ts === null && !this.#rate && this.#pace;
    const placement = counted ? this.#counted(counted, piece, arrival) : this.#stamped(piece, ts, arrival);
    this.#last = placement.t + (piece.instants - 1) * placement.period;
    this.#end = this.#last + placement.period;
    return placement;
  }

  #stamped(piece: Piece, ts: number | null, arrival: number): Placement {
    const rate = this.#rate ?? this.#begin(piece.seq - piece.skipped, ts, arrival);
    const stamp = ts === null ? null : ts + piece.skipped * rate.period;
    const stepped = stamp !== null && this.#follow(rate, piece.seq, stamp, arrival);
    this.#leadBack(rate, piece.seq, stamp, arrival);
    if (stamp !== null && this.#slip === 0) this.#lead = Math.max(0, rate.at(piece.seq) - arrival);
    const place = this.#ownStamp(piece, stamp) ?? this.#onLine(rate, piece, stepped);
    if (place.t > arrival + MAX_FUTURE_MS) this.#ranAhead = true;
    else if (place.t - rate.at(piece.seq) <= STEP_MS) this.#ranAhead = false;
    const { t, period } = this.#bounded(place, piece.instants, arrival);
    return { t, period, trusted: !this.#ranAhead && !this.#isRateInDoubt && this.steady };
  }

  #begin(seq: number, ts: number | null, arrival: number): Rate {
    const { stored } = this;
    if (stored && seq >= stored.seq && !this.#isCorrected((ts ?? arrival) + stored.ms, arrival, stored.lead)) {
      this.#lead = stored.lead;
      this.#setSlip(stored.ms, stored.seq);
    }
    const stamped = ts === null ? 0 : ts + this.#slip;
    this.#rate = new Rate(this.nominal, seq, this.#pace?.at(seq) ?? stamped);
    return this.#rate;
  }

  /** Whether a slipped stamp lies so far ahead of arrival that the clock must have been corrected. */
  #isCorrected(slipped: number, arrival: number, lead: number): boolean {
    return slipped > arrival + lead + ARRIVAL_JITTER_MS;
  }

  /** Adds another time to the stamps from a number on, ms. */
  #setSlip(ms: number, seq: number): void {
    this.#slip = ms;
    this.#slipSeq = seq;
  }

  /** If the line is too far ahead of arrival, restarts it at the stamp, or at arrival if that is later. */
  #leadBack(rate: Rate, seq: number, stamp: number | null, arrival: number): void {
    if (rate.at(seq) <= arrival + MAX_FUTURE_MS) return;
    const time = Math.max(arrival, stamp ?? arrival);
    if (stamp !== null) {
      this.#formerSlip = time - stamp;
      this.#setSlip(time - stamp, seq);
    }
    rate.restart(seq, time, rate.period);
    this.#ranAhead = true;
  }

  /**
   * Limits a piece: it begins no farther ahead of arrival than a stamp may lie, and is no longer than at the model's
   * rate.
   */
  #bounded(place: Place, instants: number, arrival: number): Place {
    const latest = arrival + MAX_FUTURE_MS;
    const t = Math.min(place.t, Math.max(this.#end, latest));
    const most = this.nominal + (latest - t) / instants;
    return { t, period: Math.min(place.period, Math.max(LEAST_PERIOD_MS, most)) };
  }

  #counted(pace: Pace, piece: Piece, arrival: number): Placement {
    const { instants } = piece;
    const wasSettled = pace.settled;
    pace.follow(piece.seq + instants, arrival);
    if (wasSettled && !pace.settled) this.measured.restart();
    this.measured.add(piece.seq + instants, arrival);
    const line = this.#onLine(pace, piece, false);
    const latest = arrival + MAX_LEAD_MS;
    const t = Math.min(line.t, Math.max(this.#end, latest - instants * line.period));
    const period = Math.min(line.period, Math.max(LEAST_PERIOD_MS, (latest - t) / instants));
    const isWhole = period === line.period; // Not squeezed, because it would run ahead.
    const trusted = isWhole && pace.settled && Math.abs(this.nominal / pace.period - 1) <= TRUSTED_RATE_OFF;
    return { t, period, trusted };
  }

  /** Fits the line to a stamp; true if the stamps stepped ahead of the numbers, which is a gap. */
  #follow(rate: Rate, seq: number, ts: number, arrival: number): boolean {
    const off = ts + this.#slip - rate.at(seq);
    const interval = this.#interval(seq);
    const step = Math.abs(off) > STEP_MS ? off / interval : 0;
    const change = step * this.#lastStep > 0 ? Math.abs(step - this.#lastStep) : Number.POSITIVE_INFINITY;
    const agrees = change < SAME_RATE && step > -1 && step < MAX_RATE_STEP;
    const isSlow = step < 0 && ts > this.#stamp; // Stamps of a clock that was set back decrease.
    this.#lastStep = step;
    this.#watchRepeated(rate, seq, ts);
    this.#stampedSeq = seq;
    if (step === 0) rate.follow(seq, ts + this.#slip);
    if (agrees) rate.restart(seq, ts + this.#slip, rate.period * (1 + step));
    this.#isRateInDoubt = agrees || isSlow || change * interval <= LIKE_STEP_MS;
    if (Math.abs(off) > LIKE_STEP_MS && !this.#isRateInDoubt) this.measured.restart();
    this.measured.add(seq, ts);
    return step !== 0 && !agrees && this.#step(rate, seq, ts, arrival);
  }

  /**
   * Handles a stamp far from the line. Ahead of it, there is a gap. Behind it, time does not go back: the numbers
   * count, and the stamps are shifted.
   */
  #step(rate: Rate, seq: number, ts: number, arrival: number): boolean {
    const line = rate.at(seq);
    const isAhead = ts + this.#slip > line;
    if (Math.abs(ts + this.#formerSlip - line) <= STEP_MS) this.#setSlip(this.#formerSlip, seq);
    else if (ts + this.#slip < line) this.#goBack(rate, seq, ts, arrival);
    else if (this.#isCorrected(ts + this.#slip, arrival, this.#lead))
      this.#setSlip(Math.min(this.#slip, Math.max(0, line - ts)), seq);
    const gap = ts + this.#slip - line;
    if (isAhead) {
      this.#ahead = (this.#isSoon(seq) ? this.#ahead : 0) + Math.max(0, gap);
      this.#aheadSeq = seq;
    }
    if (gap > STEP_MS) rate.shift(gap);
    else rate.follow(seq, ts + this.#slip);
    return gap > STEP_MS;
  }

  /**
   * Detects stamps that are coarser than jitter may be, or that stand still. At a rate that is off, the numbers do not tell how long a stamp stayed
   * the same: its next step does, unless it stays so, or creeps as seconds in place of ms do, for longer than at any rate.
   */
  #watchRepeated(rate: Rate, seq: number, ts: number): void {
    const held = ((this.#stampedSeq ?? seq) - this.#stampSeq) * this.nominal;
    const still = (seq - this.#stillSeq) * this.nominal;
    const crept = ts - this.#stillSince;
    if (!(crept >= 0 && crept * CREEPING <= still)) [this.#stillSince, this.#stillSeq] = [ts, seq];
    else if (still > STEP_MS * MAX_FASTER) this.#doubt(rate, seq);
    if (held > STEP_MS && Math.abs(ts - this.#stamp) > STEP_MS) this.#doubt(rate, seq);
    if (ts === this.#stamp) return;
    this.#stamp = ts;
    this.#stampSeq = seq;
  }

  /** The stamps are unsteady, and tell no rate: the line starts again from here with the model's. */
  #doubt(rate: Rate, seq: number): void {
    this.#unsteadyBefore = seq + STEADY_MS / this.nominal;
    rate.restart(seq, rate.at(seq), this.nominal);
    this.measured.restart();
  }

  /** Whether a stamp follows soon after one that stepped ahead. */
  #isSoon(seq: number): boolean {
    return (seq - this.#aheadSeq) * this.nominal < STEADY_MS;
  }

  /**
   * Handles a stamp behind the line. If it takes back a step ahead, that was jitter and no gap, and the line goes back;
   * otherwise the clock was set, and time continues on the line.
   */
  #goBack(rate: Rate, seq: number, ts: number, arrival: number): void {
    const line = rate.at(seq);
    const back = line - ts - this.#slip;
    const isSoon = this.#isSoon(seq);
    if (isSoon) this.#doubt(rate, seq);
    if (isSoon && this.#ahead <= STEADY_MS && back <= this.#ahead + STEP_MS) {
      const taken = Math.min(back, this.#ahead);
      rate.shift(-taken);
      this.#ahead -= taken;
      return;
    }
    this.#ahead = 0;
    if (this.#slip === 0) this.#lead = Math.max(this.#lead, line - arrival);
    this.#formerSlip = this.#slip;
    this.#setSlip(line - ts, seq);
  }

  /** Nominal time since the previous stamp, ms. */
  #interval(seq: number): number {
    return (seq - (this.#stampedSeq ?? seq)) * this.nominal || this.nominal;
  }

  #ownStamp(piece: Piece, stamp: number | null): Place | null {
    const until = piece.seq + TRUST_MS / this.nominal;
    const isSingle = piece.instants === 1;
    if (isSingle && this.#wasSingle) this.#trustBefore = until;
    this.#wasSingle = isSingle;
    if (stamp === null || !this.#rate || !(isSingle || piece.seq < this.#trustBefore)) return null;
    const t = stamp + this.#slip;
    if (t <= this.#last) this.#distrustBefore = until;
    return piece.seq < this.#distrustBefore ? null : { t, period: this.#rate.period };
  }

  /** Continues where the last piece ended and leads towards the line; after a loss, starts on the line. */
  #onLine(rate: Pick<Rate, 'at' | 'period'>, piece: Piece, stepped: boolean): Place {
    const line = rate.at(piece.seq);
    const steady = !stepped && piece.lost === 0 && line - this.#end <= STEP_MS;
    const t = steady ? this.#end : Math.max(line, this.#end);
    const toLine = (rate.at(piece.seq + piece.instants) - t) / piece.instants;
    return { t, period: Math.min(rate.period * MAX_SLEW, Math.max(rate.period / MAX_SLEW, toLine)) };
  }
}
