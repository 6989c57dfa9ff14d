/** A point of a series. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The slope of a line through points with many outliers: the median of all pairs' slopes (Theil 1950, Sen 1968); 0 for
 * fewer than two.
 */
export function robustSlope(points: readonly Point[]): number {
  const slopes = points.flatMap((a, n) =>
    points.slice(n + 1).flatMap((b) => (b.x === a.x ? [] : [(b.y - a.y) / (b.x - a.x)])),
  );
  return median(slopes) ?? 0;
}

/** The median; undefined if there are no values. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
