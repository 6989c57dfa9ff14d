/** The text of a value stored in one column; null stays null. */
export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/**
 * The value of a column written with `toJson`; `T` is the type of the value.
 *
 * @param row names the row in the error, such as `session 5f…`
 */
export function fromJson<T>(text: string, row: string): T;
export function fromJson<T>(text: string | null, row: string): T | null;
export function fromJson<T>(text: string | null, row: string): T | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Error(`the row of ${row} in the store is broken: restore the store from a backup, or delete it`, {
      cause,
    });
  }
}
