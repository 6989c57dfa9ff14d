import type { Insight } from '../generated/types.gen.js';

/** Rows that are in memory at a time: a row group of the file. */
const GROUP_ROWS = 100_000;

/** Columns of exported insights, with their types in the file; a TIMESTAMP has milliseconds and is UTC. */
export const COLUMNS = {
  ts: 'TIMESTAMP',
  type: 'STRING',
  value: 'DOUBLE',
  unit: 'STRING',
  sqi_class: 'STRING',
  confidence: 'DOUBLE',
  coverage: 'DOUBLE',
  actual_start: 'TIMESTAMP',
  actual_end: 'TIMESTAMP',
  e2e_latency_ms: 'DOUBLE',
  device_id: 'STRING',
  session_id: 'STRING',
  algorithm: 'STRING',
  sdnn: 'DOUBLE',
  pnn50: 'DOUBLE',
} as const satisfies Readonly<Record<keyof Insight, string>>;

/** Columns that only hrv has. */
const OPTIONAL: readonly string[] = ['sdnn', 'pnn50'];

/**
 * The bytes of a Parquet file with one row for each insight, in their order; `pandas.read_parquet` reads it. No more than
 * 100,000 insights are in memory at a time. Needs the package `hyparquet-writer`.
 *
 * Throws what the insights throw, and an Error if the package is missing. A file that ends early cannot be read.
 */
export async function* toParquet(
  insights: AsyncIterable<Insight> | Iterable<Insight>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await library();
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema: schemaFromColumnData({ columnData: columnsOf([]) }) });
  const taken = () => {
    const bytes = new Uint8Array(writer.getBuffer());
    writer.index = 0;
    return bytes;
  };
  for await (const rows of groups(insights)) {
    file.write({ columnData: columnsOf(rows), rowGroupSize: GROUP_ROWS });
    yield taken();
  }
  file.finish();
  yield taken();
}

async function library() {
  try {
    return await import('hyparquet-writer');
  } catch (cause) {
    throw new Error('Parquet needs the package "hyparquet-writer": npm install hyparquet-writer', { cause });
  }
}

async function* groups(insights: AsyncIterable<Insight> | Iterable<Insight>): AsyncGenerator<Insight[]> {
  let rows: Insight[] = [];
  for await (const insight of insights) {
    rows.push(insight);
    if (rows.length < GROUP_ROWS) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

function columnsOf(rows: readonly Insight[]) {
  return Object.entries(COLUMNS).map(([name, type]) => ({
    name,
    type,
    nullable: OPTIONAL.includes(name),
    // With it a row of three types at 1 Hz takes 3 bytes, without it 12.
    ...(type === 'TIMESTAMP' && { encoding: 'DELTA_BINARY_PACKED' as const }),
    data: rows.map((row) => {
      const value = row[name as keyof Insight];
      return type === 'TIMESTAMP' ? new Date(value ?? Number.NaN) : (value ?? null);
    }),
  }));
}
