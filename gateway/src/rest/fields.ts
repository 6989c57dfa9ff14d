import { z } from 'zod';
import { instantOf } from '../instant.js';

/** One sentence for every fault of a field: the valid values. */
function must(what: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? `is missing: it must be ${what}` : `must be ${what}`) };
}

/** Half of a surrogate pair is not text, and not every store keeps U+0000. */
const UNKEPT = /\p{Surrogate}|\0/u;
/** The same rule for JSON Schema, whose texts have no unpaired surrogates. */
const KEPT_PATTERN = '^[^\\u0000]*$';

/** Text of `min` to `max` Unicode code points. */
export function text(min: number, max: number) {
  const rule = must(`a string of ${min === 0 ? 'up' : min} to ${max} characters`);
  return z
    .string(rule)
    .refine((value) => !UNKEPT.test(value) && within([...value].length, min, max), rule)
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max, pattern: KEPT_PATTERN });
}

/** Text that matches an anchored pattern; `what` describes it in words. */
export function matching(pattern: RegExp, what: string) {
  return z.string(must(what)).regex(pattern, must(what));
}

/** A finite number from `min` to `max`, both included. */
export function number(min: number, max: number) {
  const rule = must(`a number from ${min} to ${max}`);
  return z.number(rule).min(min, rule).max(max, rule);
}

/** A whole number from `min` to `max`, both included. */
export function integer(min: number, max: number) {
  const rule = must(`an integer from ${min} to ${max}`);
  return z.int(rule).min(min, rule).max(max, rule);
}

/** A list of at most `max` items. The length is checked first, so that a huge list costs nothing. */
export function list<T extends z.ZodType>(item: T, max: number) {
  const short = (value: unknown) => (Array.isArray(value) && value.length > max ? null : value);
  return z.preprocess(short, z.array(item, must(`a list of at most ${max} items`)).meta({ maxItems: max }));
}

/** A JSON object with these fields; others are ignored. */
export function object<T extends z.ZodRawShape>(shape: T) {
  return z.object(shape, must('a JSON object'));
}

/** A UUID, in upper or lower case. */
export function uuid() {
  return z.guid(must('a UUID')).transform((id) => id.toLowerCase());
}

/** A query parameter: one of several words. */
export function oneOf<const T extends readonly string[]>(words: T) {
  return z.enum(words, must(`one of ${words.join(', ')}`));
}

/** A query parameter: the device that rows are of. */
export function ofDevice(what: string) {
  return text(1, 128)
    .optional()
    .meta({ description: `${what} of this device only.` });
}

/** A query parameter: a whole number from `min` to `max`, in digits. */
export function digits(min: number, max: number) {
  const read = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  return z.preprocess(read, integer(min, max));
}

/** A query parameter: the number of rows, from 1 to `max`. */
export function limit(fallback: number, max: number) {
  return digits(1, max).default(fallback).meta({ default: fallback });
}

/** A query parameter: where a page starts. */
export const cursor = z
  .string()
  .optional()
  .meta({ minLength: 1, description: 'Start of a page, from the Link header of the previous page.' });

/** A query parameter: an RFC 3339 time, as ms since the epoch. */
export function instant() {
  const rule = 'must be an RFC 3339 time such as 2026-01-31T08:00:00.000Z or 2026-01-31T09:00+01:00';
  return z
    .string()
    .transform((value, context) => {
      const ms = instantOf(value);
      if (ms !== null) return ms;
      context.addIssue({ code: 'custom', message: rule });
      return z.NEVER;
    })
    .meta({ format: 'date-time' });
}

/** Whether the bounds of a query's data time are in order; `NO_DATA_INTERVAL` says that they are not. */
export function isDataInterval(query: { data_since?: number | undefined; data_until?: number | undefined }): boolean {
  return query.data_since === undefined || query.data_until === undefined || query.data_since <= query.data_until;
}
export const NO_DATA_INTERVAL = { path: ['data_since'], message: 'must not be after data_until' };

function within(n: number, min: number, max: number): boolean {
  return n >= min && n <= max;
}
