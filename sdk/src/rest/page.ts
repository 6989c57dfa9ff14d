/** Rows of a list, and the position of the next ones. */
export interface Page<Row> {
  /** The rows. */
  readonly data: Row[];
  /** Cursor of the page that follows, for `list({ cursor })`; null on the last one. */
  readonly next: string | null;
}

/** A page as the service gave it. */
interface RawPage<Row> {
  readonly data: Row[];
  /** The response's `Link` header. */
  readonly link: string | null;
}

/**
 * A list being read: awaited it is one page, iterated with `for await` it is all rows, page after page. A list of
 * insights without `since` goes back: it is iterated from the newest to the oldest, however many pages it has.
 */
export class Listing<Row> implements PromiseLike<Page<Row>>, AsyncIterable<Row> {
  readonly #read: (cursor: string | undefined) => Promise<RawPage<Row>>;
  readonly #back: boolean;

  /**
   * @param read reads the page at a cursor; undefined is the first
   * @param back whether each page has older rows than the one before, oldest first
   */
  constructor(read: (cursor: string | undefined) => Promise<RawPage<Row>>, back: boolean) {
    this.#read = read;
    this.#back = back;
  }

  /** The first page, as `await` takes it. Rejects with ApiError or ConnectionError. */
  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, by design
  then<A = Page<Row>, B = never>(
    fulfilled?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#first().then(fulfilled, rejected);
  }

  /** The first page, or the result of `rejected` for the error. */
  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<Row> | B> {
    return this.#first().catch(rejected);
  }

  /** The first page; calls `settled` when it has been read or could not be read. */
  finally(settled?: (() => void) | null): Promise<Page<Row>> {
    return this.#first().finally(settled);
  }

  async #first(): Promise<Page<Row>> {
    const { data, link } = await this.#read(undefined);
    return { data, next: linkedCursor(link) };
  }

  /** All rows, page after page. Throws ApiError or ConnectionError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    let cursor: string | null = null;
    do {
      const { data, link } = await this.#read(cursor ?? undefined);
      yield* this.#back ? data.reverse() : data;
      cursor = linkedCursor(link);
    } while (cursor !== null);
  }
}

/** The cursor of a Link header (RFC 8288) with another page. */
export function linkedCursor(link: string | null): string | null {
  for (const [, target = ''] of (link ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?(?:next|prev)"?/g)) {
    const cursor = new URL(target, 'http://relative').searchParams.get('cursor');
    if (cursor !== null) return cursor;
  }
  return null;
}
