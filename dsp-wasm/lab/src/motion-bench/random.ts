/** Pseudo-random numbers that the same keys reproduce, for generated recordings (mulberry32, Tommy Ettinger). */
export class Draws {
  #state: number;

  constructor(...keys: readonly number[]) {
    this.#state = keys.reduce((state, key) => Math.imul(state ^ (key + 0x9e3779b9), 0x85ebca6b) >>> 0, 1);
  }

  /** Uniform in [low, high). */
  uniform(low: number, high: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return low + ((high - low) * ((z ^ (z >>> 14)) >>> 0)) / 2 ** 32;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.uniform(0, count));
  }

  /** Normal with mean 0 and standard deviation 1 (Box and Muller 1958). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform(0, 1))) * Math.cos(this.uniform(0, 2 * Math.PI));
  }
}
