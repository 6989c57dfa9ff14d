/**
 * Values between grid samples, on the polynomial of degree 4 through five of them. The error of a parabola changes with the place of a
 * pulse on the grid, so that a regular pulse seems to swing.
 */

/** Steps of Newton's method from a good first guess. */
const STEPS: i32 = 2;

// Coefficients of the powers of the distance from the middle value.
let c0: f32 = 0;
let c1: f32 = 0;
let c2: f32 = 0;
let c3: f32 = 0;
let c4: f32 = 0;

/** Lays the polynomial through five values one grid sample apart, of which `c` is the middle one. */
export function fitQuartic(a: f32, b: f32, c: f32, d: f32, e: f32): void {
  c0 = c;
  c1 = (a - e + 8 * (d - b)) / 12;
  c2 = (16 * (b + d) - a - e - 30 * c) / 24;
  c3 = (e - a + 2 * (b - d)) / 12;
  c4 = (a + e + 6 * c - 4 * (b + d)) / 24;
}

/** The fitted value `t` grid samples after the middle value. */
export function quarticAt(t: f32): f32 {
  return c0 + t * (c1 + t * (c2 + t * (c3 + t * c4)));
}

/** Where the fitted polynomial has its extremum near `t`; at most one grid sample from the middle value. */
export function extremumNear(t: f32): f32 {
  for (let n = 0; n < STEPS; n++) {
    const bend: f32 = 2 * c2 + t * (6 * c3 + t * 12 * c4);
    const slope: f32 = c1 + t * (2 * c2 + t * (3 * c3 + t * 4 * c4));
    if (isFinite<f32>(slope / bend)) t = max<f32>(-1, min<f32>(1, t - slope / bend));
  }
  return t;
}
