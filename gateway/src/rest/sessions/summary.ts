import type { AnyAlgorithm } from '../../analysis/algorithm.js';
import { UNITS } from '../../insight.js';
import type { InsightSummary, Session } from '../../store/store.js';
import type { SummaryRow } from './schema.js';

/** Rows of a session's summary. Each reading stands for the step from it to the next, which all algorithms of a type share. */
export function summaryRows(
  summary: readonly InsightSummary[],
  algorithms: readonly Pick<AnyAlgorithm, 'type' | 'everyS'>[],
): SummaryRow[] {
  return summary.map(({ type, readings, trusted }) => {
    const stepS = algorithms.find((algorithm) => algorithm.type === type)?.everyS ?? 1;
    return {
      type,
      unit: UNITS[type],
      mean: trusted && Number(trusted.mean.toFixed(2)),
      minimum: trusted?.min ?? null,
      maximum: trusted?.max ?? null,
      excellent_s: readings.excellent * stepS,
      acceptable_s: readings.acceptable * stepS,
      unfit_s: readings.unfit * stepS,
    };
  });
}

const COLUMNS = [
  ...(['type', 'unit', 'mean', 'minimum', 'maximum', 'excellent_s', 'acceptable_s', 'unfit_s'] as const),
] satisfies readonly (keyof SummaryRow)[];

/** A session's summary as CSV (RFC 4180). A field is empty if there is no trusted reading. */
export function summaryCsv({ id, deviceId }: Session, rows: readonly SummaryRow[]): string {
  const lines = rows.map((row) => [id, deviceId, ...COLUMNS.map((column) => row[column] ?? '')]);
  return [['session_id', 'device_id', ...COLUMNS], ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}
