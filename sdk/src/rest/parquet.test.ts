import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import type { Insight } from '../generated/types.gen.js';
import { toParquet } from './parquet.js';

const T0 = Date.UTC(2026, 2, 1);
const reading = (n: number): Insight => ({
  ...(n % 3 ? { type: n % 2 ? 'hr' : 'later' } : { type: 'hrv', sdnn: 50.5, pnn50: (n % 1000) / 10 }),
  value: 60 + (n % 300) / 10,
  unit: 'bpm',
  ts: T0 + n * 1000 + (n % 7),
  session_id: '7b0f6a5e-3c52-4f0e-9d55-6d1f2f0f4a11',
  device_id: 'Band "1", 💓',
  confidence: (n % 1001) / 1000,
  sqi_class: 'acceptable',
  actual_start: T0 + n * 1000 - 8000,
  actual_end: T0 + n * 1000,
  coverage: 1,
  e2e_latency_ms: -0.5,
  algorithm: 'hr-ppg@1.0.0',
});

/** The rows of a file, with times as in an insight, and without what they do not have. */
async function rowsOf(bytes: Uint8Array): Promise<unknown[]> {
  const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
  const ms = (value: unknown) => (value instanceof Date ? value.getTime() : value);
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).flatMap(([name, value]) => (value === null ? [] : [[name, ms(value)]]))),
  );
}

describe('a Parquet file', () => {
  it('has the insights, and is written while they are read', async () => {
    const insights = Array.from({ length: 100_001 }, (_, n) => reading(n));
    let read = 0;
    const source = (function* () {
      for (const insight of insights) {
        read++;
        yield insight;
      }
    })();
    const file = toParquet(source);
    const parts = [(await file.next()).value as Uint8Array];
    expect(read).to.equal(100_000);
    for await (const part of file) parts.push(part);
    expect(isDeepStrictEqual(await rowsOf(Buffer.concat(parts)), insights)).to.equal(true);
  });

  it('without insights has the columns', async () => {
    const parts: Uint8Array[] = [];
    for await (const part of toParquet([])) parts.push(part);
    expect(await rowsOf(Buffer.concat(parts))).to.deep.equal([]);
    expect(Buffer.concat(parts).toString('latin1')).to.contain('actual_end');
  });

  it('cannot be read if its insights break off', async () => {
    const broken = (function* () {
      yield reading(0);
      throw new Error('the connection was lost');
    })();
    const parts: Uint8Array[] = [];
    const write = async () => {
      for await (const part of toParquet(broken)) parts.push(part);
    };
    expect(String(await write().catch((error: unknown) => error))).to.equal('Error: the connection was lost');
    expect(parts).to.deep.equal([]);
  });
});
