/** Rows of an account, or of one of its users (`user` null: all). */
export interface Scope {
  readonly accountId: string;
  readonly user: string | null;
}

/** Which page of a list: at most `limit` rows, from the cursor of an earlier page; `BadCursor` if the store cannot read it. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

export interface Page<T> {
  readonly rows: T[];
  /** Opaque cursor of the page that follows in the query's direction; null on the last page. */
  readonly next: string | null;
}

/** The rows of all pages of a list, a page at a time. */
export async function* pagesOf<Row>(read: (cursor: string | null) => Promise<Page<Row>>): AsyncGenerator<Row[]> {
  for (let cursor: string | null = null; ; ) {
    const { rows, next }: Page<Row> = await read(cursor);
    yield rows;
    if (next === null) return;
    cursor = next;
  }
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor';
}
