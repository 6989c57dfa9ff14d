/** Functions on vectors of four f32. */

/** Sets `count` vectors to zero; faster than memory.fill for a few vectors. */
export function clearVectors(at: usize, count: i32): void {
  for (let i: usize = 0; i < (<usize>count) << 4; i += 16) v128.store(at + i, f32x4.splat(0));
}

/** Sum of the four lanes. */
export function sumLanes(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/** Lanes that carry one of `signals` signals, all bits set. */
export function usedLanes(signals: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(signals));
}

/** Sum of each vector's lanes. */
export function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** Product of each vector's lanes. */
export function productsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.mul(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.mul(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.mul(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** Largest of each vector's lanes. */
export function mostOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.pmax(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.pmax(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.pmax(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** Largest of the four lanes. */
export function mostLane(v: v128): f32 {
  const pairs = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return max<f32>(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

/** Sum of the four lanes in f64. */
export function total(x: v128): f64 {
  const pairs = f64x2.add(f64x2.promote_low_f32x4(x), f64x2.promote_low_f32x4(i32x4.shuffle(x, x, 2, 3, 2, 3)));
  return f64x2.extract_lane(pairs, 0) + f64x2.extract_lane(pairs, 1);
}
