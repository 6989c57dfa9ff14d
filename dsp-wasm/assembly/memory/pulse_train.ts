import { Channel } from './channel';
import { Row, rowOf } from './row';

/** A pulse of an optical channel. */
@unmanaged
export class Pulse {
  /** Time of its maximum, s. */
  time: f64;
  /** Height above its foot. */
  height: f32;
  /** Mean of the optical channel over a second about it, without the sub-channel's offset. */
  baseline: f32;
  /** Time from the steepest place of its upstroke to its maximum, s. */
  rise: f32;
}

/** The newest pulses of an optical channel, and the state of their detection. */
@unmanaged
export class PulseTrain {
  /** Optical channel of the pulses; null before the first. */
  channel: Channel | null;
  /** First grid sample that has not been searched. */
  cursor: i32;
  /** Number of pulses so far. */
  count: i32;
  /** The newest pulse's maximum. */
  level: f32;
  /** Skewness of the light's slopes of late: positive where it rises with the blood. */
  skew: f32;
  /** How sharp the tops of the pulses are of late: their sixth difference from grid sample to grid sample, in parts of their heights. */
  sharpness: f32;
  /** By which the light is multiplied, so that its pulses rise: 1 or -1; 0 before the first. */
  polarity: f32;
  private ring: Row<Pulse>;

  /** @param kept number of pulses that are kept, the newest ones */
  constructor(private kept: i32) {
    this.ring = rowOf<Pulse>(kept);
  }

  /** The pulse with that number, or the place of the next one. */
  pulseAt(number: i32): Pulse {
    return this.ring[<u32>number % <u32>this.kept];
  }

  /** Number of the oldest pulse that is kept. */
  get oldest(): i32 {
    return max(0, this.count - this.kept);
  }
}
