import { sampleAt } from './frame.js';
import type { Piece } from './sequence.js';

/** The order is judged from this many joins of frames. */
const STRETCH = 32;
/**
 * A wrong order that is much clearer is noticed after so many joins, or a multiple: the limits are then higher by this
 * factor. Eight joins of real signals in the right order reach 0.72 of these limits.
 */
const EARLY = 8;
const EARLY_FACTOR = 2;
/** Shorter frames are not observed: most of their samples would be at an end. */
const LEAST_INSTANTS = 5;
/**
 * A sum of joins is clearly larger than another beyond this factor. In the right order, outliers at ends of frames count in
 * all sums; where they make joins differ that much, the joins are at most 1.14 times as large as the steps within. Real signals
 * of all modalities, at rest and in motion, reach 0.65 of the two limits.
 */
const CLEARLY = 2.5;
/** The signal jumps from frame to frame if the joins are larger than the steps within by this factor. */
const JUMP = 1.5;

/** Sums of the steps where a frame follows another. */
interface Joins {
  /** From the last sample of the earlier frame to the first one of the later. */
  forward: number;
  /** From the last sample of the later frame to the first one of the earlier: one step of time if the order is reversed. */
  backward: number;
}

/** The end of the previous frame: its first and last sample, its last step, and the number after it. */
interface End {
  readonly first: number;
  readonly last: number;
  readonly closing: number;
  readonly next: number;
}

/**
 * Observes whether the samples of a channel are in the order of measurement. If a device sends each frame newest sample
 * first, or swaps its buffers two by two, the signal jumps from frame to frame much more than within frames, and the
 * frames join the other way round: all of them, or every second one. Where a signal steps by itself, it does so both
 * ways. The work per frame is constant.
 */
export class Order {
  #isRight = true;
  /** The joins at even and at odd frames: of swapped frames, every second one joins backwards. */
  #joins: readonly [Joins, Joins] = noJoins();
  /** Sum of the steps within the frames, on both sides of each join. */
  #within = 0;
  #frames = 0;
  #turn = 0;
  #end: End = { first: 0, last: 0, closing: 0, next: -1 };

  /** Whether the order is right, as far as is known. */
  get isRight(): boolean {
    return this.#isRight;
  }

  /** Observes the first sub-channel of a piece. */
  take({ seq, instants, encoding, payload }: Piece): void {
    if (instants < LEAST_INSTANTS) return;
    const width = payload.length / instants;
    const end = payload.length - width;
    const sample = (at: number) => sampleAt(payload, encoding, at);
    const [first, last] = [sample(0), sample(end)];
    this.#turn = (this.#turn + 1 + Math.round((seq - this.#end.next) / instants)) % 2;
    if (seq === this.#end.next) this.#add(first, last, largest(first, sample(width), sample(2 * width)));
    const closing = largest(last, sample(end - width), sample(end - 2 * width));
    this.#end = { first, last, closing, next: seq + instants };
  }

  /** Adds a join, unless a side of it is missing or constant, as where a driver repeats samples. */
  #add(first: number, last: number, opening: number): void {
    const { closing } = this.#end;
    const [forward, backward] = [Math.abs(first - this.#end.last), Math.abs(last - this.#end.first)];
    if (!(forward + backward < Number.POSITIVE_INFINITY && opening > 0 && closing > 0)) return;
    const joins = this.#joins[this.#turn === 0 ? 0 : 1];
    joins.forward += forward;
    joins.backward += backward;
    this.#within += opening + closing;
    this.#frames += 1;
    if (this.#frames === STRETCH) this.#judge();
    else if (this.#frames % EARLY === 0 && this.#isRight) this.#judgeEarly();
  }

  /** A verdict stands until the opposite is clear: noise alone, as of a still accelerometer, tells nothing. */
  #judge(): void {
    this.#isRight = this.#isRight ? !this.#isWrong(1) : this.#joins.every(isForward);
    this.#restart();
  }

  /** A right order that is clear is left behind, so that it does not hide a wrong one that begins. */
  #judgeEarly(): void {
    if (this.#joins.every(isForward)) this.#restart();
    else this.#isRight = !this.#isWrong(EARLY_FACTOR);
  }

  #restart(): void {
    this.#joins = noJoins();
    this.#within = 0;
    this.#frames = 0;
  }

  /** Whether the signal jumps from frame to frame, and joins backwards, each more than its limit by a factor. */
  #isWrong(factor: number): boolean {
    // Each sum of joins has a quarter of the steps.
    const isJumping = 4 * Math.min(...this.#joins.map(({ forward }) => forward)) > factor * JUMP * this.#within;
    return isJumping && this.#joins.some(({ forward, backward }) => forward > factor * CLEARLY * backward);
  }
}

function noJoins(): [Joins, Joins] {
  return [
    { forward: 0, backward: 0 },
    { forward: 0, backward: 0 },
  ];
}

/** The larger step from an outer sample to the next two: one alone is 0 if samples are doubled, or alternate. */
function largest(outer: number, next: number, second: number): number {
  return Math.max(Math.abs(next - outer), Math.abs(second - outer));
}

function isForward({ forward, backward }: Joins): boolean {
  return backward > CLEARLY * forward;
}
