/** The text of a value stored in one column; null stays null. */
export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The value of a column written with `toJson`; `T` is the type of the value. */
export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
