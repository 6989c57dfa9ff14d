/** A series without its least-squares polynomial of the given degree, and the deviation of that polynomial. */
export function withoutDrift(x: readonly number[], degree: number): { rest: number[]; taken: number } {
  const basis: number[][] = [];
  for (let d = 0; d <= degree; d++) {
    const power = x.map((_, i) => ((2 * i + 1) / x.length - 1) ** d);
    basis.push(basis.reduce((p, q) => minus(p, q), power)); // Gram–Schmidt
  }
  const level = minus([...x], basis[0] ?? []);
  const rest = basis.slice(1).reduce((r, p) => minus(r, p), level);
  return { rest, taken: Math.sqrt(level.reduce((sum, v, i) => sum + (v - (rest[i] ?? 0)) ** 2, 0) / x.length) };
}

/** The part of x that is orthogonal to p. */
function minus(x: readonly number[], p: readonly number[]): number[] {
  const weight = dot(x, p) / dot(p, p);
  return x.map((v, i) => v - weight * (p[i] ?? 0));
}

function dot(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, v, i) => sum + v * (y[i] ?? 0), 0);
}
