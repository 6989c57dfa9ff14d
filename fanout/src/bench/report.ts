import { median } from './processes.js';

/** Goal of a figure, in its unit: at least or at most this. */
export type Goal = readonly ['>=' | '<=', number];

/** A figure of a part, with its value in each round. */
interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly goal: Goal | null;
}

/** Prints figures at once, and keeps them for the summary. */
export class Report {
  readonly #parts: { part: string; figures: Figure[]; failure?: string }[] = [];

  part(part: string): void {
    this.#parts.push({ part, figures: [] });
    console.log(`\n${part}`);
  }

  /** Records that the part could not be measured completely. */
  failed(failure: string): void {
    const part = this.#parts.at(-1);
    if (part) part.failure = failure;
    console.log(`  not measured: ${failure}`);
  }

  figure(name: string, unit: string, values: readonly number[], goal: Goal | null = null): void {
    this.#parts.at(-1)?.figures.push({ name, unit, values, goal });
    const label = `${name}, ${unit}`.padEnd(60);
    const wanted = goal ? `goal ${goal.join(' ')}: ${isMet(values, goal) ? 'met' : 'MISSED'}` : '';
    const each = values.map(short).join(' ');
    console.log(`  ${label} ${short(median(values)).padStart(9)}   ${wanted.padEnd(22)} each round ${each}`);
  }

  /** A figure that each run has. */
  read<Run>(name: string, unit: string, runs: readonly Run[], of: (run: Run) => number, goal?: Goal): void {
    this.figure(name, unit, runs.map(of), goal);
  }

  /** Two figures, and their ratio in each round. */
  ratio(name: string, values: readonly number[], of: readonly number[], goal: Goal | null = null): void {
    const ratios = values.map((value, round) => value / (of[round] ?? Number.NaN));
    this.figure(name, 'x', ratios, goal);
  }

  /** Prints a summary: each missed goal of all parts, with its figure. */
  summary(): void {
    const all = this.#parts.flatMap(({ part, figures }) => figures.map((figure) => ({ part, ...figure })));
    const withGoal = all.filter(({ goal }) => goal !== null);
    const missed = withGoal.filter(({ values, goal }) => goal && !isMet(values, goal));
    console.log(`\n${withGoal.length - missed.length} of ${withGoal.length} goals met`);
    for (const { part, name, unit, values, goal } of missed)
      console.log(`  missed: ${part}: ${name}: ${short(median(values))} ${unit}, goal ${goal?.join(' ')}`);
    for (const { part, failure } of this.#parts) if (failure) console.log(`  not measured: ${part}: ${failure}`);
  }
}

/** Whether the median reaches the goal; a figure that could not be measured does not. */
function isMet(values: readonly number[], [is, value]: Goal): boolean {
  return is === '<=' ? median(values) <= value : median(values) >= value;
}

const short = (value: number) => `${Number(value.toPrecision(4))}`;
