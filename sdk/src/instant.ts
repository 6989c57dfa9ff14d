import { LATEST_MS, SECONDS_FROM, SECONDS_UNTIL } from './limits.js';
import { check } from './options.js';

/** An instant: a Date, ms since the epoch, or an RFC 3339 text with an offset, such as `2026-01-31T08:00:00Z`. */
export type Instant = Date | number | string;

/** What a time must be, in words. */
export const MS = 'ms since the epoch, such as Date.now()';

/** @throws RangeError for a time in seconds, in microseconds or in nanoseconds since the epoch, for an earlier one, and for what is no time */
export function checkMs(name: string, ms: number, earliest = -LATEST_MS): void {
  const isMs = ms > earliest && ms < LATEST_MS && !(ms > SECONDS_FROM && ms < SECONDS_UNTIL);
  check(isMs, name, MS, ms, RangeError);
}

/**
 * An instant as the service reads it: RFC 3339. Undefined if there is none.
 *
 * @throws RangeError for seconds or microseconds, and for a Date or number that is no time
 */
export function instantText(name: string, instant: Instant | undefined): string | undefined {
  if (typeof instant === 'string' || instant === undefined) return instant;
  const ms = Number(instant);
  checkMs(name, ms);
  return new Date(ms).toISOString();
}
