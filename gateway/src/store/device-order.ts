import { decodeCursor } from './cursor.js';
import type { DeviceQuery } from './store.js';

/** No device id contains a character that sorts after this one. */
export const AFTER_ALL = '~';

/** Place of a device in the order of a query, as the id of a cursor. */
export function devicePlace({ withProblem }: DeviceQuery, problem: string | null, deviceId: string): string {
  return withProblem ? `${problem} ${deviceId}` : deviceId;
}

/** The columns of the place of a query's cursor, in the order of the query; none without one. Throws `BadCursor`. */
export function deviceCursor({ withProblem, cursor }: DeviceQuery): string[] {
  if (cursor === null) return [];
  const [, place] = decodeCursor('devices', withProblem ? /^\w+ \S+$/ : /^/, cursor);
  return withProblem ? place.split(' ') : [place];
}
