/** Position of the maximum, from -0.5 to 0.5, of the parabola through a value and its two neighbours; 0 if it has none. */
export function vertex<T>(before: T, top: T, after: T): T {
  const bend = before - <T>2 * top + after;
  return bend < 0 ? min<T>(0.5, max<T>(-0.5, (<T>0.5 * (before - after)) / bend)) : 0;
}
