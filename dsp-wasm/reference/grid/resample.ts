/**
 * The grid in plain double precision: grid sample k is the average, with a triangular weight from k - 1 to k + 1, of the straight
 * lines that join the samples. NaN if data do not cover the triangle, except for gaps of up to `bridge` seconds.
 *
 * @param t ascending times of the samples, seconds
 * @param rate grid samples per second
 * @returns the first `count` grid samples
 */
export function gridSamples(
  t: readonly number[],
  x: readonly number[],
  rate: number,
  count: number,
  bridge = 0.25,
): number[] {
  const lines = linesBetween(t, x, rate, bridge);
  const sums = Array.from({ length: count }, () => ({ sum: 0, covered: 0 }));
  for (const line of lines) {
    for (let k = Math.max(0, Math.floor(line.from)); k <= Math.min(count - 1, Math.floor(line.to) + 1); k++) {
      const sum = sums[k];
      if (sum) addLine(sum, line, k);
    }
  }
  return sums.map(({ sum, covered }) => (covered > 2 - 1e-5 ? sum : Number.NaN));
}

/** A straight line over [from, to], times in grid samples. */
interface Line {
  readonly from: number;
  readonly to: number;
  readonly at: (u: number) => number;
}

function linesBetween(t: readonly number[], x: readonly number[], rate: number, bridge: number): Line[] {
  return t.slice(1).flatMap((end, i) => {
    const [from, to] = [(t[i] ?? 0) * rate, end * rate];
    const [a, b] = [x[i] ?? 0, x[i + 1] ?? 0];
    if (to - from > bridge * rate || to <= from) return [];
    return [{ from, to, at: (u: number) => a + ((b - a) * (u - from)) / (to - from) }];
  });
}

/** Adds the line's integral under the triangle of grid sample k; Simpson's rule is exact for a line times a line. */
function addLine(sum: { sum: number; covered: number }, line: Line, k: number): void {
  for (const side of [k - 1, k]) {
    const [a, b] = [Math.max(line.from, side), Math.min(line.to, side + 1)];
    if (b <= a) continue;
    const f = (u: number) => line.at(u) * (1 - Math.abs(u - k));
    sum.sum += ((f(a) + 4 * f((a + b) / 2) + f(b)) * (b - a)) / 6;
    sum.covered += b - a;
  }
}
