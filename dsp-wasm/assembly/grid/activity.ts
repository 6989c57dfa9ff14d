import { ramp } from '../math/ramp';
import { total } from '../math/vector';
import { Channel, KIND_ACCEL, SLOW_HZ } from '../memory/channel';
import { Activity, channelOfKind, Session } from '../memory/session';
import { MOVING, RESTING, STILL, STIRRING } from './tuning';
import { completeBy, copyGrid } from './window';

/** How much the wearer moves, by the accelerometer's last 8 s: its ring holds hardly more. */

/** Length of a stretch and of all four, in grid samples. */
const STRETCH: i32 = 2 * SLOW_HZ;
const LENGTH: i32 = 4 * STRETCH;

/**
 * Measured once for all estimates of an instant. Without an accelerometer the wearer is at rest.
 * @param scratch room for the grid samples (f32)
 */
export function activityOf(session: Session, end: f64, scratch: usize): Activity {
  const activity = session.activity;
  const accel = channelOfKind(session, KIND_ACCEL);
  const known = accel ? completeBy(accel, end) + 1 : 1;
  if (activity.end === end && activity.known === known) return activity;
  activity.end = end;
  activity.known = known;
  activity.movement = accel ? deviation(accel, end, LENGTH, scratch) : 0;
  const still = 1 - ramp<f64>(activity.movement, STILL, MOVING);
  activity.stillness = accel && still > 0 ? still * restfulness(accel, end, scratch) : still;
  return activity;
}

/**
 * 1 at rest to 0 for a wearer who moves all the time, as in a rocking chair or on a bicycle, by the deviations
 * within stretches of 2 s. A turn of the wrist is in at most two of the four: the two greatest do not count.
 */
function restfulness(accel: Channel, end: f64, scratch: usize): f64 {
  let least: f64 = Infinity;
  let second: f64 = Infinity;
  for (let s = 0; s < LENGTH; s += STRETCH) {
    const own = deviation(accel, end - <f64>(s / SLOW_HZ), STRETCH, scratch);
    second = min(second, max(least, own));
    least = min(least, own);
  }
  return 1 - ramp<f64>(second, RESTING, STIRRING);
}

/**
 * Standard deviation of the acceleration over the last `length` grid samples before `end`, in parts of gravity, which is the length of the
 * mean vector, since the unit is any. 0 where there are no data.
 */
function deviation(accel: Channel, end: f64, length: i32, scratch: usize): f64 {
  const limit = completeBy(accel, end);
  let gravity: f64 = 0;
  let variance: f64 = 0;
  for (let axis = 0; axis < min(accel.subs, 3); axis++) {
    const held = copyGrid(accel, axis, <i32>end * SLOW_HZ - length, length, limit, scratch);
    if (!held) return 0;
    let sum = f32x4.splat(0);
    let squares = sum;
    for (let i: usize = 0; i < (<usize>length) << 2; i += 16) {
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
