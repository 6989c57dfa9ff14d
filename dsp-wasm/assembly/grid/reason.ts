import { total } from '../math/vector';
import { Channel } from '../memory/channel';
import { BAD_SCALE, NO_DC, NO_REASON } from '../memory/reason';
import { isWhole, levelOf, lowestOf, rangeOf, Seen } from './span';
import { MOST_OF_LEVEL, SINE_REACH, SINE_REST } from './tuning';
import { completeBy, copyGrid, fillEmpty } from './window';

/**
 * Why the level of two lights allows no ratio of them, NO_DC or BAD_SCALE; NO_REASON if it does. Light is never negative: counts whose
 * pulse is small against a negative level have lost their sign. If one light has lost its level and the other has not, and both fit into two
 * bytes of more that are declared, the upper bytes are missing.
 */
export function levelFault(red: Channel, infrared: Channel): i32 {
  const redLost = lostOf(red);
  const infraredLost = lostOf(infrared);
  if (redLost === BAD_SCALE || infraredLost === BAD_SCALE) return BAD_SCALE;
  if (redLost === NO_REASON && infraredLost === NO_REASON) return NO_REASON;
  return redLost !== infraredLost && isCut(red) && isCut(infrared) ? BAD_SCALE : NO_DC;
}

function lostOf(light: Channel): i32 {
  const level = levelOf(light, 0);
  const range = rangeOf(light, 0);
  const small = range < MOST_OF_LEVEL * Math.abs(level);
  if (small && level > 0) return NO_REASON;
  Seen.number = level;
  return small && isWhole(light, 0) ? BAD_SCALE : NO_DC;
}

/** Whether counts of more than 16 declared bits fit into 16. */
function isCut(light: Channel): bool {
  const lowest = lowestOf(light, 0);
  return light.bits > 16 && isWhole(light, 0) && lowest > 0 && lowest + rangeOf(light, 0) < 65536;
}

/**
 * Whether a sub-channel's last `count` grid samples (a multiple of four) are a sinusoid, as of the mains, beside a drift: then its third
 * difference over any distance is the same multiple of the first one about the same middle. Neighbours show a fast one, also one that the
 * sampling modulates; a greater distance shows a slow one through the noise.
 * @param x room for the grid samples (f32)
 */
export function isSinusoid(channel: Channel, sub: i32, end: f64, count: i32, x: usize): bool {
  const from = <i32>end * channel.rate - count;
  const limit = completeBy(channel, end);
  if (limit - from < count / 2) return false;
  const held = copyGrid(channel, sub, from, count, limit, x);
  if (2 * held < count) return false;
  if (held < count) fillEmpty(x, count);
  Seen.number = Math.max(bentAlike(x, count, 1), bentAlike(x, count, channel.rate / SINE_REACH));
  return 1 - Seen.number < SINE_REST;
}

/** Squared correlation of first and third differences over `reach` grid samples. */
function bentAlike(x: usize, count: i32, reach: i32): f64 {
  const far = (<usize>reach) << 2;
  let firsts = f32x4.splat(0);
  let products = firsts;
  let thirds = firsts;
  for (let at = x + 2 * far; at + 2 * far + 16 <= x + ((<usize>count) << 2); at += 16) {
    const first = f32x4.sub(v128.load(at + far), v128.load(at - far));
    const third = f32x4.sub(f32x4.sub(v128.load(at + 2 * far), v128.load(at - 2 * far)), f32x4.add(first, first));
    firsts = f32x4.add(firsts, f32x4.mul(first, first));
    products = f32x4.add(products, f32x4.mul(first, third));
    thirds = f32x4.add(thirds, f32x4.mul(third, third));
  }
  const product = total(products);
  return (product * product) / (total(firsts) * total(thirds));
}
