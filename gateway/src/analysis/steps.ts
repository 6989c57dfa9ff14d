import type { Estimate } from '@device-insights/dsp-wasm';
import type { Algorithm } from './algorithm.js';
import type { AnalysedChannel } from './channel.js';
import { type WindowCoverage, windowCoverage } from './coverage.js';

/** A required channel that has nothing up to a window's end is waited for until data time is this far past it, seconds. */
export const LATE = 2;
/** Nothing is published below this coverage. */
const LEAST_COVERAGE = 0.5;

/** A window that is due: what it holds is settled, its estimate is to come. */
export interface DueWindow extends WindowCoverage {
  readonly algorithm: Algorithm;
  readonly channels: readonly AnalysedChannel[];
  /** Window end, whole seconds. */
  readonly end: number;
  /** Whether one of the channels runs at a rate that is not its model's. */
  readonly offRate: boolean;
}

/** The steps of one algorithm in one session. */
export class AlgorithmSteps {
  #next: number;

  constructor(
    readonly algorithm: Algorithm,
    readonly channels: readonly AnalysedChannel[],
  ) {
    this.#next = algorithm.everyS;
  }

  /** The next window end that was not yet due, seconds. */
  get next(): number {
    return this.#next;
  }

  /** Moves on, over windows that cannot hold data, to the first step after `second`. */
  skipTo(second: number): void {
    const { everyS } = this.algorithm;
    this.#next = Math.max(this.#next, (Math.floor(second / everyS) + 1) * everyS);
  }

  /** The windows that have become due by this data time, oldest first. */
  due(dataTime: number): DueWindow[] {
    const due: DueWindow[] = [];
    while (this.#reached(0.5) || dataTime >= this.#next + LATE) due.push(this.#take());
    return due;
  }

  /** The windows which every required channel has reached, at the end of the session. */
  reached(): DueWindow[] {
    const reached: DueWindow[] = [];
    while (this.#reached(1)) reached.push(this.#take());
    return reached;
  }

  /** Whether all required channels have data up to the next end, but for a part of a sample period. */
  #reached(tolerance: number): boolean {
    return this.channels.every(({ coverage }) => coverage.head >= this.#next - tolerance * coverage.period);
  }

  #take(): DueWindow {
    const end = this.#next;
    this.#next += this.algorithm.everyS;
    const window = { start: end - this.algorithm.windowS, end };
    const coverages = this.channels.map(({ coverage }) => coverage);
    const offRate = this.channels.some((c) => c.isOffRate(window));
    return { algorithm: this.algorithm, channels: this.channels, end, offRate, ...windowCoverage(coverages, window) };
  }
}

/** Whether a window holds enough for a reading: half of it, but for one sample period. */
export function isCovered({ algorithm, channels, coverage }: DueWindow): boolean {
  const period = Math.max(...channels.map((c) => c.coverage.period));
  return coverage >= LEAST_COVERAGE - period / algorithm.windowS;
}

export interface Candidate {
  readonly window: DueWindow;
  readonly value: number;
  readonly confidence: number;
}

/** Chooses, step by step, between the algorithms of one type: the most confident, once all are done or late. */
export class TypeChoice {
  readonly #algorithms: readonly AlgorithmSteps[];
  readonly #done = new Map<AlgorithmSteps, number>();
  readonly #best = new Map<number, Candidate | null>();

  constructor(algorithms: readonly AlgorithmSteps[]) {
    this.#algorithms = algorithms;
    for (const a of algorithms) this.#done.set(a, 0);
  }

  /** Notes that an algorithm is done with a step, with or without a candidate. */
  settle(steps: AlgorithmSteps, end: number, candidate: Candidate | null): void {
    this.#done.set(steps, end);
    const best = this.#best.get(end) ?? null;
    this.#best.set(end, candidate && (!best || candidate.confidence > best.confidence) ? candidate : best);
  }

  /** The choices of the steps that all algorithms are done with; with `final`, of all steps. Oldest first. */
  *decide(final = false): Generator<Candidate> {
    const until = final ? Number.POSITIVE_INFINITY : Math.min(...this.#algorithms.map((a) => this.#settledUntil(a)));
    for (const end of [...this.#best.keys()].sort((a, b) => a - b)) {
      if (end > until) return;
      const best = this.#best.get(end);
      this.#best.delete(end);
      if (best) yield best;
    }
  }

  #settledUntil(steps: AlgorithmSteps): number {
    return this.#done.get(steps) ?? 0;
  }
}

/** An estimate as a candidate for its type's reading; null where there is none, or no number. */
export function candidate(
  window: DueWindow,
  estimate: Estimate | null,
  read: (estimate: Estimate) => { value: number; confidence: number },
): Candidate | null {
  if (!estimate) return null;
  const { value, confidence } = read(estimate);
  return Number.isFinite(value) && Number.isFinite(confidence) ? { window, value, confidence } : null;
}
