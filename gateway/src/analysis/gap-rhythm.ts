/**
 * The rhythm of a window's gaps. Beats beside a gap are missing or measured wrong, so gaps in rhythm (a device that rests between
 * measurements, a link that loses every fifth frame) modulate the series of beats as a breath of their rate would.
 */

/** Minimum number of gaps that make a rhythm: fewer are too slow for a breath. */
const FEWEST = 4;
/** How far a regular distance may be from the median one. */
const REGULAR = 0.15;
/** Share of regular distances from which the gaps are in rhythm: single losses may come in between. */
const REGULAR_SHARE = 0.5;
/** A rate this near is the gaps', per minute: the tolerance of the confidence. */
const NEAR = 3;

/**
 * Gaps per minute, if they come in rhythm; otherwise null.
 * @param starts times of their starts, seconds, ascending
 */
export function gapRhythm(starts: readonly number[]): number | null {
  if (starts.length < FEWEST) return null;
  const distances = starts.slice(1).map((start, i) => start - (starts[i] ?? start));
  const usual = distances.toSorted((a, b) => a - b)[distances.length >> 1] ?? 0;
  const regular = distances.filter((distance) => Math.abs(distance - usual) <= REGULAR * usual);
  return regular.length >= REGULAR_SHARE * distances.length ? 60 / usual : null;
}

/** Whether a respiratory rate is that of the gaps, or half of it, where every other gap is the one that takes a beat. */
export function isOfGaps(rate: number, gaps: number | null): boolean {
  return gaps !== null && [gaps, gaps / 2].some((own) => Math.abs(rate - own) <= NEAR);
}
