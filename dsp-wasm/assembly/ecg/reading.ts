import { MOST_FEATURES } from '../memory/map';
import { Row, rowAt } from '../memory/row';

/** What a lead tells of a window. */
@unmanaged
export class Reading {
  /** Heart rate, bpm; 0: none. */
  rate: f64;
  confidence: f64;
  /** Most confidence by what is no matter of degree: signs of something else than beats, or that they have ended. */
  most: f64;

  /** As named in src/features.ts. */
  get features(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + 24);
  }
}
export const READING_BYTES: usize = 24 + 4 * MOST_FEATURES;
