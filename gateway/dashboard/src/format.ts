import { now } from './service-clock.js';

const DAY = { year: 'numeric', month: 'short', day: 'numeric' } as const;
const DATE = new Intl.DateTimeFormat(undefined, { ...DAY, hour: 'numeric', minute: '2-digit', timeZoneName: 'short' });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
});
const CALENDAR = new Intl.DateTimeFormat(undefined, DAY);
const NUMBER = new Intl.NumberFormat();

const STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Date and time of a moment with its zone, in the user's locale. */
export function date(at: string | number): string {
  return DATE.format(new Date(at));
}

export function clock(at: string | number): string {
  return CLOCK.format(new Date(at));
}

export function day(at: string | number): string {
  return CALENDAR.format(new Date(at));
}

/** The distance of a moment from now: `5 minutes ago`, `in 3 hours`. */
export function ago(at: string | number): string {
  const ms = new Date(at).getTime() - now();
  const [unit, size] = STEPS.find(([, step]) => Math.abs(ms) >= step) ?? STEPS[3];
  return Math.abs(ms) < 5000 ? 'just now' : AGO.format(Math.trunc(ms / size), unit);
}

/** A stretch of time: `2 h 5 min`, `41 s`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const h = Math.floor(s / 3600);
  return h < 48 ? `${h} h ${Math.floor((s % 3600) / 60)} min` : `${Math.floor(h / 24)} d ${h % 24} h`;
}

export function count(n: number): string {
  return NUMBER.format(n);
}

export function bytes(n: number): string {
  return n < 1e6 ? `${(n / 1e3).toFixed(0)} KB` : n < 1e9 ? `${(n / 1e6).toFixed(0)} MB` : `${(n / 1e9).toFixed(2)} GB`;
}
