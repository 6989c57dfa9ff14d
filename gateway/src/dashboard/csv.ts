import type { StoredInsight } from '../insight.js';

const COLUMNS = [
  ...(['ts', 'type', 'value', 'unit', 'sqi_class', 'confidence', 'coverage'] as const),
  ...(['actual_start', 'actual_end', 'e2e_latency_ms', 'device_id', 'session_id', 'algorithm'] as const),
];

/** Stored insights as CSV (RFC 4180), in batches. No field contains a comma or a quote. */
export async function* csvOf(
  batches: AsyncIterable<readonly StoredInsight[]>,
): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const batch of batches)
    yield batch.map((row) => `${COLUMNS.map((name) => row[name]).join(',')}\r\n`).join('');
}
