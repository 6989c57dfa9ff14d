import { once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import type { RestContext } from './rest-context.js';

/**
 * Answers with one JSON array of the rows. They are read from the store as fast as the client reads the answer, and no
 * further if the client disconnects. Rejects if the store fails before the first row, which still gives a 500.
 */
export async function answerArray<Row>(
  ctx: RestContext,
  batches: AsyncIterable<readonly Row[]>,
  form: (row: Row) => object,
): Promise<void> {
  const text = Readable.from(jsonArray(batches, form), { objectMode: false });
  await once(text, 'readable');
  ctx.type = 'json';
  ctx.body = text;
  // The compression is a separate stream, which would wait for the rest for ever.
  text.once('error', (error) => ctx.body instanceof Transform && ctx.body.destroy(error));
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
