import type { NoticeCode } from '@device-insights/contract/ingest';
import type { Frame } from './frame.js';
import type { NoticeFields } from './notices.js';

/** Possible faults in the numbering of a channel. */
export const NUMBERING_FAULTS = ['all_duplicates', 'all_lost', 'frames_overlap'] as const satisfies NoticeCode[];

type NumberingFault = { readonly code: (typeof NUMBERING_FAULTS)[number] } & NoticeFields;

/** Data time or arrival time, whichever is longer, over which numbers are observed before they are judged, ms. */
const STRETCH_MS = 5000;
const LEAST_FRAMES = 3;
/** Numbers that advance faster or slower than time by these factors do not count instants. */
const TOO_FAST = 1.5;
const TOO_SLOW = 0.75;
/**
 * Repeated numbers that arrive faster than this are a re-send, not a stream; slower than the lower limit, they are
 * chance.
 */
const RESEND_PACE = 1.5;
const LEAST_PACE = 0.5;

/** The fields kept of a frame. Its payload is not kept, because it would hold the whole received chunk in memory. */
type Mark = Pick<Frame, 'seq' | 'ts' | 'instants'>;

/** A series of frames of one channel. */
interface Stretch {
  readonly first: Mark;
  readonly at: number;
  last: Mark;
  /** The number after the highest one so far. */
  end: number;
  frames: number;
  instants: number;
  fresh: number;
  /** New instants of the frames after the first one. */
  freshLater: number;
  /** Instants with new numbers whose data time had been delivered before. */
  copied: number;
  /** The newest stamp before the stretch, ms. */
  readonly newest: number;
  /**
   * Count of frames that began beyond the highest number so far, and count of frames that repeated at least half of the
   * previous frame.
   */
  jumps: number;
  overlaps: number;
}

/**
 * Observes the numbering of a channel, in stretches of 5 s. It distinguishes a fault from loss, re-sending and skipping
 * by time: numbers that count instants advance as fast as time does. The work per frame is constant.
 */
export class Numbering {
  #stretch: Stretch | null = null;
  /** The newest stamp, ms. */
  #newest = Number.NEGATIVE_INFINITY;

  /** @param period nominal spacing of the instants, ms */
  constructor(readonly period: number) {}

  /**
   * Observes a frame.
   * @param fresh number of its instants that were new
   * @param copied number of instants, delivered because of this frame, whose data time had been delivered before
   * @param at arrival time, by a monotonic clock, ms
   * @returns at the end of a stretch: its fault, or null if it had none; otherwise undefined
   */
  take({ seq, ts, instants }: Mark, fresh: number, copied: number, at: number): NumberingFault | null | undefined {
    const mark = { seq, ts, instants };
    const done = this.#stretch && this.#isLong(this.#stretch, mark, at) ? this.#stretch : null;
    const fault = done ? this.#judge(done, mark, at) : undefined;
    if (!this.#stretch || done) this.#stretch = begin(mark, fresh, copied, at, this.#newest);
    else extend(this.#stretch, mark, fresh, copied);
    if (ts !== null) this.#newest = Math.max(this.#newest, ts);
    return fault;
  }

  /**
   * Whether a stretch can be judged when this frame arrives. Data without stamps that arrive at once have no data time,
   * unless nothing of them is new.
   */
  #isLong({ first, at: firstAt, frames, freshLater, instants }: Stretch, next: Mark, at: number): boolean {
    if (frames < LEAST_FRAMES) return false;
    const length = next.instants * this.period;
    const data = first.ts === null || next.ts === null ? 0 : next.ts + length - first.ts;
    const repeated = freshLater === 0 ? instants * this.period : 0;
    return Math.max(at - firstAt, data, repeated) >= STRETCH_MS;
  }

  #judge(stretch: Stretch, next: Mark, at: number): NumberingFault | null {
    if (stretch.freshLater === 0) return this.#isRepeated(stretch, next, at - stretch.at) ? DUPLICATES : null;
    if (stretch.copied > 0) return twice(stretch);
    const elapsed = elapsedMs(stretch, next, at);
    const numbers = next.seq - stretch.first.seq;
    const pace = (numbers * this.period) / elapsed;
    const followers = stretch.frames - 1;
    if (2 * stretch.fresh <= numbers && 2 * stretch.jumps > followers && pace > TOO_FAST) return lost(stretch, next);
    if (stretch.overlaps === followers && pace > 0 && pace < TOO_SLOW) return OVERLAP;
    return null;
  }

  /**
   * Whether repeated numbers are those of a stream that has stopped or restarted, rather than of a re-send: this has old
   * stamps, and may be fast.
   */
  #isRepeated({ first, instants, newest }: Stretch, next: Mark, elapsed: number): boolean {
    const pace = (instants * this.period) / elapsed;
    const standsStill = next.seq < first.seq + first.instants;
    const isNew = first.ts !== null && first.ts > newest && next.ts !== null && next.ts > first.ts;
    return pace > LEAST_PACE && (pace < RESEND_PACE || standsStill || isNew);
  }
}

const DUPLICATES: NumberingFault = {
  code: 'all_duplicates',
  detail:
    'all sequence numbers have been received before: seq must start at next_seq of ready and increase by the number of instants of each frame',
};

const OVERLAP: NumberingFault = {
  code: 'frames_overlap',
  detail: 'each frame repeats sequence numbers of the previous frame: seq must count sample instants, not frames',
};

/** The fault of data time that was delivered more than once, which was used once. */
function twice({ copied, instants }: Stretch): NumberingFault {
  return {
    code: 'frames_overlap',
    detail: `the same data arrive again under other sequence numbers (${copied} of the last ${instants} instants), and are used once: drop the packets that the radio repeats before you number them`,
  };
}

function lost({ last }: Stretch, next: Mark): NumberingFault {
  const expected_seq = last.seq + last.instants;
  return {
    code: 'all_lost',
    detail: `most sequence numbers are missing: seq ${last.seq} with ${last.instants} instants is followed by ${expected_seq}, not ${next.seq}; seq must count sample instants, not values or bytes`,
    expected_seq,
  };
}

function begin(first: Mark, fresh: number, copied: number, at: number, newest: number): Stretch {
  const { seq, instants } = first;
  const counts = { frames: 1, instants, fresh, freshLater: 0, copied, jumps: 0, overlaps: 0 };
  return { first, at, newest, last: first, end: seq + instants, ...counts };
}

function extend(stretch: Stretch, frame: Mark, fresh: number, copied: number): void {
  const { last } = stretch;
  const repeated = last.seq + last.instants - frame.seq;
  if (frame.seq > stretch.end) stretch.jumps += 1;
  if (frame.seq > last.seq && frame.instants > 1 && 2 * repeated >= frame.instants) stretch.overlaps += 1;
  stretch.last = frame;
  stretch.end = Math.max(stretch.end, frame.seq + frame.instants);
  stretch.frames += 1;
  stretch.instants += frame.instants;
  stretch.fresh += fresh;
  stretch.freshLater += fresh;
  stretch.copied += copied;
}

/** Device time between two frames; the time between their arrivals if one has no stamp, or the stamps go back. */
function elapsedMs({ first, at: firstAt }: Stretch, next: Mark, at: number): number {
  const device = first.ts === null || next.ts === null ? 0 : next.ts - first.ts;
  return device > 0 ? device : at - firstAt;
}
