import { z } from 'zod';

const DATE_TIME = z.iso.datetime({ offset: true });

/**
 * Parses an RFC 3339 time; seconds and fraction may be left out.
 *
 * Stored times are whole ms, so a finer fraction is rounded up: both `ts >= x` and `ts < x` are then correct. A plus
 * sign that arrived as a space (in a query parameter that was not encoded) is restored. A leap second is the first
 * instant of the next minute.
 *
 * @returns ms since the epoch, or null if the text is not such a time
 */
export function instantOf(text: string): number | null {
  const written = text.toUpperCase().replace(/ (?=\d\d:\d\d$)/, '+');
  const leap = /(?<=T\d\d:\d\d):60(?=[.Z+-])/.exec(written);
  const plain = (leap ? written.replace(':60', ':59') : written).replace(/(?<=T\d\d:\d\d)(?=[Z+-])/, ':00');
  if (!DATE_TIME.safeParse(plain).success) return null;
  return Date.parse(plain) + (leap ? 1000 : 0) + (/\.\d{3}\d*[1-9]/.test(plain) ? 1 : 0);
}

/** ISO-8601 in UTC with milliseconds: the form of times in answers. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same of a time that may be missing: null stays null. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
