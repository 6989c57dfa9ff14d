import { sampleAt } from './sample.js';
import type { Piece } from './sequence.js';

/** The order is judged from this many joins of frames. */
const STRETCH = 32;
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
class Joins {
  /** From the last sample of the earlier frame to the first one of the later. */
  forward = 0;
  /** From the last sample of the later frame to the first one of the earlier: one step of time if the order is reversed. */
  backward = 0;

  clear(): void {
    this.forward = 0;
    this.backward = 0;
  }
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
  readonly #even = new Joins();
  readonly #odd = new Joins();
  /** Sum of the steps within the frames, on both sides of each join. */
  #within = 0;
  #frames = 0;
  #turn = 0;
  /** The previous frame: its first and last sample, its last step, and the number after it. */
  #first = 0;
  #last = 0;
  #closing = 0;
  #end = -1;

  /** Whether the order is right, as far as is known. */
  get isRight(): boolean {
    return this.#isRight;
  }

  /** Observes the first sub-channel of a piece. */
  take({ seq, instants, encoding, payload }: Piece): void {
    if (instants < LEAST_INSTANTS) return;
    const width = payload.length / instants;
    const end = payload.length - width;
    const first = sampleAt(payload, encoding, 0);
    const last = sampleAt(payload, encoding, end);
    this.#turn = (this.#turn + 1 + Math.round((seq - this.#end) / instants)) % 2;
    if (seq === this.#end) {
      const opening = largest(first, sampleAt(payload, encoding, width), sampleAt(payload, encoding, 2 * width));
      this.#add(Math.abs(first - this.#last), Math.abs(last - this.#first), opening);
    }
    this.#first = first;
    this.#last = last;
    this.#closing = largest(
      last,
      sampleAt(payload, encoding, end - width),
      sampleAt(payload, encoding, end - 2 * width),
    );
    this.#end = seq + instants;
  }

  /** Adds a join, unless a side of it is missing or constant, as where a driver repeats samples. */
  #add(forward: number, backward: number, opening: number): void {
    if (!(forward + backward < Number.POSITIVE_INFINITY && opening > 0 && this.#closing > 0)) return;
    const joins = this.#turn === 0 ? this.#even : this.#odd;
    joins.forward += forward;
    joins.backward += backward;
    this.#within += opening + this.#closing;
    this.#frames += 1;
    if (this.#frames === STRETCH) this.#judge();
  }

  /** A verdict stands until the opposite is clear: noise alone, as of a still accelerometer, tells nothing. */
  #judge(): void {
    if (this.#isRight) this.#isRight = !(this.#jumps && (isBackward(this.#even) || isBackward(this.#odd)));
    else this.#isRight = isForward(this.#even) && isForward(this.#odd);
    this.#even.clear();
    this.#odd.clear();
    this.#within = 0;
    this.#frames = 0;
  }

  /** Whether the steps between frames are larger than within; each sum of joins has a quarter of the steps. */
  get #jumps(): boolean {
    return 4 * Math.min(this.#even.forward, this.#odd.forward) > JUMP * this.#within;
  }
}

/** The larger step from an outer sample to the next two: one alone is 0 if samples are doubled, or alternate. */
function largest(outer: number, next: number, second: number): number {
  return Math.max(Math.abs(next - outer), Math.abs(second - outer));
}

function isForward({ forward, backward }: Joins): boolean {
  return backward > CLEARLY * forward;
}

function isBackward({ forward, backward }: Joins): boolean {
  return forward > CLEARLY * backward;
}
