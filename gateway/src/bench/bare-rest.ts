/** `node bare-rest.js FILE SESSION`: only Koa and libsql; any path streams the session's heart rates. Prints its port. */
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import Koa from 'koa';
import Libsql from 'libsql';

const [file = '', session = ''] = process.argv.slice(2);
/** Rows in one chunk of the response. */
const BATCH = 500;
const rows = new Libsql(file).prepare(
  `SELECT 'hr' AS type, value / 1000.0 AS value, 'bpm' AS unit, ts, s.id AS session_id, s.deviceId AS device_id,
     confidence / 1000.0 AS confidence, 'excellent' AS sqi_class, actual_end - window_ms AS actual_start, actual_end, coverage,
     ts - actual_end AS e2e_latency_ms, name AS algorithm
   FROM insights i CROSS JOIN sessions s ON s.n = i.session CROSS JOIN algorithms a ON a.n = i.algorithm
   WHERE i.session = (SELECT n FROM sessions WHERE id = ?) AND i.type = 0 ORDER BY ts`,
);

function* text(): Generator<string> {
  let lead = '[';
  let batch: unknown[] = [];
  const joined = () => {
    const piece = lead + JSON.stringify(batch).slice(1, -1);
    lead = ',';
    batch = [];
    return piece;
  };
  for (const row of rows.iterate([session])) {
    batch.push(row);
    if (batch.length === BATCH) yield joined();
  }
  if (batch.length > 0) yield joined();
  yield lead === '[' ? '[]' : ']';
}

const server = new Koa()
  .use((ctx) => {
    ctx.type = 'json';
    ctx.body = Readable.from(text(), { objectMode: false });
  })
  .listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
