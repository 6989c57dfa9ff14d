/**
 * An array of values or records in the linear memory. An index in brackets reads or writes a value, or returns the record at
 * that index; `at` is the address of an element, for loops over vectors. Indices are not checked. The size of a record is a
 * multiple of eight bytes.
 */
@unmanaged
export class Row<T> {
  @operator('[]')
  get(i: i32): T {
    if (isReference<T>()) return changetype<T>(this.at(i));
    return load<T>(this.at(i));
  }

  @operator('[]=')
  set(i: i32, value: T): void {
    store<T>(this.at(i), value);
  }

  at(i: i32): usize {
    const bytes: usize = isReference<T>() ? (offsetof<T>() + 7) & ~7 : sizeof<T>();
    return changetype<usize>(this) + <usize>i * bytes;
  }
}

/** The array that begins at that address. */
export function rowAt<T>(address: usize): Row<T> {
  return changetype<Row<T>>(address);
}
