import { writeFileSync } from 'node:fs';

/** A figure of a part: its value in each round. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** Prints figures as they come in, and keeps them for a file. */
export class Report {
  readonly #parts: { part: string; figures: Figure[]; runs: unknown[] }[] = [];

  part(part: string): void {
    this.#parts.push({ part, figures: [], runs: [] });
    console.log(`\n${part}`);
  }

  /** Keeps what a run gave, as it is. */
  run(result: unknown): void {
    this.#parts.at(-1)?.runs.push(result);
  }

  figure(name: string, unit: string, values: readonly number[]): void {
    this.#parts.at(-1)?.figures.push({ name, unit, values });
    const label = `${name}, ${unit}`.padEnd(72);
    console.log(`  ${label} ${short(median(values)).padStart(9)}   each round ${values.map(short).join(' ')}`);
  }

  /** Two figures, and their ratio round by round. */
  ratio(name: string, values: readonly number[], of: readonly number[]): void {
    this.figure(
      name,
      'x',
      values.map((value, round) => value / (of[round] ?? Number.NaN)),
    );
  }

  save(file: string): void {
    writeFileSync(file, `${JSON.stringify(this.#parts, null, 1)}\n`);
  }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN;
}

const short = (value: number) => `${Number(value.toPrecision(4))}`;
