import { PulseTrain } from './pulse_train';
import { Row, rowOf } from './row';

/** Beats that are kept of a source: a window and the 3 s after it at 289 bpm; at 300 bpm the window lacks its first 2 s. */
export const MAX_MARKS: i32 = 304;
/** Pulses that are kept until they are final. */
const MAX_FRESH: i32 = 24;
/** Resolution of the times, steps a second: 0.12 ms. They wrap after 6 days; the newest one is known in full. */
const TICKS: f64 = 8192;
const BEST: f64 = 65535;

/** A beat as it is kept. */
@unmanaged
class Mark {
  /** Time, in steps, modulo 2^32. */
  tick: u32;
  /** Quality, in steps. */
  quality: u16;
  /** Whether the beat before it is the previous one of the heart, as far as is known: no data were missing between. */
  joined: bool;
  /** Whether it was found in noise. */
  noise: bool;
}

/** The newest beats of a source. Beats before `told` are final. */
@unmanaged
export class BeatRing {
  /** Time of the newest beat, s. */
  newest: f64;
  /** Time up to which the beats have been read, less what may still change, s: none is added before it. */
  told: f64;
  /** Number of beats so far, of which the newest MAX_MARKS are kept. */
  count: i32;
  private marks: Row<Mark> = rowOf<Mark>(MAX_MARKS);

  get oldest(): i32 {
    return max(0, this.count - MAX_MARKS);
  }

  /** Appends a beat, later than all others, with its quality from 0 to 1. */
  append(time: f64, quality: f64, joined: bool): void {
    const mark = this.markAt(this.count++);
    mark.tick = <u32>ticksOf(time);
    mark.quality = <u16>(quality * BEST);
    mark.joined = joined;
    mark.noise = false;
    this.newest = time;
  }

  /** Time of a beat that is kept, s. */
  timeOf(number: i32): f64 {
    const newest = ticksOf(this.newest);
    return <f64>(newest - <i64>(<u32>newest - this.markAt(number).tick)) / TICKS;
  }

  /** Notes whether a beat that is kept was found in noise: its quality is 0 then. */
  doubt(number: i32, noise: bool): void {
    this.markAt(number).noise = noise;
  }

  qualityOf(number: i32): f64 {
    const mark = this.markAt(number);
    return mark.noise ? 0 : <f64>mark.quality / BEST;
  }

  joinedTo(number: i32): bool {
    return this.markAt(number).joined;
  }

  private markAt(number: i32): Mark {
    return this.marks[<u32>number % <u32>MAX_MARKS];
  }
}

function ticksOf(time: f64): i64 {
  return <i64>Math.floor(time * TICKS);
}

/** The beats of a session by source. */
@unmanaged
export class BeatsState {
  /** Whether beats of the ECG have been asked for: from then on they are collected at each step. */
  collects: bool;
  /** Lead of the newest beat from the ECG, and number of its beat that follows. */
  lead: i32;
  next: i32;
  /** Kind of beats of that lead by which others are timed. */
  kind: i32;
  /** By how much the R peaks of that lead are later than those of the first one, s. */
  shift: f64;
  /** End of the newest stretch of light that was searched, s. */
  searched: f64;
  /** Usual height of the pulses, and that of the newest one; usual time of a rise from its steepest place on, s. */
  height: f32;
  last: f32;
  rise: f32;
  /** End of the newest pause of the pulse in light that was there, s; 0 for none. */
  paused: f64;
  /** How much of the window may show the wearer's movements, from 0 to 1, at an estimate's end, s. */
  moved: f64;
  movedAt: f64;
  ecg: BeatRing = new BeatRing();
  light: BeatRing = new BeatRing();
  /** Pulses of light that may not be final. */
  train: PulseTrain = new PulseTrain(MAX_FRESH);
}
