import { total } from '../math/vector';
import { Row } from '../memory/row';
import { WINDOW } from './records';

/** Mean of a window's existing values. */
export function meanOf(row: Row<f32>): f64 {
  let sum = f32x4.splat(0);
  let count = sum;
  for (let i = 0; i < WINDOW; i += 4) {
    const v = v128.load(row.at(i));
    const known = f32x4.eq(v, v);
    sum = f32x4.add(sum, v128.and(v, known));
    count = f32x4.add(count, v128.and(f32x4.splat(1), known));
  }
  return total(sum) / total(count);
}
