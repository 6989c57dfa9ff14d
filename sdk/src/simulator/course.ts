/** A quantity over time: a constant, or points `[seconds, value]` joined by straight lines and held before and after. */
export type CourseSpec = number | readonly (readonly [seconds: number, value: number])[];

/** A {@link CourseSpec} with its exact integral, which turns a rate into a phase. */
export class Course {
  readonly #points: readonly (readonly [number, number])[];

  /** @throws RangeError if there is no point, a value is not a number, or times do not increase. */
  constructor(spec: CourseSpec) {
    this.#points = typeof spec === 'number' ? [[0, spec]] : spec;
    if (this.#points.length === 0) throw new RangeError('a course needs at least one point [seconds, value]');
    let before = -Infinity;
    for (const [t, value] of this.#points) {
      if (!(t > before) || !Number.isFinite(t) || !Number.isFinite(value))
        throw new RangeError(`course point [${t}, ${value}]: times must increase and both be numbers`);
      before = t;
    }
  }

  /** Smallest and largest value. */
  get range(): readonly [number, number] {
    const values = this.#points.map(([, value]) => value);
    return [Math.min(...values), Math.max(...values)];
  }

  /** The value at `t` seconds. */
  at(t: number): number {
    let left = this.#points[0];
    for (const right of this.#points) {
      if (left && right[0] > t) return left === right ? right[1] : between(left, right, t);
      left = right;
    }
    return left ? left[1] : 0;
  }

  /** The integral from 0 to `t` seconds. */
  integral(t: number): number {
    return this.#primitive(t) - this.#primitive(0);
  }

  /** The integral from the first point to `t`. */
  #primitive(t: number): number {
    let sum = 0;
    let left = this.#points[0];
    if (!left || t <= left[0]) return left ? left[1] * (t - left[0]) : 0;
    for (const right of this.#points.slice(1)) {
      if (right[0] >= t) return sum + ((t - left[0]) * (left[1] + between(left, right, t))) / 2;
      sum += ((right[0] - left[0]) * (left[1] + right[1])) / 2;
      left = right;
    }
    return sum + (t - left[0]) * left[1];
  }
}

function between(left: readonly [number, number], right: readonly [number, number], t: number): number {
  return left[1] + ((right[1] - left[1]) * (t - left[0])) / (right[0] - left[0]);
}
