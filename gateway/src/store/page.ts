/** Rows of an account, or of one of its users (`user` null: all). */
export interface Scope {
  readonly accountId: string;
  readonly user: string | null;
}

export interface Page<T> {
  readonly rows: T[];
  /** Opaque cursor of the page that follows in the query's direction; null on the last page. */
  readonly next: string | null;
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor';
}
