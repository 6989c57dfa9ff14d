import { instantOf } from '../instant.js';
import { Refusal } from './refusal.js';

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
/** Times after this have no four-digit year. */
const LATEST = Date.UTC(9999, 11, 31);

/**
 * Parses the expiry time of a key: a time from now (`90m`, `12h`, `30d`, `4w`) or an RFC 3339 time. Refuses other
 * texts, and times that are not in the future.
 *
 * @param what name of the text in a refusal
 * @returns ms since the epoch
 */
export function expiryOf(what: string, text: string, now: number): number {
  const at = fromNow(text, now) ?? instantOf(text);
  if (at === null) {
    throw new Refusal(`${what} must be a time from now (90m, 12h, 30d, 4w) or an RFC 3339 time, not ${said(text)}`);
  }
  if (at <= now) throw new Refusal(`${what} must be in the future, not ${said(text)}`);
  if (at > LATEST) throw new Refusal(`${what} must be before the year 10000, not ${said(text)}`);
  return at;
}

/** Parses a time in the past: a time ago (`90m`, `12h`, `30d`, `4w`) or an RFC 3339 time; ms since the epoch. Refuses other texts. */
export function pastOf(what: string, text: string, now: number): number {
  const ahead = fromNow(text, now);
  const at = ahead === null ? instantOf(text) : 2 * now - ahead;
  if (at === null)
    throw new Refusal(`${what} must be a time ago (90m, 12h, 30d, 4w) or an RFC 3339 time, not ${said(text)}`);
  return at;
}

function fromNow(text: string, now: number): number | null {
  const [, count, unit] = /^(\d{1,9})([mhdw])$/.exec(text) ?? [];
  return unit === undefined ? null : now + Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

function said(text: string): string {
  return JSON.stringify(text);
}
