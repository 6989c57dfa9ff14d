/** Processor time of this process, seconds: on a shared machine the wall clock measures the neighbours. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Least of several measurements; the first ones warm the compiler up. */
export function best(times: number, measure: () => number): number {
  return Math.min(...Array.from({ length: times }, measure));
}
