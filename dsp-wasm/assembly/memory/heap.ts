/**
 * Where `new` takes memory from: one stretch after the other, none of which is ever given back (the compiler's option `runtime` names this
 * file). The records that all sessions share come first, after the module's own data, then the slots of the sessions.
 */

/** First free address. */
let free: usize = __heap_base;

/** Continues at that address. */
export function takeFrom(address: usize): void {
  free = address;
}

/** The first free address that is a multiple of `bytes`, a power of two. */
export function nextFree(bytes: usize): usize {
  return (free + bytes - 1) & ~(bytes - 1);
}

/** Address of so many bytes, aligned for vectors. */
@global
export function __alloc(bytes: usize): usize {
  const address = nextFree(16);
  free = address + bytes;
  return address;
}
