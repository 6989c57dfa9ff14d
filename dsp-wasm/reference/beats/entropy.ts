/** The coefficient of sample entropy of intervals, s (Lake and Moorman 2011): pairs within 30 ms, or the first tolerance of which five are followed by a pair. */
export function sampleEntropy(intervals: readonly number[]): number {
  const mean = intervals.reduce((sum, v) => sum + v, 0) / intervals.length;
  for (let tolerance = 0.03; ; tolerance *= 2) {
    const near = (i: number, k: number) => Math.abs((intervals[i] ?? 0) - (intervals[k] ?? 0)) <= tolerance;
    let [alike, followed] = [0, 0];
    for (let i = 0; i + 1 < intervals.length; i++) {
      for (let k = i + 1; k + 1 < intervals.length; k++) {
        if (!near(i, k)) continue;
        alike++;
        if (near(i + 1, k + 1)) followed++;
      }
    }
    if (followed >= 5 || tolerance > 0.4)
      return Math.log(Math.max(1, alike) / Math.max(1, followed)) + Math.log((2 * tolerance) / mean);
  }
}
