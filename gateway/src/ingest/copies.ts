import { BYTES_PER_SAMPLE } from '../analysis/sample-run.js';
import { sampleAt } from './frame.js';
import type { Piece } from './sequence.js';

/** Delivered instants are remembered for this long, ms of nominal time, and no more than these. */
const MEMORY_MS = 10_000;
const MAX_INSTANTS = 4096;
const MAX_FRAMES = 256;
/** Rounding of stamps, ms: in other frames, a copy's stamps may differ by this and half an instant from the original's. */
const ROUNDING_MS = 5;
/** The stamps of whole frames may jitter by this, but less than half of a frame, so that no frame is like itself, ms. */
const JITTER_MS = 150;
/**
 * A copy is proven by this many changes from instant to instant, one after the other, that are the same as in the
 * original: a constant signal is the same at any time, and one with few levels is often the same by chance.
 */
const MIN_CHANGES = 8;
/** The same for a further copy that does not follow the one before, unless that one was proven. */
const MIN_CHANGES_AGAIN = 3;

/**
 * Finds data that a channel delivers again under other sequence numbers, such as a packet that a radio delivers twice,
 * or the beginning of a frame that overlaps the previous one. A copy has the stamps and the samples of data that were
 * delivered before; it may be split into other frames, and have another encoding. The stamps alone do not show a copy:
 * they also go back when a clock is set, and stand still when they are coarse.
 */
export class Copies {
  readonly #capacity: number;
  /** A hash of each of the last instants, at its position modulo the length; empty before the first stamp. */
  #hashes = new Uint32Array();
  /** Position of the next instant; instants count from 0. */
  #count = 0;
  /** Position and stamp of the first instant of each remembered frame. */
  #firsts: number[] = [];
  #stamps: number[] = [];
  /** Time after the newest instant so far, ms: data from then on are new. */
  #latest = Number.NEGATIVE_INFINITY;
  /** Position after the last instant that was found equal, and the changes in the equal instants up to it. */
  #end = -1;
  #changes = 0;
  /** The changes in beginnings of frames that were equal to the newest data, in a row. */
  #overlapped = 0;
  /** Whether a copy was proven, and no data of an old time have differed since. */
  #isCopying = false;
  /** Count of equal instants that were used as new ones, before they proved a copy. */
  #used = 0;
  #isTorn = false;

  /** @param period nominal spacing of the instants, ms */
  constructor(readonly period: number) {
    this.#capacity = Math.min(MAX_INSTANTS, Math.ceil(MEMORY_MS / period));
  }

  /**
   * Whether the last piece is the rest of a copy whose beginning was not told from new data: it ends the piece before, a
   * frame that is longer than what is left of a packet, or it came before the proof.
   */
  get isTorn(): boolean {
    return this.#isTorn;
  }

  /**
   * Compares a piece with the delivered data, and remembers its new instants.
   * @returns the number of instants at its beginning that are a copy; 0 without a stamp
   */
  take(piece: Piece): number {
    const { ts, skipped, instants } = piece;
    this.#isTorn = false;
    if (ts === null) return 0;
    const hashes = hash(piece);
    const time = ts + skipped * this.period;
    const equal = this.#compare(hashes, time);
    if (!this.#isCopying) this.#used += equal;
    else if (equal > 0 && this.#used > 0) [this.#isTorn, this.#used] = [true, 0];
    if (equal < instants) this.#remember(hashes, equal, time + equal * this.period);
    return this.#isCopying ? equal : 0;
  }

  /** Number of instants at the beginning that equal delivered data of the same time: all, or up to the newest data. */
  #compare(hashes: Uint32Array, time: number): number {
    const near = 0.5 + ROUNDING_MS / this.period;
    const slack = Math.max(near, Math.min(JITTER_MS / this.period, (hashes.length - 1) / 2));
    const isNearNew = time > this.#latest - near * this.period;
    // A rounded stamp cannot show that this is old, but equal instants just before it can
    if (isNearNew && (this.#end === this.#count || time > this.#latest - this.period / 2)) return 0;
    let [whole, part, isOld] = [-1, -1, false];
    for (let k = this.#firsts.length - 1; k >= 0; k--) {
      const first = this.#firsts[k] ?? 0;
      const end = this.#firsts[k + 1] ?? this.#count;
      const at = first + (time - (this.#stamps[k] ?? 0)) / this.period;
      isOld ||= at > first - slack && at < end - slack;
      for (let p = Math.max(first, Math.floor(at - slack) + 1); p < end && p < at + slack; p++) {
        const isWhole = p + hashes.length <= this.#count;
        if (!this.#isEqual(hashes, p)) continue;
        if (isWhole && (whole < 0 || p === this.#end)) whole = p;
        if (!isWhole && Math.abs(p - at) < near && this.#count - p > 2 * near) part = p;
      }
    }
    if (isNearNew && (whole < 0 || whole !== this.#end)) return 0;
    if (whole >= 0) {
      this.#note(hashes, whole);
      return hashes.length;
    }
    if (part >= 0) {
      const equal = this.#count - part;
      this.#overlapped += changes(hashes.subarray(0, equal));
      this.#isCopying ||= this.#overlapped >= MIN_CHANGES;
      return equal;
    }
    if (isOld) [this.#isCopying, this.#overlapped] = [false, 0];
    return 0;
  }

  /** Whether instants equal those delivered from a position on, up to the newest. */
  #isEqual(hashes: Uint32Array, position: number): boolean {
    const length = this.#hashes.length;
    if (position < this.#count - length) return false;
    const compared = Math.min(hashes.length, this.#count - position);
    for (let i = 0; i < compared; i++) if (hashes[i] !== this.#hashes[(position + i) % length]) return false;
    return true;
  }

  /** Counts the changes in instants that equal those from a position on. */
  #note(hashes: Uint32Array, position: number): void {
    const follows = position === this.#end;
    const before = follows ? this.#hashes[(position - 1) % this.#hashes.length] : hashes[0];
    const wasProven = this.#changes >= MIN_CHANGES;
    if (!follows) this.#changes = 0;
    this.#changes += Number(hashes[0] !== before) + changes(hashes);
    this.#end = position + hashes.length;
    this.#isTorn = !follows && this.#count > position && this.#isEqualBefore(position);
    const goesOn = this.#isCopying && (follows || wasProven || this.#changes >= MIN_CHANGES_AGAIN);
    this.#isCopying = goesOn || this.#changes >= MIN_CHANGES;
  }

  /** Whether the newest instants are those before a position. */
  #isEqualBefore(position: number): boolean {
    const { length } = this.#hashes;
    if (position < 2 || position - 2 < this.#count - length) return false;
    return [1, 2].every((k) => this.#hashes[(this.#count - k) % length] === this.#hashes[(position - k) % length]);
  }

  /** Remembers the instants of a piece from one on, which has a time, ms. */
  #remember(hashes: Uint32Array, from: number, time: number): void {
    if (this.#hashes.length === 0) this.#hashes = new Uint32Array(this.#capacity);
    this.#firsts.push(this.#count);
    this.#stamps.push(time);
    this.#latest = Math.max(this.#latest, time + (hashes.length - from) * this.period);
    for (let i = from; i < hashes.length; i++) this.#hashes[this.#count++ % this.#capacity] = hashes[i] ?? 0;
    while (this.#firsts.length > MAX_FRAMES || (this.#firsts[1] ?? this.#count) <= this.#count - this.#capacity) {
      if (this.#firsts.length === 1) break;
      this.#firsts.shift();
      this.#stamps.shift();
    }
  }
}

/** Number of changes from instant to instant. */
function changes(hashes: Uint32Array): number {
  let count = 0;
  for (let i = 1; i < hashes.length; i++) if (hashes[i] !== hashes[i - 1]) count += 1;
  return count;
}

/** Room for the hashes of a frame, which are needed only until the next one: an array of each frame's own costs as much as they. */
let room = new Uint32Array(1024);

/** Turns a value into the bits of its float32. */
const FLOAT = new DataView(new ArrayBuffer(4));

/**
 * A hash of each instant's values as float32, which are the same in every encoding (FNV-1a by words; Fowler, Noll and
 * Vo). It is overwritten by the next call.
 */
function hash({ payload, encoding, instants }: Piece): Uint32Array {
  const bytes = BYTES_PER_SAMPLE[encoding];
  const width = payload.length / instants;
  if (room.length < instants) room = new Uint32Array(instants);
  const hashes = room.subarray(0, instants);
  let at = 0;
  for (let i = 0; i < instants; i++) {
    let value = 0x811c9dc5;
    for (const end = at + width; at < end; at += bytes) {
      FLOAT.setFloat32(0, sampleAt(payload, encoding, at) + 0); // No -0
      value = Math.imul(value ^ FLOAT.getInt32(0), 0x01000193);
    }
    hashes[i] = value;
  }
  return hashes;
}
