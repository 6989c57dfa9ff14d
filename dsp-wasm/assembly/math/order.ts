import { Row } from '../memory/row';

/** Values in ascending order, the first `count` of a row. */

/** Inserts a value; returns the new count. */
export function insert(row: Row<f32>, count: i32, value: f32): i32 {
  let i = count;
  for (; i > 0 && row[i - 1] > value; i--) row[i] = row[i - 1];
  row[i] = value;
  return count + 1;
}

/** Removes a value that is there; returns the new count. */
export function remove(row: Row<f32>, count: i32, value: f32): i32 {
  let i = 0;
  while (i < count - 1 && row[i] < value) i++;
  for (; i < count - 1; i++) row[i] = row[i + 1];
  return count - 1;
}

/** The value below which a share of them is, interpolated. */
export function quantile(row: Row<f32>, count: i32, share: f32): f32 {
  const at = share * <f32>(count - 1);
  const below = <i32>at;
  const above = min(count - 1, below + 1);
  return row[below] + (at - <f32>below) * (row[above] - row[below]);
}
