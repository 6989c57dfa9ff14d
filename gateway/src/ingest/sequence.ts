import type { Frame } from './frame.js';

/** Instants of one frame that are next in order: all earlier numbers have arrived or been given up. */
export interface Piece extends Pick<Frame, 'encoding' | 'instants' | 'payload' | 'seq' | 'ts'> {
  /** Instants between the frame's first one, whose time is `ts`, and this piece's first one. */
  readonly skipped: number;
  /** Numbers given up directly before this piece. */
  readonly lost: number;
  /** Arrival of the frame, ms; a piece can wait for the numbers before it. */
  readonly arrival: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Maximum wait for the numbers of a gap: data time received after it, and time without new data (protocol, section 4),
 * ms.
 */
const PATIENCE_MS = 2000;
/** Limits of the data that the channels of one session hold together behind their gaps. */
const MAX_HELD_BYTES = 512 * 1024;
const MAX_HELD_PIECES = 4096;
/** Number of given-up ranges that are remembered, to distinguish a frame that is too late from a repeated one. */
const MAX_GIVEN_UP = 64;

/** The amount of data that the channels of one session hold; beyond its limits, a channel that holds more gives up gaps. */
export class Held {
  pieces = 0;
  bytes = 0;

  get isTooMuch(): boolean {
    return this.bytes > MAX_HELD_BYTES || this.pieces > MAX_HELD_PIECES;
  }
}

/**
 * The sequence numbers of one channel: puts frames in order, removes numbers that were received before, waits for gaps
 * to fill and gives them up. `next` is TCP's RCV.NXT (RFC 9293, 3.3.1) counted in instants: all numbers below it were
 * received or given up.
 */
export class Sequence {
  /** Null before the first frame. */
  #next: number | null = null;
  /** Pieces after the first gap, ascending, without overlap. */
  readonly #held: Piece[] = [];
  #givenUp: Range[] = [];
  #lastNewAt = 0;

  /**
   * @param period nominal spacing of the instants, ms
   * @param amount shared by the channels of a session
   */
  constructor(
    readonly period: number,
    readonly amount = new Held(),
  ) {}

  /** The lowest number that has not arrived; null before the first frame. */
  get next(): number | null {
    return this.#next;
  }

  /** Whether a frame has no new numbers and some of its numbers have been given up. */
  isTooLate(frame: Frame): boolean {
    const end = frame.seq + frame.instants;
    if (this.#next === null || end > this.#next) return false;
    return this.#givenUp.some((range) => frame.seq < range.end && range.start < end);
  }

  /**
   * Takes a frame's new numbers, and gives up overdue gaps.
   * @returns the number of new instants, and the pieces that are now in order
   */
  accept(frame: Frame, now: number): { readonly fresh: number; readonly pieces: readonly Piece[] } {
    if (this.#next === null) this.#startAt(frame.seq);
    if (frame.seq === this.#next && this.#held.length === 0) return this.#passWhole(frame, now);
    const fresh = this.#fresh(frame);
    for (const range of fresh) this.#hold(cut(frame, range, now));
    if (fresh.length > 0) this.#lastNewAt = now;
    const pieces = this.#release(0);
    while (this.#isOverdue()) pieces.push(...this.#giveUpFirstGap());
    return { fresh: fresh.reduce((sum, range) => sum + range.end - range.start, 0), pieces };
  }

  /** Gives up the gaps if nothing new has arrived for 2 s; returns the pieces after them, and so none if it did not. */
  tick(now: number): readonly Piece[] {
    return now - this.#lastNewAt < PATIENCE_MS ? [] : this.flush();
  }

  /** Gives up all gaps, because no more data will arrive; returns the pieces after them. */
  flush(): readonly Piece[] {
    const pieces: Piece[] = [];
    while (this.#held.length > 0) pieces.push(...this.#giveUpFirstGap());
    return pieces;
  }

  /** Handles the most common case: a frame in order, with no pieces held. */
  #passWhole(frame: Frame, now: number): { readonly fresh: number; readonly pieces: readonly Piece[] } {
    this.#lastNewAt = now;
    const { seq, instants, ts, encoding, payload } = frame;
    this.#next = seq + instants;
    return { fresh: instants, pieces: [{ seq, instants, ts, skipped: 0, lost: 0, arrival: now, encoding, payload }] };
  }

  #startAt(seq: number): void {
    this.#next = seq;
    if (seq > 0) this.#givenUp.push({ start: 0, end: seq });
  }

  /** The parts of a frame that were neither received nor given up. */
  #fresh(frame: Frame): Range[] {
    const end = frame.seq + frame.instants;
    let start = Math.max(frame.seq, this.#next ?? 0);
    const fresh: Range[] = [];
    for (const held of this.#held) {
      if (held.seq >= end) break;
      if (held.seq > start) fresh.push({ start, end: held.seq });
      start = Math.max(start, held.seq + held.instants);
    }
    if (start < end) fresh.push({ start, end });
    return fresh;
  }

  /** Holds a copy: a view would keep the whole received chunk in memory. */
  #hold(piece: Piece): void {
    const at = this.#held.findLastIndex((held) => held.seq < piece.seq);
    this.#held.splice(at + 1, 0, { ...piece, payload: new Uint8Array(piece.payload) });
    this.amount.pieces += 1;
    this.amount.bytes += piece.payload.length;
  }

  /** Takes out the held pieces that are now in order; the first one follows `lost` numbers. */
  #release(lost: number): Piece[] {
    let count = 0;
    for (const { seq, instants, payload } of this.#held) {
      if (seq !== this.#next) break;
      this.#next = seq + instants;
      this.amount.pieces -= 1;
      this.amount.bytes -= payload.length;
      count += 1;
    }
    return this.#held.splice(0, count).map((piece, i) => (i === 0 ? { ...piece, lost } : piece));
  }

  #isOverdue(): boolean {
    const [first] = this.#held;
    const last = this.#held.at(-1);
    if (!first || !last) return false;
    const dataAfterGap = (last.seq + last.instants - 1 - first.seq) * this.period;
    return dataAfterGap > PATIENCE_MS || this.amount.isTooMuch;
  }

  #giveUpFirstGap(): Piece[] {
    const [first] = this.#held;
    if (!first || this.#next === null) return [];
    this.#givenUp = [...this.#givenUp, { start: this.#next, end: first.seq }].slice(-MAX_GIVEN_UP);
    const lost = first.seq - this.#next;
    this.#next = first.seq;
    return this.#release(lost);
  }
}

/** The part of a frame that covers a range of its numbers; the payload is a view. */
function cut(frame: Frame, range: Range, arrival: number): Piece {
  const skipped = range.start - frame.seq;
  const width = frame.payload.length / frame.instants;
  return {
    seq: range.start,
    instants: range.end - range.start,
    ts: frame.ts,
    skipped,
    lost: 0,
    arrival,
    encoding: frame.encoding,
    payload: frame.payload.subarray(skipped * width, (range.end - frame.seq) * width),
  };
}
