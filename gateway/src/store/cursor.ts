import { BadCursor } from './store.js';

/** The position of a cursor: the last row of a page, as the values by which the rows are ordered. */
type Position = readonly [order: number, id: string];

/** Builds an opaque cursor; `kind` makes it valid for one kind of listing only. */
export function encodeCursor(kind: string, position: Position): string {
  return Buffer.from(JSON.stringify([kind, ...position])).toString('base64url');
}

/** Parses a cursor of that kind whose id has that form. Throws `BadCursor` if it is not one. */
export function decodeCursor(kind: string, idForm: RegExp, cursor: string): Position {
  const [found, order, id] = parsed(cursor);
  if (found !== kind || typeof order !== 'number' || typeof id !== 'string' || !idForm.test(id)) throw bad();
  return [order, id];
}

function parsed(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    throw bad();
  }
}

function bad(): BadCursor {
  return new BadCursor(
    'this cursor does not belong to this listing; take it from the Link header of the previous page',
  );
}
