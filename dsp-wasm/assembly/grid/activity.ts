import { ramp } from '../math/ramp';
import { total } from '../math/vector';
import { KIND_ACCEL, SLOW_HZ } from '../memory/channel';
import { channelOfKind, Session } from '../memory/session';
import { MOVING, STILL } from './tuning';
import { completeBy, copyGrid } from './window';

/** Number of the stretches that are looked at, and their length in seconds and in grid samples. */
const STRETCHES: i32 = 4;
const SECONDS: i32 = 2;
const LENGTH: i32 = SECONDS * SLOW_HZ;

/** 1 for a wearer at rest, or without an accelerometer, to 0 for a moving one; see `activity`. */
export function stillness(session: Session, end: f64, every: i32, scratch: usize): f64 {
  return 1 - ramp<f64>(activity(session, end, every, scratch), STILL, MOVING);
}

/**
 * How much the wearer moves: standard deviation of the acceleration over four stretches of 2 s, the last one before `end`, in parts of
 * gravity, which is the length of the mean vector, since the unit is any. 0 where there is no accelerometer, or no data of it.
 * @param every seconds from one stretch to the next
 * @param scratch room for the grid samples of a stretch (f32)
 */
function activity(session: Session, end: f64, every: i32, scratch: usize): f64 {
  const accel = channelOfKind(session, KIND_ACCEL);
  if (!accel) return 0;
  const limit = completeBy(accel, end);
  let gravity: f64 = 0;
  let variance: f64 = 0;
  for (let axis = 0; axis < min(accel.subs, 3); axis++) {
    let held = 0;
    let sum = f32x4.splat(0);
    let squares = sum;
    for (let s = 0; s < STRETCHES; s++) {
      held += copyGrid(accel, axis, (<i32>end - s * every) * SLOW_HZ - LENGTH, LENGTH, limit, scratch);
      for (let i: usize = 0; i < (<usize>LENGTH) << 2; i += 16) {
        const v = v128.load(scratch + i);
        const known = v128.and(v, f32x4.eq(v, v));
        sum = f32x4.add(sum, known);
        squares = f32x4.add(squares, f32x4.mul(known, known));
      }
    }
    if (!held) return 0;
    const mean = total(sum) / <f64>held;
    const level = mean + accel.offsets[axis];
    gravity += level * level;
    variance += Math.max(0, total(squares) / <f64>held - mean * mean);
  }
  return gravity > 0 ? Math.sqrt(variance / gravity) : 0;
}
