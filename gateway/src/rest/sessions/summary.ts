import type { AnyAlgorithm } from '../../analysis/algorithm.js';
import { Csv } from '../../csv.js';
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

const SUMMARY_CSV = new Csv<SummaryRow & { session_id: string; device_id: string }>([
  ...(['session_id', 'device_id', 'type', 'unit', 'mean', 'minimum', 'maximum'] as const),
  ...(['excellent_s', 'acceptable_s', 'unfit_s'] as const),
]);

/** A session's summary as CSV. A field is empty if there is no trusted reading. */
export function summaryCsv({ id: session_id, deviceId: device_id }: Session, rows: readonly SummaryRow[]): string {
  return SUMMARY_CSV.header + rows.map((row) => SUMMARY_CSV.line({ session_id, device_id, ...row })).join('');
}
