import { throwIfAborted } from '../abort.js';

/** Rows of a list, and the position of the next ones. */
export interface Page<Row> {
  /** The rows. */
  readonly data: Row[];
  /** Cursor of the page that follows, for `list({ cursor })`; null on the last one. */
  readonly next: string | null;
}

/** The position of a page; without a cursor, the first. */
export interface At {
  readonly cursor?: string;
}
type Read<Row> = (at: At) => Promise<{ readonly data: Row[]; readonly headers: Headers }>;

/**
 * A list being read: awaited it is one page, iterated with `for await` it is all rows, page after page. A list of
 * insights without `since` goes back: it is iterated from the newest to the oldest, however many pages it has.
 */
export class Listing<Row> implements PromiseLike<Page<Row>>, AsyncIterable<Row> {
  readonly #read: Read<Row>;
  readonly #back: boolean;
  readonly #signal: AbortSignal | undefined;

  /**
   * @param back whether each page has older rows than the one before, oldest first
   * @param signal ends an iteration between two rows of a page too
   */
  constructor(read: Read<Row>, back: boolean, signal?: AbortSignal) {
    this.#read = read;
    this.#back = back;
    this.#signal = signal;
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
    const { data, headers } = await this.#read(cursor === undefined ? {} : { cursor });
    return { data, next: linkedCursor(headers) };
  }

  /** All rows, page after page. Throws ApiError, ConnectionError, or the reason of the call's signal. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for (let page = await this.#page(); ; page = await this.#page(page.next)) {
      for (const row of this.#back ? page.data.reverse() : page.data) {
        throwIfAborted(this.#signal);
        yield row;
      }
      if (page.next === null) return;
    }
  }
}

/** The cursor of another page in an answer's Link header (RFC 8288). React Native's URL cannot be taken apart. */
export function linkedCursor(headers: Headers): string | null {
  for (const [, target = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?(?:next|prev)"?/g)) {
    const [, cursor] = /[?&]cursor=([^&#]*)/.exec(target) ?? [];
    if (cursor !== undefined) return decodeURIComponent(cursor);
  }
  return null;
}
