import { throwIfAborted } from '../clock.js';
import { ConnectionError } from './api-error.js';

/** Rows of a list, and the position of the next ones. */
export interface Page<Row> {
  /** The rows. */
  readonly data: Row[];
  /** Cursor of the page that follows, for `list({ cursor })`; null on the last one. */
  readonly next: string | null;
}

/** Reads the page at a cursor; without one, the first. */
type ReadPage<Row> = (cursor?: string) => Promise<Page<Row>>;

/**
 * A list being read: awaited it is one page, iterated with `for await` it is all rows, page after page. A list of
 * insights without `since` goes back: it is iterated from the newest to the oldest, however many pages it has.
 */
export interface Listing<Row> extends PromiseLike<Page<Row>>, AsyncIterable<Row> {
  /** The first page, as `await` takes it. Rejects with ApiError or ConnectionError. */
  then: Promise<Page<Row>>['then'];
  /** The first page, or the result of `rejected` for the error. */
  catch: Promise<Page<Row>>['catch'];
  /** The first page; calls `settled` when it has been read or could not be read. */
  finally: Promise<Page<Row>>['finally'];
  /** All rows, page after page. Throws ApiError, ConnectionError, or the reason of the call's signal. */
  [Symbol.asyncIterator](): AsyncGenerator<Row>;
}

/**
 * @param back whether each page has older rows than the one before, oldest first
 * @param signal ends an iteration between two rows of a page too
 */
export function paged<Row>(read: ReadPage<Row>, back: boolean, signal?: AbortSignal): Listing<Row> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, by design
    then: (fulfilled, rejected) => read().then(fulfilled, rejected),
    catch: (rejected) => read().catch(rejected),
    finally: (settled) => read().finally(settled),
    async *[Symbol.asyncIterator]() {
      for await (const data of pages(read))
        for (const row of back ? data.reverse() : data) {
          throwIfAborted(signal);
          yield row;
        }
    },
  };
}

/**
 * The rows of a list, page after page.
 *
 * @throws what `read` throws, and ConnectionError for a page that leads back to an earlier one
 */
export async function* pages<Row>(read: ReadPage<Row>): AsyncGenerator<Row[]> {
  const seen = new Set<string | null>();
  for (let cursor: string | undefined; ; ) {
    const { data, next } = await read(cursor);
    yield data;
    if (next === null) return;
    if (seen.has(next)) throw new ConnectionError('the pages of the list repeat: check baseUrl');
    seen.add(next);
    cursor = next;
  }
}

/**
 * The cursor of another page in an answer's Link header (RFC 8288). React Native's URL cannot be taken apart.
 *
 * @throws URIError for a cursor that cannot be decoded
 */
export function linkedCursor(headers: Headers): string | null {
  const [, cursor] = /[?&]cursor=([^&#>]*)[^>]*>; rel="(?:next|prev)/.exec(headers.get('link') ?? '') ?? [];
  return cursor === undefined ? null : decodeURIComponent(cursor);
}
