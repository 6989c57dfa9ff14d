import { Row } from '../memory/row';

/** Correlation of `count` values of two rows; 0 where one of them does not change. */
export function correlation(one: Row<f32>, other: Row<f32>, count: i32): f32 {
  const n = <f32>count;
  let x: f32 = 0;
  let y: f32 = 0;
  let xx: f32 = 0;
  let yy: f32 = 0;
  let xy: f32 = 0;
  for (let i = 0; i < count; i++) {
    const a = one[i];
    const b = other[i];
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  return (n * xy - x * y) / sqrt<f32>(max<f32>(1e-30, (n * xx - x * x) * (n * yy - y * y)));
}
