/** From 0 at `from` to 1 at `to`, as assembly/math/ramp.ts. */
export function ramp(x: number, from: number, to: number): number {
  const y = (x - from) / (to - from);
  return y > 0 ? Math.min(1, y) : 0;
}
