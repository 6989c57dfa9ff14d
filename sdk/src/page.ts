/** Rows of a list, and where the next ones are. */
export interface Page<Row> {
  readonly data: Row[];
  /** Cursor of the page that follows, for `list({ cursor })`; null on the last one. */
  readonly next: string | null;
}

/** A page as the service gave it. */
export interface RawPage<Row> {
  readonly data: Row[];
  /** The response's `Link` header. */
  readonly link: string | null;
}

/**
 * A list being read: awaited it is one page, iterated with `for await` it is all rows, page after page. Rows of a list that goes back
 * (rel="prev") are iterated from the newest to the oldest.
 */
export class Listing<Row> implements PromiseLike<Page<Row>>, AsyncIterable<Row> {
  /** @param read reads the page at a cursor; undefined is the first */
  constructor(readonly read: (cursor: string | undefined) => Promise<RawPage<Row>>) {}

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, by design
  then<A = Page<Row>, B = never>(
    fulfilled?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.read(undefined)
      .then(({ data, link }) => ({ data, next: linkedCursor(link)?.cursor ?? null }))
      .then(fulfilled, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    let cursor: string | undefined;
    let back = false;
    do {
      const { data, link } = await this.read(cursor);
      const following = linkedCursor(link);
      back ||= following?.rel === 'prev';
      yield* back ? data.reverse() : data;
      cursor = following?.cursor;
    } while (cursor !== undefined);
  }
}

/** Relation and cursor of a Link header (RFC 8288) with a further page. */
export function linkedCursor(link: string | null): { rel: 'next' | 'prev'; cursor: string } | null {
  for (const [, target = '', rel] of (link ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?(next|prev)"?/g)) {
    const cursor = new URL(target, 'http://relative').searchParams.get('cursor');
    if (cursor !== null) return { rel: rel === 'prev' ? 'prev' : 'next', cursor };
  }
  return null;
}
