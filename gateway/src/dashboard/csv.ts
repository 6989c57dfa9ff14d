import type { StoredInsight } from '../insight.js';

const COLUMNS = [
  ...(['ts', 'type', 'value', 'unit', 'sqi_class', 'confidence', 'coverage'] as const),
  ...(['actual_start', 'actual_end', 'e2e_latency_ms', 'device_id', 'session_id', 'algorithm'] as const),
];

/** The first line of a CSV (RFC 4180) of insights. */
export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** The line of an insight. No field contains a comma or a quote. */
export function csvRow(row: StoredInsight): string {
  return `${COLUMNS.map((name) => row[name]).join(',')}\r\n`;
}

/** Stored insights as CSV in batches. */
export async function* csvOf(
  batches: AsyncIterable<readonly StoredInsight[]>,
): AsyncGenerator<string, void, undefined> {
  yield CSV_HEADER;
  for await (const batch of batches) yield batch.map(csvRow).join('');
}
