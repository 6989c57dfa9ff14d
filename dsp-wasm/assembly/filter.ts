/**
 * Biquads over eight signals, two groups of four lanes in flight: one group alone would wait for its own recursion. The
 * transposed direct form II is re-associated so that the recursion is one multiplication and one addition long:
 * with c1 = b1 - a1 b0 and c2 = b2 - a2 b0, s1' = c1 x + s2 - a1 s1, s2' = c2 x - a2 s1, y = b0 x + s1.
 */

/** Added to the input: a decaying recursion would else reach denormal numbers, which WebAssembly cannot flush to zero. */
const ABOVE_DENORMAL: f32 = 1e-20;

/**
 * Filters `count` samples of two groups in place.
 * @param x samples, two f32x4 each
 * @param coefficients b0, c1, c2, a1, a2 (f32)
 * @param state s1 and s2 of the first group, then of the second (four f32x4)
 */
export function biquad8(x: usize, count: i32, coefficients: usize, state: usize): void {
  const b0 = v128.load32_splat(coefficients);
  const c1 = v128.load32_splat(coefficients, 4);
  const c2 = v128.load32_splat(coefficients, 8);
  const a1 = v128.load32_splat(coefficients, 12);
  const a2 = v128.load32_splat(coefficients, 16);
  const above = f32x4.splat(ABOVE_DENORMAL);
  let s1 = v128.load(state);
  let s2 = v128.load(state, 16);
  let r1 = v128.load(state, 32);
  let r2 = v128.load(state, 48);
  for (const end = x + (<usize>count << 5); x < end; x += 32) {
    const u = f32x4.add(v128.load(x), above);
    const v = f32x4.add(v128.load(x, 16), above);
    v128.store(x, f32x4.add(f32x4.mul(b0, u), s1));
    v128.store(x, f32x4.add(f32x4.mul(b0, v), r1), 16);
    const s = f32x4.add(f32x4.mul(c1, u), s2);
    const r = f32x4.add(f32x4.mul(c1, v), r2);
    s2 = f32x4.sub(f32x4.mul(c2, u), f32x4.mul(a2, s1));
    r2 = f32x4.sub(f32x4.mul(c2, v), f32x4.mul(a2, r1));
    s1 = f32x4.sub(s, f32x4.mul(a1, s1));
    r1 = f32x4.sub(r, f32x4.mul(a1, r1));
  }
  v128.store(state, s1);
  v128.store(state, s2, 16);
  v128.store(state, r1, 32);
  v128.store(state, r2, 48);
}
