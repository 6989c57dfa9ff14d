import type { Beat } from './beat.js';
import type { StoredInsight } from './insight.js';

/** Rows as CSV (RFC 4180). No field contains a comma or a quote. */
export class Csv<Row extends object> {
  readonly header: string;

  constructor(private readonly columns: readonly (keyof Row & string)[]) {
    this.header = `${columns.join(',')}\r\n`;
  }

  /** The line of a row; a field that it does not have is empty. */
  line(row: Row): string {
    return `${this.columns.map((name) => row[name] ?? '').join(',')}\r\n`;
  }

  /** The header, and the lines of batches of rows. */
  async *text(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<string, void, undefined> {
    let lead = this.header; // With the first rows, so that a store that fails can still be answered with an error.
    for await (const batch of batches) {
      yield lead + batch.map((row) => this.line(row)).join('');
      lead = '';
    }
    if (lead !== '') yield lead;
  }
}

export const INSIGHT_CSV = new Csv<StoredInsight>([
  ...(['ts', 'type', 'value', 'unit', 'sqi_class', 'confidence', 'coverage'] as const),
  ...(['actual_start', 'actual_end', 'e2e_latency_ms', 'device_id', 'session_id', 'algorithm'] as const),
  ...(['sdnn', 'pnn50'] as const),
]);

export const BEAT_CSV = new Csv<Beat>(['t', 'source', 'quality']);
