import type { z } from 'zod';
import { HttpError } from '../errors.js';

/** Number of faults that are listed; the rest is counted. */
const SHOWN = 20;

/**
 * Parses a value, or throws a 400 that names each wrong field and its valid values.
 *
 * @param whole name of the value itself
 */
export function valid<T extends z.ZodType>(schema: T, value: unknown, whole = 'body'): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(faults(parsed.error, whole));
}

/** A 400 that lists these faults. */
export function invalid(sentences: readonly string[]): HttpError {
  const more = sentences.length - SHOWN;
  const shown = more > 0 ? [...sentences.slice(0, SHOWN), `and ${more} more`] : sentences;
  return new HttpError('validation_failed', shown.join('; '));
}

/** One sentence for each field, in the order of the fields: its first fault. */
export function faults(error: z.ZodError, whole: string): string[] {
  const byField = new Map<string, string>();
  for (const { path, message } of error.issues) {
    const field = fieldName(path, whole);
    if (!byField.has(field)) byField.set(field, `${field}: ${message}`);
  }
  return [...byField.values()];
}

/** `modality_channels[0].bit_depth` */
function fieldName(path: readonly PropertyKey[], whole: string): string {
  if (path.length === 0) return whole;
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`))
    .join('');
}
