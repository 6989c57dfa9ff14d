import { once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import type { Csv } from '../csv.js';
import type { RestContext, RestState } from './rest-context.js';

/**
 * Answers with one JSON array of the rows. They are read from the store as fast as the client reads the answer, and no
 * further if the client disconnects. Rejects if the store fails before the first row, which still gives a 500.
 */
export async function answerArray<Row>(
  ctx: RestContext,
  batches: AsyncIterable<readonly Row[]>,
  form: (row: Row) => object,
): Promise<void> {
  await answerText(ctx, 'json', jsonArray(whileAuthenticated(ctx, batches), form));
}

/** Answers with the rows as CSV, in the same way. */
export async function answerCsv<Row extends object>(
  ctx: RestContext,
  batches: AsyncIterable<readonly Row[]>,
  csv: Csv<Row>,
): Promise<void> {
  await answerText(ctx, 'text/csv', csv.text(whileAuthenticated(ctx, batches)));
}

/** Answers with a text of this type, in the same way. */
export async function answerText(ctx: RestContext, type: string, parts: AsyncIterable<string>): Promise<void> {
  const text = Readable.from(parts, { objectMode: false });
  await once(text, 'readable');
  ctx.type = type;
  ctx.body = text;
  // The compression is a separate stream, which would wait for the rest for ever.
  text.once('error', (error) => ctx.body instanceof Transform && ctx.body.destroy(error));
}

/** The batches, as long as the key or the login of the request is valid: after that it throws, which breaks off the answer. */
export async function* whileAuthenticated<Row>(
  { state }: { readonly state: RestState },
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, undefined> {
  for await (const batch of batches) {
    await state.authenticate?.();
    yield batch;
  }
}

/** The text of one JSON array from batches of rows, one batch at a time. Ending it early ends the batches too. */
async function* jsonArray<Row>(
  batches: AsyncIterable<readonly Row[]>,
  form: (row: Row) => object,
): AsyncGenerator<string, void, undefined> {
  let lead = '[';
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield lead + JSON.stringify(batch.map(form)).slice(1, -1);
    lead = ',';
  }
  yield lead === '[' ? '[]' : ']';
}
