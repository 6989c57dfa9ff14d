/** Processor time of this process, seconds; on a shared machine the wall clock also measures other processes. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Smallest of several measurements; the first ones warm up the compiler. */
export function best(times: number, measure: () => number): number {
  return Math.min(...Array.from({ length: times }, measure));
}
