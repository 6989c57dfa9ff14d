/** Text of a value that lies in one column; null stays null. */
export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The value of a column that `toJson` filled; `T` is what was put in. */
export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
