/** Counts one more of a kind; the kinds are few. */
export function countOne<Kind>(counts: Map<Kind, number>, kind: Kind): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
