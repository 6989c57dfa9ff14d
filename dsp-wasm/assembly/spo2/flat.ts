import { Row } from '../memory/row';
import { WINDOW } from './records';
import { RATIO } from './tuning';

/**
 * Share of a channel's steps from one grid sample to the next that are none. The light of a living finger changes all the time, so a channel that
 * rests is at the end of its range, or its pulse is only a few counts high. Either changes the size of the pulse in this channel, and so R.
 */
export function flatShare(raw: Row<f32>): f64 {
  let flat = i32x4.splat(0);
  let known = flat;
  for (let i = 4; i < WINDOW; i += 4) {
    const v = v128.load(raw.at(i));
    const step = f32x4.sub(v, v128.load(raw.at(i - 1)));
    // True is -1
    known = i32x4.sub(known, f32x4.eq(step, step));
    flat = i32x4.sub(flat, f32x4.le(f32x4.abs(step), f32x4.mul(f32x4.abs(v), f32x4.splat(RATIO.ROUNDING))));
  }
  return <f64>sumOf(flat) / <f64>max(1, sumOf(known));
}

function sumOf(counts: v128): i32 {
  const pairs = i32x4.add(counts, v128.shuffle<i32>(counts, counts, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}
