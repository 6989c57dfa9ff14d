/** Pseudo-random numbers from a seed: the same seed gives the same numbers everywhere (mulberry32, Tommy Ettinger). */
export class Random {
  #state: number;
  #spare = Number.NaN;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Normal with mean 0 and standard deviation 1 (Box and Muller 1958). */
  normal(): number {
    if (!Number.isNaN(this.#spare)) {
      const spare = this.#spare;
      this.#spare = Number.NaN;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  /** An independent generator; `stream` distinguishes those of one seed. */
  static of(seed: number, stream: number): Random {
    return new Random(Math.imul(seed ^ 0x9e3779b9, 2654435761) ^ Math.imul(stream + 1, 0x85ebca6b));
  }
}
