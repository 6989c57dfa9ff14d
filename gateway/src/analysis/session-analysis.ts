import type { CoreSession, Estimate } from '@device-insights/dsp-wasm';
import { type InsightType, type Reading, sqiClass, UNITS } from '../insight.js';
import type { Analysis, AnalysisOptions, OpenAnalysis, RPeak, SampleRun } from './analysis.js';
import { type AnalysedChannel, analysedChannels, BYTES_PER_SAMPLE } from './channel.js';
import type { CoreLoad } from './core-load.js';
import { genericConfidence } from './coverage.js';
import { entitled } from './registry.js';
import type { DueWindow } from './steps.js';
import { AlgorithmSteps, type Candidate, candidate, isCovered, LATE, TypeChoice } from './steps.js';

/** After a loss of this long no window reaches back over it, seconds. */
const LONG_LOSS = 60;
/** The longest window, seconds: what data can still show in after they stop. */
const LONGEST_WINDOW = 32;
/** What is left of the confidence where a channel's rate is not its model's. */
const OFF_RATE = 0.5;

/** The analyses of one process, all in one core. */
export function createAnalyses(load: CoreLoad): OpenAnalysis {
  const { core } = load;
  return (options) => {
    const channels = analysedChannels(options.channels);
    const session = core.open([...channels.values()].map((channel) => channel.core));
    return session && new SessionAnalysis(load, session, channels, options);
  };
}

class SessionAnalysis implements Analysis {
  readonly #load: CoreLoad;
  #session: CoreSession;
  /** Where the core's time begins, whole seconds since the first instant. */
  #base = 0;
  readonly #channels: ReadonlyMap<number, AnalysedChannel>;
  readonly #options: AnalysisOptions;
  readonly #steps: readonly AlgorithmSteps[];
  readonly #choices: ReadonlyMap<InsightType, TypeChoice>;
  #firstInstant: number | null;
  /** The newest instant on any channel, seconds since the first. */
  #dataTime = Number.NEGATIVE_INFINITY;

  constructor(
    load: CoreLoad,
    session: CoreSession,
    channels: ReadonlyMap<number, AnalysedChannel>,
    options: AnalysisOptions,
  ) {
    this.#load = load;
    this.#session = session;
    this.#channels = channels;
    this.#options = options;
    this.#firstInstant = options.firstInstant;
    this.#steps = algorithmSteps(options.algorithms, [...channels.values()]);
    this.#choices = typeChoices(this.#steps);
  }

  get firstInstant(): number | null {
    return this.#firstInstant;
  }

  push(run: SampleRun): void {
    this.#firstInstant ??= Math.floor(run.t);
    const start = (run.t - this.#firstInstant) / 1000;
    // What lies before the first instant is in no window.
    if (start < 0) return;
    this.#skipLoss(start);
    const instants = this.#take(run, start);
    this.#pass(start + ((instants - 1) * run.period) / 1000);
  }

  readPeaks(): RPeak[] {
    const origin = (this.#firstInstant ?? 0) + this.#base * 1000;
    return [...this.#channels].flatMap(([channel, { coreIndex }]) =>
      Array.from(this.#session.readPeaks(coreIndex), (t) => ({ channel, t: origin + t * 1000 })),
    );
  }

  end(): void {
    for (const steps of this.#steps) this.#compute(steps, steps.reached());
    for (const choice of this.#choices.values()) this.#emit(choice.decide(true));
  }

  close(): void {
    this.#session.close();
  }

  /** Hands a run to the core, where it knows its channel; returns its instants. */
  #take({ channel: index, period: ms, lost, encoding, payload }: SampleRun, start: number): number {
    const period = ms / 1000;
    const instants = payload.length / (BYTES_PER_SAMPLE[encoding] * (this.#options.channels[index]?.num_channels ?? 1));
    const channel = this.#channels.get(index);
    if (!channel) return instants;
    const session = this.#session;
    const missing = this.#load.time(() =>
      session.push(channel.coreIndex, start - this.#base, period, encoding, payload),
    );
    channel.coverage.add(start, period, instants, lost, missing);
    channel.coverage.forget();
    return instants;
  }

  /** Data time has come to `t`: computes what is due. */
  #pass(t: number): void {
    this.#load.passed(this.#dataTime, t);
    this.#dataTime = Math.max(this.#dataTime, t);
    for (const steps of this.#steps) this.#compute(steps, steps.due(this.#dataTime));
  }

  /** Over a long loss: settles what still holds data, then goes straight to where data begin again. */
  #skipLoss(start: number): void {
    if (start - this.#dataTime <= LONG_LOSS) return;
    if (this.#dataTime > Number.NEGATIVE_INFINITY) this.#pass(this.#dataTime + LONGEST_WINDOW + LATE);
    this.#reopen(Math.floor(start));
    for (const steps of this.#steps) {
      steps.skipTo(start);
      this.#settle(steps, steps.next - steps.algorithm.everyS, null);
    }
  }

  /** Begins anew in the core, with its time beginning at `base`: nothing before it matters any more. */
  #reopen(base: number): void {
    if (base === this.#base) return;
    this.#session.close();
    const session = this.#load.core.open([...this.#channels.values()].map(({ core }) => core));
    if (!session) throw new Error('the place in the signal core that was just given back is gone');
    this.#session = session;
    this.#base = base;
  }

  /** Has the core estimate what is due, and settles it. */
  #compute(steps: AlgorithmSteps, due: readonly DueWindow[]): void {
    if (due.length === 0) return;
    const { estimator } = steps.algorithm;
    const requests = due.map(({ end }) => ({ session: this.#session, estimator, end: end - this.#base }));
    const estimates = this.#load.time(() => this.#load.core.step(requests));
    due.forEach((window, i) => {
      this.#settle(steps, window.end, isCovered(window) ? this.#candidate(window, estimates[i] ?? null) : null);
    });
  }

  #settle(steps: AlgorithmSteps, end: number, best: Candidate | null): void {
    const choice = this.#choices.get(steps.algorithm.type);
    choice?.settle(steps, end, best);
    if (choice) this.#emit(choice.decide());
  }

  #candidate(window: DueWindow, estimate: Estimate | null): Candidate | null {
    const factor = window.offRate ? OFF_RATE : 1;
    return candidate(window, estimate, (e) => {
      const { value, confidence } = window.algorithm.read(e, this.#options);
      return { value, confidence: factor * (confidence ?? genericConfidence(window)) };
    });
  }

  #emit(candidates: Iterable<Candidate>): void {
    for (const c of candidates) {
      const reading = this.#reading(c);
      const last = this.#options.last[reading.type];
      if (!last || reading.actual_end > last.actualEnd) this.#options.emit(reading);
    }
  }

  #reading({ window, value, confidence }: Candidate): Reading {
    const { algorithm, end, coverage } = window;
    const actual_end = (this.#firstInstant ?? 0) + end * 1000;
    const rounded = round(Math.min(1, Math.max(0, confidence)), 3);
    return {
      type: algorithm.type,
      value: round(value, 1),
      unit: UNITS[algorithm.type],
      session_id: this.#options.sessionId,
      device_id: this.#options.deviceId,
      confidence: rounded,
      sqi_class: sqiClass(rounded),
      actual_start: actual_end - algorithm.windowS * 1000,
      actual_end,
      coverage: round(coverage, 4),
      algorithm: `${algorithm.slug}@${algorithm.version}`,
    };
  }
}

/** The steps of every entitled algorithm whose channels the session has. */
function algorithmSteps(slugs: readonly string[] | null, channels: readonly AnalysedChannel[]): AlgorithmSteps[] {
  return entitled(slugs).flatMap((algorithm) => {
    const required = algorithm.requires.map((oneOf) =>
      oneOf.map((modality) => channels.find((c) => c.modality === modality)).find((c) => c !== undefined),
    );
    const found = required.filter((c) => c !== undefined);
    return found.length === required.length ? [new AlgorithmSteps(algorithm, found)] : [];
  });
}

function typeChoices(steps: readonly AlgorithmSteps[]): Map<InsightType, TypeChoice> {
  const types = new Set(steps.map(({ algorithm }) => algorithm.type));
  return new Map([...types].map((type) => [type, new TypeChoice(steps.filter((s) => s.algorithm.type === type))]));
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
