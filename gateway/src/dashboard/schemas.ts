import { z } from 'zod';
import { PASSWORD_LENGTH } from '../operators/password.js';
import { digits, instant, limit, list, matching, object, oneOf, text } from '../rest/fields.js';

/** Requests of the dashboard's own interface. */

export const signIn = object({ name: text(1, 200), password: text(1, 200) });
export const newPassword = object({
  current: text(1, 200),
  password: text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max),
});
export const newAccount = object({ name: text(1, 200) });
export const entitlement = object({
  algorithms: z.union([z.null(), list(text(1, 100), 100)], { error: () => 'must be null or a list of slugs' }),
});
export const newKey = object({
  user: z.union([z.null(), text(1, 200)]).default(null),
  /** A duration from now, such as `30d`, or an RFC 3339 time; null means never. */
  expires: z.union([z.null(), text(1, 40)]).default(null),
  /** Default: all of them, for a user's key `read` and `stream`. */
  permissions: list(text(1, 10), 3).optional(),
  label: text(0, 100).default(''),
});
export const labelling = object({ label: text(0, 100) });
export const rotation = object({ overlap: matching(/^\d{1,4}[mhd]$/, 'a time such as 10m, 24h or 7d') });

const cursor = z.string().optional();
export const keyQuery = z.object({ user: z.string().optional(), limit: limit(50, 200), cursor });
export const pageQuery = z.object({ limit: limit(50, 200), cursor });
export const deviceQuery = z.object({
  problems: oneOf(['only']).optional(),
  prefix: z.string().max(128).optional(),
  limit: limit(50, 200),
  cursor,
});
export const streamingQuery = z.object({ prefix: z.string().max(128).optional(), limit: limit(50, 500) });
export const sessionQuery = z.object({
  device: z.string().max(128).optional(),
  status: oneOf(['open', 'closed']).optional(),
  data_since: instant().optional(),
  data_until: instant().optional(),
  limit: limit(50, 200),
  cursor,
});
const ms = digits(0, 8.64e15).optional();
export const seriesQuery = z.object({ from: ms, to: ms });
export const liveQuery = z.object({ channel: digits(0, 63).optional() });
