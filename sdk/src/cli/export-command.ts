import type { Insight } from '../generated/types.gen.js';
import { UsageError } from './arguments.js';
import type { Command } from './command.js';

const COLUMNS = [
  'ts',
  'type',
  'value',
  'unit',
  'confidence',
  'sqi_class',
  'device_id',
  'session_id',
  'actual_start',
  'actual_end',
  'coverage',
  'e2e_latency_ms',
  'algorithm',
] as const satisfies readonly (keyof Insight)[];
/** Rows between two lines of progress. */
const PROGRESS_ROWS = 10_000;

export const exportCommand: Command = {
  name: 'export',
  usage: `export --since TIME [--until TIME] [--type hr|spo2|rr] [--format csv|json]
      Prints stored insights, oldest first: CSV with a header (the default), or one JSON object a line.
      TIME: 2026-01-31T08:00:00Z, or an age such as 90s, 15m, 1h or 7d.`,
  options: {
    since: { type: 'string' },
    until: { type: 'string' },
    type: { type: 'string' },
    format: { type: 'string' },
  },
  run: async (args, { client, print, tell, stop }) => {
    const now = Date.now();
    const [since, until] = [args.instant('since', now), args.instant('until', now)];
    if (!since) throw new UsageError('export needs --since, for example --since 1h or --since 2026-01-31T08:00:00Z');
    const type = args.choice('type', ['hr', 'spo2', 'rr']);
    const format = args.choice('format', ['csv', 'json']) ?? 'csv';
    if (format === 'csv') await print(COLUMNS.join(','));
    let rows = 0;
    for await (const insight of client.insights.list(
      { since, limit: 1000, ...(until && { until }), ...(type && { type }) },
      { signal: stop },
    )) {
      await print(
        format === 'csv' ? COLUMNS.map((column) => cell(insight[column])).join(',') : JSON.stringify(insight),
      );
      if (++rows % PROGRESS_ROWS === 0) tell(`${rows} insights, up to ${new Date(insight.ts).toISOString()}`);
    }
    tell(`${rows} insights`);
  },
};

/** A CSV cell (RFC 4180). */
function cell(value: string | number): string {
  return typeof value === 'string' && /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value);
}
