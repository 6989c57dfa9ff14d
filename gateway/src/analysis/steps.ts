import type { Estimate } from '@device-insights/dsp-wasm';
import type { InsightType } from '../insight.js';
import type { Algorithm, AnyAlgorithm } from './algorithm.js';
import type { AnalysedChannel } from './channel.js';
import { windowCoverage } from './coverage.js';
import { gapRhythm } from './gap-rhythm.js';
import { NoReadingWatch } from './no-reading.js';

/**
 * A required channel without data up to a window's end is waited for until data time is this far past that end,
 * seconds.
 */
export const LATE_S = 2;
/** An optional channel is waited for this long, seconds. */
const LATE_BESIDE_S = 1;
/** Minimum coverage of a published reading. */
const LEAST_COVERAGE = 0.5;
const NONE: readonly number[] = [];

/** A window of an algorithm: its data are complete, its estimate is not computed yet. */
export interface DueWindow<Of extends AnyAlgorithm = Algorithm> {
  readonly algorithm: Of;
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

/** An algorithm in one set of channels. */
export class SetAlgorithm<Of extends AnyAlgorithm = Algorithm> {
  /** The channels, if there is no choice. */
  readonly #only: readonly AnalysedChannel[] | null;

  constructor(
    readonly algorithm: Of,
    /** Number of the set. */
    readonly set: number,
    /** For each requirement, the channels that meet it, one at least. */
    readonly required: readonly (readonly AnalysedChannel[])[],
    /** Optional channels. */
    readonly beside: readonly AnalysedChannel[],
  ) {
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

  /** Whether the data up to a window's end are there, at this data time; an optional channel is waited for if it is coming. */
  isReady(end: number, dataTime: number): boolean {
    if (!this.hasReached(end, 0.5)) return false;
    return dataTime >= end + LATE_BESIDE_S || !this.beside.some((channel) => this.#isComing(channel, end));
  }

  /** Whether all required channels have data up to a window's end, less a part of a sample period. */
  hasReached(end: number, tolerance: number): boolean {
    return this.channels.every(({ coverage }) => coverage.head >= end - tolerance * coverage.period);
  }

  /** The window of a step, which is at a whole second. */
  window(step: number): DueWindow<Of> {
    const { algorithm, channels } = this;
    const { leastRateHz = 0, bridgedS, windowS, lagS = 0 } = algorithm;
    const end = step - lagS;
    const window = { start: end - windowS, end };
    const coverages = channels.map(({ coverage }) => coverage);
    const offRate = channels.some((c) => c.isOffRate(window) || c.core.sampleRateHz < leastRateHz);
    const doubtful = channels.some((c) => c.isDoubtful(window));
    const gaps = bridgedS === undefined ? [] : coverages.flatMap((each) => each.gapStarts(window, bridgedS));
    const coverage = windowCoverage(coverages, window);
    return { algorithm, channels, end, coverage, offRate, doubtful, gapRhythm: gapRhythm(gaps) };
  }

  /** Whether a channel has data within a window, but not yet up to its end. */
  #isComing({ coverage: { head, period } }: AnalysedChannel, end: number): boolean {
    return head > end - this.algorithm.windowS && head < end - 0.5 * period;
  }
}

/** The steps of algorithms that have the same windows, and are computed together. */
export class Steps<Of extends AnyAlgorithm> {
  #next: number;
  readonly #everyS: number;

  /** @param algorithms at least one */
  constructor(readonly algorithms: readonly SetAlgorithm<Of>[]) {
    this.#everyS = algorithms[0]?.algorithm.everyS ?? 1;
    this.#next = this.#everyS;
  }

  /** End of the newest windows that were due, or skipped; 0 before the first. */
  get last(): number {
    return this.#next - this.#everyS;
  }

  /** End of the next windows. */
  get next(): number {
    return this.#next;
  }

  /** Skips windows that cannot hold data, to the first step after `second`. */
  skipTo(second: number): void {
    this.#next = Math.max(this.#next, (Math.floor(second / this.#everyS) + 1) * this.#everyS);
  }

  /** The ends of the windows that are due at this data time, oldest first: all algorithms have their data, or are late. */
  due(dataTime: number): readonly number[] {
    return this.#takeWhile(
      (end) => dataTime >= end + LATE_S || this.algorithms.every((each) => each.isReady(end, dataTime)),
    );
  }

  /** The ends of the windows that an algorithm has reached, at the end of the session. */
  reached(): readonly number[] {
    return this.#takeWhile((end) => this.algorithms.some((each) => each.hasReached(end, 1)));
  }

  #takeWhile(isTaken: (end: number) => boolean): readonly number[] {
    if (!isTaken(this.#next)) return NONE; // The answer to nearly every frame.
    const ends: number[] = [];
    for (; isTaken(this.#next); this.#next += this.#everyS) ends.push(this.#next);
    return ends;
  }
}

/** The steps of one type of insight. */
export class TypeSteps extends Steps<Algorithm> {
  /** Why the type has no trusted reading. */
  readonly watch: NoReadingWatch;

  /** @param algorithms at least one; of equally confident readings that of the first one is chosen */
  constructor(
    readonly type: InsightType,
    algorithms: readonly SetAlgorithm[],
  ) {
    super(algorithms);
    this.watch = new NoReadingWatch(type);
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
  /** Of hrv, otherwise null. */
  readonly variability: Estimate['variability'];
}

/** The most confident reading; of equally confident ones the first. */
export function mostConfident(candidates: readonly (Candidate | null)[]): Candidate | null {
  return candidates.reduce((best, each) => (each && !(best && best.confidence >= each.confidence) ? each : best), null);
}
