import { __alloc } from './heap';

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

/** A new array of `count` values, or of records of numbers alone. */
export function rowOf<T>(count: i32): Row<T> {
  return rowAt<T>(__alloc(rowAt<T>(0).at(count)));
}

/** An array of records that hold others themselves. */
@unmanaged
export class List<T> {
  @operator('[]')
  get(i: i32): T {
    return changetype<T>(load<usize>(changetype<usize>(this) + ((<usize>i) << 2)));
  }
}

/** A new array of `count` new records. */
export function listOf<T>(count: i32): List<T> {
  const records = rowOf<usize>(count);
  for (let i = 0; i < count; i++) records[i] = changetype<usize>(instantiate<T>());
  return changetype<List<T>>(records);
}
