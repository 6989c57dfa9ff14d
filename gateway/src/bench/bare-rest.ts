/** `node bare-rest.js FILE SESSION`: only Koa and libsql; any path streams the session's insights. Prints its port. */
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import Koa from 'koa';
import Libsql from 'libsql';

const [file = '', session = ''] = process.argv.slice(2);
/** Rows in one chunk of the response. */
const BATCH = 500;
const rows = new Libsql(file).prepare(
  `SELECT type, value, unit, ts, s.id AS session_id, s.device_id, confidence, sqi_class, actual_start, actual_end,
     coverage, e2e_latency_ms, algorithm FROM insights i CROSS JOIN sessions s ON s.n = i.session
   WHERE i.session = (SELECT n FROM sessions WHERE id = ?) ORDER BY actual_end, ts, i.id`,
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
