/** A line from 0 at `from` to 1 at `to`; 0 before it, 1 after it, and 0 for NaN. */
export function ramp<T>(x: T, from: T, to: T): T {
  const y = (x - from) / (to - from);
  return y > 0 ? min<T>(y, 1) : 0;
}
