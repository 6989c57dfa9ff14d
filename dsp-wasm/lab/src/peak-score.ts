/** An R peak counts as found if one is detected within this time of it, seconds. */
const PEAK_TOLERANCE_S = 0.05;

/** Pairs marked and detected peaks one to one, in order of time; the terms are those of ANSI/AAMI EC57. */
export function scorePeaks(
  marked: readonly number[],
  found: readonly number[],
): Record<'positive predictivity %' | 'sensitivity %' | 'F1 %', number> {
  let hits = 0;
  for (let m = 0, f = 0; m < marked.length && f < found.length; ) {
    const apart = (found[f] ?? 0) - (marked[m] ?? 0);
    if (Math.abs(apart) <= PEAK_TOLERANCE_S) hits++;
    if (apart <= PEAK_TOLERANCE_S) f++;
    if (apart >= -PEAK_TOLERANCE_S) m++;
  }
  const percent = (share: number) => Number((100 * share).toFixed(2));
  return {
    'positive predictivity %': percent(hits / Math.max(1, found.length)),
    'sensitivity %': percent(hits / Math.max(1, marked.length)),
    'F1 %': percent((2 * hits) / Math.max(1, marked.length + found.length)),
  };
}
