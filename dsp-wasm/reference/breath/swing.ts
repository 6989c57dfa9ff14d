/** Energy of the newest half of a series: that of the strongest of three sinusoids at a rate and near it, and in all. */
interface Energy {
  readonly swing: number;
  readonly whole: number;
}

/** Whether the breath goes on, in plain double precision: the twin of assembly/breath/swing.ts. */
export class Swing {
  /** Fading number of the trusted windows, and fading sums of their energies, by series. */
  #windows = 0;
  #sums: readonly Energy[] = [];
  #held = 0;
  /** Doubted windows since the last remembered one. */
  #doubted = 0;

  /**
   * The confidence in an answer, as far as the newest half of the series still swings.
   * @param series without their drift, 4 points a second; empty for one that shows nothing
   */
  doubt(series: readonly (readonly number[])[], rate: number, confidence: number): number {
    const now = series.map((x) => energyOf(pairsOf(x.slice(-64)), rate));
    this.#held += 0.5 * (1 - this.#left(now) - this.#held);
    const goesOn = Math.min(1, (1 - this.#held) / 0.4);
    if (confidence >= 0.5) {
      if (goesOn === 1) this.#remember(now);
      else if (++this.#doubted > 32) this.#lower();
    }
    return confidence * goesOn;
  }

  #lower(): void {
    this.#sums = this.#sums.map(({ swing, whole }) => ({ swing: (swing * 15) / 16, whole: (whole * 15) / 16 }));
  }

  /** Part of the usual swing that is there. */
  #left(now: readonly Energy[]): number {
    const weights = this.#sums.map(({ swing, whole }) =>
      whole > 0 ? swing / Math.max(whole - swing, 0.1 * whole) : 0,
    );
    const all = weights.reduce((sum, w) => sum + w, 0);
    const parts = weights.map((w, i) => {
      const usual = (this.#sums[i]?.swing ?? 0) / this.#windows;
      return w > 0 ? w * Math.min(1, (now[i]?.swing ?? 0) / usual) : 0;
    });
    return all > 0 ? parts.reduce((sum, p) => sum + p, 0) / all : 1;
  }

  #remember(now: readonly Energy[]): void {
    this.#doubted = 0;
    this.#sums = now.map(({ swing, whole }, i) => {
      const { swing: swings, whole: wholes } = this.#sums[i] ?? { swing: 0, whole: 0 };
      const part = swings > 0 && swing > 0 ? Math.min(1, (2 * swings) / this.#windows / swing) : 1;
      return { swing: (swings * 31) / 32 + part * swing, whole: (wholes * 31) / 32 + part * whole };
    });
    this.#windows = (this.#windows * 31) / 32 + 1;
  }
}

/** Sums of two points each. */
function pairsOf(x: readonly number[]): number[] {
  return Array.from({ length: x.length / 2 }, (_, i) => (x[2 * i] ?? 0) + (x[2 * i + 1] ?? 0));
}

function energyOf(x: readonly number[], rate: number): Energy {
  const mean = x.reduce((sum, v) => sum + v, 0) / x.length;
  const y = x.map((v) => v - mean);
  return {
    swing: x.length > 0 ? Math.max(...[rate - 1.9, rate, rate + 1.9].map((r) => sinusoid(y, r))) : 0,
    whole: y.reduce((sum, v) => sum + v * v, 0),
  };
}

function sinusoid(y: readonly number[], rate: number): number {
  const turn = (2 * Math.PI * rate) / 120;
  const re = y.reduce((sum, v, i) => sum + v * Math.cos(turn * i), 0);
  const im = y.reduce((sum, v, i) => sum + v * Math.sin(turn * i), 0);
  return (2 * (re * re + im * im)) / y.length;
}
