import type { Insight } from '../generated/types.gen.js';
import type { CallOptions, InsightsQuery, Operations } from './rest.js';

/**
 * All stored insights of a session, in chronological order, a page at a time: a session may be longer than one answer
 * (`maxResponseBytes`). Of an open session, those up to the newest data when the iteration began.
 *
 * Throws ApiError (404; 403 if the key may not see the session) or ConnectionError.
 *
 * @param type only insights of this type
 */
export async function* insightsOfSession(
  client: Pick<Operations, 'sessions' | 'insights'>,
  id: string,
  { type, ...call }: CallOptions & Pick<InsightsQuery, 'type'> = {},
): AsyncGenerator<Insight> {
  const { device_id, data_start, data_end } = await client.sessions.get(id, call);
  if (data_start === undefined || data_end === undefined) return;
  // Windows end up to one sample period after the last sample, which is at most 10 s (0.1 Hz).
  const data_until = Date.parse(data_end) + 60_000;
  const query = { device_id, data_since: data_start, data_until, limit: 1000, ...(type && { type }) };
  // Other sessions of the device may have data of this time, from a back-fill or at once afterwards.
  for await (const insight of client.insights.list(query, call)) if (insight.session_id === id) yield insight;
}
