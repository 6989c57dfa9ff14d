import { BadCursor } from './store.js';

/** What a cursor points at: the last row of a page, as the values that order it. */
type Position = readonly [order: number, id: string];

/** The form of the ids that callers make. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes an opaque cursor; `kind` keeps a cursor of one listing out of another. */
export function encodeCursor(kind: string, position: Position): string {
  return Buffer.from(JSON.stringify([kind, ...position])).toString('base64url');
}

/** Reads a cursor of that kind back, whose id has that form. Throws `BadCursor` where it is none. */
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
  return new BadCursor('the cursor is none of this listing; take it from the Link header of the page before');
}
