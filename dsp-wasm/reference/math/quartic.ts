const FIVE = [-2, -1, 0, 1, 2];

/** The value `t` grid samples after the k-th, on the polynomial through five values (Lagrange). */
export function valueAt(row: (i: number) => number, k: number, t: number): number {
  if (t === 0) return row(k);
  const weight = (i: number) => FIVE.reduce((product, j) => (j === i ? product : (product * (t - j)) / (i - j)), 1);
  return FIVE.reduce((sum, i) => sum + row(k + i) * weight(i), 0);
}
