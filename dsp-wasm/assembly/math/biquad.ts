/**
 * Biquads over eight signals, as two groups of four lanes: one group alone would wait for its own recursion. The
 * transposed direct form II is rearranged so that the recursion needs only one multiplication and one addition:
 * with c1 = b1 - a1 b0 and c2 = b2 - a2 b0, s1' = c1 x + s2 - a1 s1, s2' = c2 x - a2 s1, y = b0 x + s1.
 */

/** Added to the input, because a decaying recursion would reach denormal numbers, which WebAssembly cannot flush to zero. */
const ABOVE_DENORMAL: f32 = 1e-20;

/** Coefficients, rearranged as above. */
@unmanaged
export class Biquad {
  b0: f32;
  c1: f32;
  c2: f32;
  a1: f32;
  a2: f32;
}

/** State of the two groups. */
@unmanaged
export class BiquadState {
  s1: v128;
  s2: v128;
  r1: v128;
  r2: v128;
}

/**
 * Filters `count` samples of two groups in place; `x` has two f32x4 for each sample. One group comes after the other, because the
 * engine then has a register for each value.
 */
export function biquad8(x: usize, count: i32, filter: Biquad, state: BiquadState): void {
  // Loaded as vectors, because the engine would convert a float to a vector again in every iteration
  const b0 = v128.load32_splat(changetype<usize>(filter), offsetof<Biquad>('b0'));
  const c1 = v128.load32_splat(changetype<usize>(filter), offsetof<Biquad>('c1'));
  const c2 = v128.load32_splat(changetype<usize>(filter), offsetof<Biquad>('c2'));
  const a1 = v128.load32_splat(changetype<usize>(filter), offsetof<Biquad>('a1'));
  const a2 = v128.load32_splat(changetype<usize>(filter), offsetof<Biquad>('a2'));
  const above = f32x4.splat(ABOVE_DENORMAL);
  let s1 = state.s1;
  let s2 = state.s2;
  let r1 = state.r1;
  let r2 = state.r2;
  for (const end = x + ((<usize>count) << 5); x < end; x += 32) {
    const u = f32x4.add(v128.load(x), above);
    v128.store(x, f32x4.add(f32x4.mul(b0, u), s1));
    const s = f32x4.add(f32x4.mul(c1, u), s2);
    s2 = f32x4.sub(f32x4.mul(c2, u), f32x4.mul(a2, s1));
    s1 = f32x4.sub(s, f32x4.mul(a1, s1));
    const v = f32x4.add(v128.load(x, 16), above);
    v128.store(x, f32x4.add(f32x4.mul(b0, v), r1), 16);
    const r = f32x4.add(f32x4.mul(c1, v), r2);
    r2 = f32x4.sub(f32x4.mul(c2, v), f32x4.mul(a2, r1));
    r1 = f32x4.sub(r, f32x4.mul(a1, r1));
  }
  state.s1 = s1;
  state.s2 = s2;
  state.r1 = r1;
  state.r2 = r2;
}
