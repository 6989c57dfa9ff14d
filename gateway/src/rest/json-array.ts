/** The text of one JSON array out of batches of rows, a batch at a time. Leaving it early leaves the batches, too. */
export async function* jsonArray(batches: AsyncIterable<readonly object[]>): AsyncGenerator<string, void, undefined> {
  let lead = '[';
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield lead + JSON.stringify(batch).slice(1, -1);
    lead = ',';
  }
  yield lead === '[' ? '[]' : ']';
}
