import type { Algorithm } from './algorithm.js';
import type { AnalysedChannel } from './channel.js';
import { windowCoverage } from './coverage.js';
import { gapRhythm } from './gap-rhythm.js';

/**
 * A required channel without data up to a window's end is waited for until data time is this far past that end,
 * seconds.
 */
export const LATE_S = 2;
/** An optional channel is waited for this long, seconds. */
const LATE_BESIDE_S = 1;
/** Minimum coverage of a published reading. */
const LEAST_COVERAGE = 0.5;
const NONE: readonly DueWindow[] = [];

/** A window that is due: its data are complete, its estimate is not computed yet. */
export interface DueWindow {
  readonly algorithm: Algorithm;
  readonly channels: readonly AnalysedChannel[];
  /** End of the window, whole seconds. */
  readonly end: number;
  /** Share of its time that lies within data or bridged gaps of all these channels. */
  readonly coverage: number;
  /** Whether the rate of one of the channels differs from its model's, or is too low for the algorithm. */
  readonly offRate: boolean;
  /** Whether one of the channels has untrusted times in the window. */
  readonly doubtful: boolean;
  /** Rate of the gaps that may pass for what is measured, per minute; null if there is none. */
  readonly gapRhythm: number | null;
}

/** The steps of one algorithm in one set of channels. */
export class AlgorithmSteps {
  #next: number;
  /** The channels, if there is no choice. */
  readonly #only: readonly AnalysedChannel[] | null;

  constructor(
    readonly algorithm: Algorithm,
    /** Number of the set. */
    readonly set: number,
    /** For each requirement, the channels that meet it, one at least. */
    readonly required: readonly (readonly AnalysedChannel[])[],
    /** Optional channels. */
    readonly beside: readonly AnalysedChannel[],
  ) {
    this.#next = algorithm.everyS;
    this.#only = required.every(({ length }) => length === 1) ? required.flat() : null;
  }

  /** The channel that meets each requirement: the first one, while it is not too late behind the others. */
  get channels(): readonly AnalysedChannel[] {
    if (this.#only) return this.#only;
    return this.required.flatMap((oneOf) => {
      const newest = Math.max(...oneOf.map(({ coverage }) => coverage.head));
      return oneOf.find(({ coverage }) => coverage.head >= newest - LATE_S) ?? [];
    });
  }

  /** The next window end that is not due yet, seconds. */
  get next(): number {
    return this.#next;
  }

  /** Skips windows that cannot hold data, to the first step after `second`. */
  skipTo(second: number): void {
    const { everyS } = this.algorithm;
    this.#next = Math.max(this.#next, (Math.floor(second / everyS) + 1) * everyS);
  }

  /** The windows that are due at this data time, oldest first. */
  due(dataTime: number): readonly DueWindow[] {
    if (!this.#isDue(dataTime)) return NONE; // The answer to nearly every frame.
    const due = [this.#take()];
    while (this.#isDue(dataTime)) due.push(this.#take());
    return due;
  }

  #isDue(dataTime: number): boolean {
    if (dataTime >= this.#next + LATE_S) return true;
    return (
      this.#reached(0.5) && (dataTime >= this.#next + LATE_BESIDE_S || !this.beside.some((c) => this.#isComing(c)))
    );
  }

  /** Whether a channel has data within the window, but not yet up to its end. */
  #isComing({ coverage: { head, period } }: AnalysedChannel): boolean {
    return head > this.#next - this.algorithm.windowS && head < this.#next - 0.5 * period;
  }

  /** The windows that every required channel has reached, at the end of the session. */
  reached(): DueWindow[] {
    const reached: DueWindow[] = [];
    while (this.#reached(1)) reached.push(this.#take());
    return reached;
  }

  /** Whether all required channels have data up to the next end, less a part of a sample period. */
  #reached(tolerance: number): boolean {
    return this.channels.every(({ coverage }) => coverage.head >= this.#next - tolerance * coverage.period);
  }

  #take(): DueWindow {
    const end = this.#next;
    this.#next += this.algorithm.everyS;
    const window = { start: end - this.algorithm.windowS, end };
    const coverages = this.channels.map(({ coverage }) => coverage);
    const { leastRateHz = 0, bridgedS } = this.algorithm;
    const offRate = this.channels.some((c) => c.isOffRate(window) || c.core.sampleRateHz < leastRateHz);
    const doubtful = this.channels.some((c) => c.isDoubtful(window));
    const gaps = bridgedS === undefined ? [] : coverages.flatMap((each) => each.gapStarts(window, bridgedS));
    const { algorithm, channels } = this;
    const coverage = windowCoverage(coverages, window);
    return { algorithm, channels, end, coverage, offRate, doubtful, gapRhythm: gapRhythm(gaps) };
  }
}

/** Whether a window holds enough data for a reading: half of it, less one sample period. */
export function isCovered({ algorithm, channels, coverage }: DueWindow): boolean {
  const period = Math.max(...channels.map((c) => c.coverage.period));
  return coverage >= LEAST_COVERAGE - period / algorithm.windowS;
}

/** A reading of one algorithm. */
export interface Candidate {
  readonly window: DueWindow;
  readonly value: number;
  readonly confidence: number;
}

/**
 * Chooses, for each step, between the algorithms of one type: the most confident reading, once all algorithms are done
 * or late; of equally confident ones that of the first algorithm, whichever was done first.
 */
export class TypeChoice {
  /** End of the newest step that each algorithm is done with, seconds. */
  readonly #done: Map<AlgorithmSteps, number>;
  /** By the end of a step: the best candidate so far, and the place of its algorithm. */
  readonly #best = new Map<number, { readonly candidate: Candidate; readonly place: number } | null>();

  constructor(algorithms: readonly AlgorithmSteps[]) {
    this.#done = new Map(algorithms.map((steps) => [steps, 0]));
  }

  /** Records that an algorithm is done with a step, with or without a candidate. */
  settle(steps: AlgorithmSteps, end: number, candidate: Candidate | null): void {
    this.#done.set(steps, end);
    const best = this.#best.get(end) ?? null;
    const place = [...this.#done.keys()].indexOf(steps);
    const lead = candidate && best ? candidate.confidence - best.candidate.confidence || best.place - place : 1;
    this.#best.set(end, candidate && lead > 0 ? { candidate, place } : best);
  }

  /** The choices of the steps that all algorithms are done with; with `final`, of all steps. Oldest first. */
  *decide(final = false): Generator<Candidate> {
    const until = final ? Number.POSITIVE_INFINITY : Math.min(...this.#done.values());
    for (const end of [...this.#best.keys()].sort((a, b) => a - b)) {
      if (end > until) return;
      const best = this.#best.get(end);
      this.#best.delete(end);
      if (best) yield best.candidate;
    }
  }
}
