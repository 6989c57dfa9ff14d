import { ramp } from '../math/ramp';
import { total } from '../math/vector';
import { KIND_ACCEL, SLOW_HZ } from '../memory/channel';
import { channelOfKind, Session } from '../memory/session';
import { MOVING, STILL } from './tuning';
import { completeBy, copyGrid } from './window';

/** 1 for a wearer at rest, or without an accelerometer, to 0 for a moving one; see `activity`. */
export function stillness(session: Session, end: f64, seconds: i32, scratch: usize): f64 {
  return 1 - ramp<f64>(activity(session, end, seconds, scratch), STILL, MOVING);
}

/**
 * How much the wearer moves: standard deviation of the acceleration over the `seconds` before `end`, in parts of gravity, which is the
 * length of the mean vector, since the unit is any. 0 where there is no accelerometer, or no data of it.
 * @param scratch room for the grid samples of one axis (f32, a multiple of four)
 */
function activity(session: Session, end: f64, seconds: i32, scratch: usize): f64 {
  const accel = channelOfKind(session, KIND_ACCEL);
  if (!accel) return 0;
  const count = seconds * SLOW_HZ;
  let gravity: f64 = 0;
  let variance: f64 = 0;
  for (let axis = 0; axis < min(accel.subs, 3); axis++) {
    const held = copyGrid(accel, axis, <i32>end * SLOW_HZ - count, count, completeBy(accel, end), scratch);
    if (!held) return 0;
    let sum = f32x4.splat(0);
    let squares = sum;
    for (let i: usize = 0; i < (<usize>count) << 2; i += 16) {
      const v = v128.load(scratch + i);
      const known = v128.and(v, f32x4.eq(v, v));
      sum = f32x4.add(sum, known);
      squares = f32x4.add(squares, f32x4.mul(known, known));
    }
    const mean = total(sum) / <f64>held;
    const level = mean + accel.offsets[axis];
    gravity += level * level;
    variance += Math.max(0, total(squares) / <f64>held - mean * mean);
  }
  return gravity > 0 ? Math.sqrt(variance / gravity) : 0;
}
