/** Pseudo-random numbers from a seed: the same seed gives the same numbers everywhere (mulberry32, Tommy Ettinger). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An independent generator; `stream` distinguishes those of one seed. */
  static of(seed: number, stream: number): Random {
    return new Random(Math.imul(seed ^ 0x9e3779b9, 2654435761) ^ Math.imul(stream + 1, 0x85ebca6b));
  }

  /** Uniform in the whole numbers from 0 to 2^32 - 1. */
  u32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (z ^ (z >>> 14)) >>> 0;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.u32() / 2 ** 32;
  }

  /** Uniform in the whole numbers from 0 to before `below`. */
  below(below: number): number {
    return Math.floor(this.uniform() * below);
  }

  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}
