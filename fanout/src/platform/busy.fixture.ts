import { availableParallelism, loadavg } from 'node:os';

/** A limit of time, ms, for a machine that may be busy: longer by the number of programs that wait for each core, if more than one does. */
export function busyLimit(ms: number): number {
  return ms * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}
