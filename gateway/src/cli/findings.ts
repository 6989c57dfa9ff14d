/** A problem of the data, as a notice or an error of the ingest protocol states it. */
export interface Problem {
  readonly code: string;
  readonly channel?: number;
  readonly detail: string;
  readonly over?: true;
  readonly [field: string]: unknown;
}

/** The place in a recording. */
export interface Place {
  /** Line of the channel's CSV file, counted from 1; null in a source without files. */
  readonly row: number | null;
  /** Its stamp, seconds; null where rows have none. */
  readonly t: number | null;
}

/** A problem, with the place where it starts and the number of times that it was stated until it was over. */
export interface Finding extends Problem, Place {
  readonly count: number;
}

/**
 * Maximum time between two statements of one problem, ms: notices are repeated every 10 s while their cause lasts.
 */
const SAME_WITHIN_MS = 20_000;

/** The problems of a recording in the order in which they start. A repeated statement updates the details. */
export class Findings {
  readonly #all: Finding[] = [];
  /** Index of each problem that is not over, and the time when it was last stated, by code, channel and type of insight. */
  readonly #open = new Map<string, { readonly index: number; readonly at: number }>();

  get all(): readonly Finding[] {
    return this.#all;
  }

  /** Adds a statement made at a time in ms, which does not go back. */
  add(problem: Problem, { row, t }: Place, at: number): void {
    const key = `${problem.code}/${problem.channel}/${problem.insight}`;
    const open = this.#open.get(key);
    if (problem.over) {
      this.#open.delete(key);
      return;
    }
    const known = open && at - open.at <= SAME_WITHIN_MS ? this.#all[open.index] : undefined;
    const index = known && open ? open.index : this.#all.length;
    const { row: firstRow, t: firstT, count } = known ?? { row, t, count: 0 };
    this.#all[index] = { ...problem, row: firstRow, t: firstT, count: count + 1 };
    this.#open.set(key, { index, at });
  }
}

/** One line about a finding. */
export function findingLine({ code, channel, row, t, detail, insight, count }: Finding): string {
  const where = [
    ...(channel === undefined ? [] : [`channel ${channel}`]),
    ...(typeof insight === 'string' ? [insight] : []),
    ...(row === null ? [] : [`row ${row}`]),
    ...(t === null ? [] : [`t = ${t} s`]),
  ].join(', ');
  return `${code}${where && ` (${where})`}: ${detail}${count > 1 ? ` [${count} times]` : ''}`;
}
