import type { z } from 'zod';
import type { RestContext } from './rest-context.js';
import { faults, invalid } from './violations.js';

/**
 * Reads the query parameters that a schema names; others are ignored. An empty or repeated parameter is an error: a
 * guess would hide the client's mistake.
 */
export function readQuery<T extends z.ZodObject>(ctx: RestContext, query: T): z.output<T> {
  const given = new URLSearchParams(ctx.querystring);
  const values: Record<string, string> = {};
  const misgiven: string[] = [];
  for (const name of Object.keys(query.shape)) {
    const [value, again] = given.getAll(name);
    if (again !== undefined) misgiven.push(`${name}: must be given only once`);
    else if (value === '') misgiven.push(`${name}: must not be empty`);
    else if (value !== undefined) values[name] = value;
  }
  const parsed = query.safeParse(values);
  if (parsed.success && misgiven.length === 0) return parsed.data;
  throw invalid([...misgiven, ...(parsed.success ? [] : faults(parsed.error, 'query'))]);
}

/** Sets the Link header (RFC 8288) of another page. */
export function linkPage(ctx: RestContext, query: z.ZodObject, cursor: string, rel: 'next' | 'prev'): void {
  ctx.set('Link', `<${pageAddress(ctx, query, cursor)}>; rel="${rel}"`);
}

/** This request with another cursor, or without one. The reference is relative, so that it also works behind a proxy. */
export function pageAddress(ctx: RestContext, query: z.ZodObject, cursor: string | null): string {
  const given = new URLSearchParams(ctx.querystring);
  const link = new URLSearchParams();
  for (const name of Object.keys(query.shape)) {
    const value = name === 'cursor' ? cursor : given.get(name);
    if (value !== null) link.set(name, value);
  }
  return `${ctx.path}?${link}`;
}
