/** The strongest bin of a spectrum at a rate, or beside it. */
export function lineAt(spectrum: readonly number[], bpm: number): number {
  const k = Math.max(8, Math.min(spectrum.length - 2, Math.floor(bpm / 3.75 + 0.5)));
  return Math.max(...spectrum.slice(k - 1, k + 2));
}

/** What tells a pulse from a movement in the light alone, as assembly/pulse/artefact.ts. */
export class Artefact {
  #usual: readonly number[] | null = null;
  #known = 0;

  /** The accelerometer tells rest from motion. */
  know(): void {
    this.#known = 1;
  }

  /** It told that, and has stopped. */
  forget(): void {
    if (this.#known === 1) this.#known = 0;
  }

  /**
   * @param heights logarithms of the amplitudes of the optical channels' strongest lines, in motion that the accelerometer shows; null
   *   for a window that is not whole
   */
  guess(heights: readonly number[] | null): void {
    this.#usual ??= heights?.map((height) => height - 1.5) ?? null;
  }

  /**
   * Highest confidence that the waveform allows.
   * @param pulse spectrum of the channel with the steadiest beats, in bins of 3.75 bpm
   * @param heights as above
   * @param own alike: how far red and infrared move alike at the rate, as a movement would move them
   */
  most(
    pulse: readonly number[],
    heights: readonly number[] | null,
    own: { bpm: number; skew: number; alike: number; belief: number; hasAxes: boolean },
  ): number {
    const line = (bpm: number) => lineAt(pulse, bpm) + 1e-4;
    const between = Math.log(line(1.5 * own.bpm) / line(own.bpm));
    const wave = 0.39 * between + 1.28 * this.#growth(heights, own.belief) - 1.94 * Math.min(1, own.skew);
    const unusual = Math.max(0, Math.min(1, Math.max((55 - own.bpm) / 15, (own.bpm - 105) / 20)));
    const odds = -0.31 + wave + 1.5 * unusual * (1 - this.#known) + 1.3 * own.alike;
    if (own.belief >= 0.5) this.#known += 0.003 * (1 - this.#known);
    const like = 1 - Math.max(0, Math.min(1, (odds + 2.35) / 0.45));
    const second = !own.hasAxes || own.bpm > 150 ? 1 : (line(2 * own.bpm) / line(own.bpm) - 0.002) / 0.004;
    return 0.45 + 0.55 * Math.max(0, Math.min(like, second));
  }

  #growth(heights: readonly number[] | null, belief: number): number {
    if (!heights) return 0;
    const before = this.#usual ?? heights;
    const isNew = (lane: number) => (heights[lane] ?? 0) - (before[lane] ?? 0) > 4.6;
    const changes = heights.map((height, lane) => (isNew(lane) ? 0 : height - (before[lane] ?? 0)));
    const learned = (change: number) => (belief < 0.5 ? 0 : (change < 0 ? 0.03 : 0.003) * change);
    this.#usual = heights.map((height, lane) =>
      isNew(lane) ? height : (before[lane] ?? 0) + learned(changes[lane] ?? 0),
    );
    return changes.reduce((sum, change) => sum + change, 0) / changes.length;
  }
}
