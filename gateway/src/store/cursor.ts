import { BadCursor, type Page } from './store.js';

/** The position of a cursor: the last row of a page, as the values by which the rows are ordered. */
type Position = readonly [order: number, id: string];

/**
 * A page of a listing.
 *
 * @param kind makes the cursor valid for one kind of listing only
 * @param found the rows from the start of the page on: one more than `limit` if there is a further page
 */
export function pageOf<Found, Row>(
  kind: string,
  found: readonly Found[],
  limit: number,
  positionOf: (found: Found) => Position,
  rowOf: (found: Found) => Row,
): Page<Row> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const next = found.length > limit && last !== undefined ? encodeCursor(kind, positionOf(last)) : null;
  return { rows: shown.map(rowOf), next };
}

function encodeCursor(kind: string, position: Position): string {
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
