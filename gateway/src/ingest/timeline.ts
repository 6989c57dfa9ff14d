import { Rate } from './rate.js';
import type { Piece } from './sequence.js';

/** Where a piece lies in data time. */
export interface Placement {
  /** Data time of the first instant, ms. */
  readonly t: number;
  /** Spacing of the instants, ms. */
  readonly period: number;
}

/** A step of `ts` beyond what the numbers say that is a gap; also, backwards, what no jitter explains, ms. */
export const STEP_MS = 250;
/** Two steps in a row that agree to this share of their interval are a rate, not two losses. */
const SAME_RATE = 0.02;
/** Steps of up to this share of their interval may be a rate. */
const MAX_RATE_STEP = 0.25;
/** For so long single instants show that a device knows its moments, and a stamp which does not advance that not, ms. */
const TRUST_MS = 10_000;
/** A run is stretched or squeezed by at most this factor to lead back to the line. */
const MAX_SLEW = 1.25;

/**
 * Data time of one channel: from (number, stamp) pairs to a steady, never returning time of each piece.
 *
 * Frames of several instants lie on the line that is fitted to their stamps, without jumps, because the jitter of such
 * stamps is the transport's. A frame of one instant keeps its own stamp: that is how a camera says when it exposed; and
 * so do longer frames among such. Where stamps do not advance (a driver that stamps per batch) the line is used for a
 * while.
 */
export class Timeline {
  #rate: Rate | null = null;
  /** Added to stamps since they went back, ms. */
  #slip = 0;
  /** The slip before that: a single wrong stamp is followed by right ones. */
  #formerSlip = 0;
  /** The last stamp's step as a share of its interval; 0 where it was none. */
  #lastStep = 0;
  #stampedSeq: number | null = null;
  /** Time of the last instant placed, and of the one that would follow it, ms. */
  #last = Number.NEGATIVE_INFINITY;
  #end = Number.NEGATIVE_INFINITY;
  /** Numbers below which own stamps are kept for longer frames, too; and below which none is kept. */
  #trustBefore = 0;
  #distrustBefore = 0;
  #wasSingle = false;

  /** @param nominal the model's spacing of the instants, ms */
  constructor(readonly nominal: number) {}

  /** The rate that is followed relative to the model's: 1 is as the model says. */
  get relativeRate(): number {
    return this.#rate ? this.nominal / this.#rate.period : 1;
  }

  /**
   * Places the next piece of the channel.
   * @param ts time of the piece's frame, shifted, ms; null without a clock
   * @param origin asked for the time of number 0 where the channel begins without a clock; it counts on from there
   */
  place(piece: Piece, ts: number | null, origin: () => number): Placement {
    this.#rate ??= ts === null ? this.#line(0, origin()) : this.#line(piece.seq - piece.skipped, ts);
    const rate = this.#rate;
    const stamp = ts === null ? null : ts + piece.skipped * rate.period;
    const stepped = stamp !== null && this.#follow(rate, piece.seq, stamp);
    const placement = this.#ownStamp(piece, stamp) ?? this.#onLine(rate, piece, stepped);
    this.#last = placement.t + (piece.instants - 1) * placement.period;
    this.#end = this.#last + placement.period;
    return placement;
  }

  #line(seq: number, time: number): Rate {
    return new Rate(this.nominal, seq, time);
  }

  /** Fits the line to a stamp; true where the stamps stepped ahead of the numbers: a gap. */
  #follow(rate: Rate, seq: number, ts: number): boolean {
    const off = ts + this.#slip - rate.at(seq);
    const step = Math.abs(off) > STEP_MS ? off / this.#interval(seq) : 0;
    const agrees =
      this.#lastStep !== 0 && Math.abs(step) < MAX_RATE_STEP && Math.abs(step - this.#lastStep) < SAME_RATE;
    this.#lastStep = step;
    this.#stampedSeq = seq;
    if (step === 0) rate.follow(seq, ts + this.#slip);
    else if (agrees) rate.restart(seq, ts + this.#slip, rate.period * (1 + step));
    else return this.#step(rate, seq, ts, off);
    return false;
  }

  /** A stamp far from the line. Ahead is a gap; back turns no time back: the numbers count, and the stamps are shifted. */
  #step(rate: Rate, seq: number, ts: number, off: number): boolean {
    const formerOff = ts + this.#formerSlip - rate.at(seq);
    if (Math.abs(formerOff) <= STEP_MS) {
      this.#slip = this.#formerSlip;
    } else if (off > 0) {
      rate.shift(off);
      return true;
    } else {
      this.#formerSlip = this.#slip;
      this.#slip -= off;
    }
    rate.follow(seq, ts + this.#slip);
    return false;
  }

  /** Nominal time since the stamp before, ms. */
  #interval(seq: number): number {
    return (seq - (this.#stampedSeq ?? seq)) * this.nominal || this.nominal;
  }

  #ownStamp(piece: Piece, stamp: number | null): Placement | null {
    const until = piece.seq + TRUST_MS / this.nominal;
    const isSingle = piece.instants === 1;
    if (isSingle && this.#wasSingle) this.#trustBefore = until;
    this.#wasSingle = isSingle;
    if (stamp === null || !this.#rate || !(isSingle || piece.seq < this.#trustBefore)) return null;
    const t = stamp + this.#slip;
    if (t <= this.#last) this.#distrustBefore = until;
    return piece.seq < this.#distrustBefore ? null : { t, period: this.#rate.period };
  }

  /** Goes on where the last piece ended and leads towards the line; after a loss it starts on the line. */
  #onLine(rate: Rate, piece: Piece, stepped: boolean): Placement {
    const line = rate.at(piece.seq);
    const steady = !stepped && piece.lost === 0 && line - this.#end <= STEP_MS;
    const t = steady ? this.#end : Math.max(line, this.#end);
    const toLine = (rate.at(piece.seq + piece.instants) - t) / piece.instants;
    return { t, period: Math.min(rate.period * MAX_SLEW, Math.max(rate.period / MAX_SLEW, toLine)) };
  }
}
