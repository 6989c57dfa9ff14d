/** Rows of a list, and the position of the next ones. */
export interface Page<Row> {
  /** The rows. */
  readonly data: Row[];
  /** Cursor of the page that follows, for `list({ cursor })`; null on the last one. */
  readonly next: string | null;
}

/** Reads the page at a cursor; without one, the first. */
type Read<Row> = (at: { readonly cursor?: string }) => Promise<{ readonly data: Row[]; readonly response: Response }>;

/**
 * A list being read: awaited it is one page, iterated with `for await` it is all rows, page after page. A list of
 * insights without `since` goes back: it is iterated from the newest to the oldest, however many pages it has.
 */
export class Listing<Row> implements PromiseLike<Page<Row>>, AsyncIterable<Row> {
  readonly #read: Read<Row>;
  readonly #back: boolean;

  /** @param back whether each page has older rows than the one before, oldest first */
  constructor(read: Read<Row>, back: boolean) {
    this.#read = read;
    this.#back = back;
  }

  /** The first page, as `await` takes it. Rejects with ApiError or ConnectionError. */
  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, by design
  then<A = Page<Row>, B = never>(
    fulfilled?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#page().then(fulfilled, rejected);
  }

  /** The first page, or the result of `rejected` for the error. */
  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<Row> | B> {
    return this.#page().catch(rejected);
  }

  /** The first page; calls `settled` when it has been read or could not be read. */
  finally(settled?: (() => void) | null): Promise<Page<Row>> {
    return this.#page().finally(settled);
  }

  async #page(cursor?: string): Promise<Page<Row>> {
    const { data, response } = await this.#read(cursor === undefined ? {} : { cursor });
    return { data, next: linkedCursor(response) };
  }

  /** All rows, page after page. Throws ApiError or ConnectionError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for (let page = await this.#page(); ; page = await this.#page(page.next)) {
      yield* this.#back ? page.data.reverse() : page.data;
      if (page.next === null) return;
    }
  }
}

/** The cursor of another page in a response's Link header (RFC 8288). */
export function linkedCursor({ headers }: Response): string | null {
  for (const [, target = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?(?:next|prev)"?/g)) {
    const cursor = new URL(target, 'http://relative').searchParams.get('cursor');
    if (cursor !== null) return cursor;
  }
  return null;
}
