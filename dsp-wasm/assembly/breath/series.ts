import { Row } from '../memory/row';
import { SERIES } from './scratch';

/** The series that breathing may modulate: four, one in each lane. */

/** Rate of the series, Hz: enough for all rates that beats can show. */
export const SERIES_HZ: f64 = 4;

/** Empties the first `n` points of all four series. */
export function clearSeries(n: i32): void {
  memory.fill(SERIES.at(0), 0, (<usize>n) << 4);
}

/** The lane's value at point i of the SERIES is element 4 i of this row. */
export function laneOf(lane: i32): Row<f32> {
  return changetype<Row<f32>>(SERIES.at(0) + ((<usize>lane) << 2));
}
