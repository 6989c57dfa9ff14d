/** An answer's Date is in whole seconds, and takes time to arrive, ms. */
const TOLERANCE_MS = 3000;

/** Added to this browser's clock, which may be far off, for that of the service, ms. */
let offset = 0;

/** The time of the service, ms since the epoch: that of readings, heartbeats and expiries. */
export function now(): number {
  return Date.now() + offset;
}

/** Sets the clock by the Date header of an answer, if the two differ by more than the header can tell. */
export function setBy(header: string | null): void {
  const time = Date.parse(header ?? '');
  if (Math.abs(time - now()) > TOLERANCE_MS) offset = time - Date.now();
}
