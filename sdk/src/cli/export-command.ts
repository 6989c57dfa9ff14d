import type { Beat, Insight, Summary } from '../generated/types.gen.js';
import { INSIGHT_TYPES } from '../live/insight.js';
import { COLUMNS, toParquet } from '../rest/parquet.js';
import { insightsOfSession } from '../rest/session-insights.js';
import { type Arguments, UsageError } from './arguments.js';
import type { Command, Surroundings } from './command.js';

/** As in the CSV of the dashboard. */
const NAMES = Object.keys(COLUMNS) as (keyof Insight)[];
const TIMES: readonly string[] = NAMES.filter((name) => COLUMNS[name] === 'TIMESTAMP');
const SUMMARY_COLUMNS = [
  ...(['type', 'unit', 'mean', 'minimum', 'maximum', 'excellent_s', 'acceptable_s', 'unfit_s'] as const),
] satisfies readonly (keyof Summary)[];
const BEAT_COLUMNS = ['t', 'source', 'quality'] as const satisfies readonly (keyof Beat)[];
/** What is exported of a whole session instead of its insights. */
const WHOLE = ['summary', 'beats'] as const;
/** Rows between two lines of progress. */
const PROGRESS_ROWS = 10_000;

export const exportCommand: Command = {
  name: 'export',
  usage: `export --since TIME [--until TIME] | --data-since TIME [--data-until TIME] | --session ID
         [--device ID] [--type ${INSIGHT_TYPES.join('|')}] [--format csv|json|parquet] [--iso]
  export --session ID --summary|--beats [--format csv|json]
      Prints stored insights, oldest first: CSV with a header (the default), one JSON object a line, or the bytes of a
      Parquet file (> FILE; needs the package hyparquet-writer). --since and --until go by publish time, --data-since and
      --data-until by the time of the data; --iso writes times as text; --summary prints mean, minimum, maximum and the
      time of each class instead, and --beats the beats, with t in ms.
      TIME: 2026-01-31T08:00:00Z, or an age such as 90s, 15m, 1h or 7d.`,
  options: {
    since: { type: 'string' },
    until: { type: 'string' },
    'data-since': { type: 'string' },
    'data-until': { type: 'string' },
    session: { type: 'string' },
    device: { type: 'string' },
    type: { type: 'string' },
    format: { type: 'string' },
    iso: { type: 'boolean' },
    summary: { type: 'boolean' },
    beats: { type: 'boolean' },
  },
  run: async (args, context) => {
    const format = args.choice('format', ['csv', 'json', 'parquet']) ?? 'csv';
    const whole = WHOLE.filter((name) => args.flag(name));
    if (format === 'parquet' && (args.flag('iso') || whole.length > 0))
      throw new UsageError('--format parquet takes no --iso, --summary or --beats: use csv or json');
    if (whole.length > 0) return exportWhole(args, whole, format, context);
    const insights = counted(chosen(args, context), context);
    const { print } = context;
    if (format === 'parquet') {
      for await (const bytes of toParquet(insights)) await print(bytes);
      return;
    }
    await printRows(insights, NAMES, format, print, args.flag('iso') ? withText : undefined);
  },
};

/** The insights; reports how many they are, now and then and at their end. */
async function* counted(insights: AsyncIterable<Insight>, { tell }: Surroundings): AsyncGenerator<Insight> {
  let rows = 0;
  for await (const insight of insights) {
    yield insight;
    if (++rows % PROGRESS_ROWS === 0) tell(`${rows} insights, up to ${new Date(insight.ts).toISOString()}`);
  }
  tell(`${rows} insights`);
}

/** Exports the summary or the beats of a session. */
async function exportWhole(
  args: Arguments,
  [what, other]: readonly (typeof WHOLE)[number][],
  format: string,
  { client, stop, print }: Surroundings,
): Promise<void> {
  const session = args.text('session');
  if (other !== undefined) throw new UsageError('choose one of --summary and --beats');
  if (session === undefined) throw new UsageError(`--${what} needs --session`);
  const call = { signal: stop };
  if (what === 'beats') return printRows(await client.sessions.beats(session, call), BEAT_COLUMNS, format, print);
  return printRows(await client.sessions.summary(session, call), SUMMARY_COLUMNS, format, print);
}

async function printRows<Row extends object>(
  rows: readonly Row[] | AsyncIterable<Row>,
  columns: readonly (keyof Row & string)[],
  format: string,
  print: Surroundings['print'],
  form: (row: Row) => Readonly<Partial<Record<keyof Row, unknown>>> = (row) => row,
): Promise<void> {
  if (format === 'csv') await print(columns.join(','));
  for await (const each of rows) {
    const row = form(each);
    await print(format === 'csv' ? columns.map((column) => cell(row[column] ?? '')).join(',') : JSON.stringify(row));
  }
}

/** The insights that the options ask for. Throws UsageError. */
function chosen(args: Arguments, { client, stop }: Surroundings): AsyncIterable<Insight> {
  const now = Date.now();
  const [since, until] = [args.instant('since', now), args.instant('until', now)];
  const [data_since, data_until] = [args.instant('data-since', now), args.instant('data-until', now)];
  const [session, device_id] = [args.text('session'), args.text('device')];
  const type = args.choice('type', INSIGHT_TYPES);
  if (session !== undefined) {
    if (since || until || data_since || data_until || device_id !== undefined)
      throw new UsageError('--session is a whole session: leave out --device and the times');
    return insightsOfSession(client, session, { signal: stop, ...(type && { type }) });
  }
  if (!since && !data_since)
    throw new UsageError('export needs --since, --data-since or --session, for example --since 1h');
  const times = { ...(since && { since }), ...(until && { until }), ...(data_since && { data_since }) };
  const which = {
    ...(data_until && { data_until }),
    ...(device_id !== undefined && { device_id }),
    ...(type && { type }),
  };
  return client.insights.list({ ...times, ...which, limit: 1000 }, { signal: stop });
}

/** An insight with its times as text. */
function withText(insight: Insight): Readonly<Partial<Record<keyof Insight, string | number>>> {
  const entries = Object.entries(insight).map(([name, value]) =>
    TIMES.includes(name) && typeof value === 'number' ? [name, new Date(value).toISOString()] : [name, value],
  );
  return Object.fromEntries(entries);
}

/** A CSV cell (RFC 4180). */
function cell(value: unknown): string {
  return typeof value === 'string' && /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value);
}
