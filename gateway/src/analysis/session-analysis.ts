import type { CoreSession, Estimate } from '@device-insights/dsp-wasm';
import { type InsightType, type Reading, sqiClass, UNITS } from '../insight.js';
import type { Analysis, AnalysisOptions, OpenAnalysis, RPeak, SampleRun } from './analysis.js';
import { type AnalysedChannel, analysedChannels, BYTES_PER_SAMPLE, type RunPart, splitAtSeconds } from './channel.js';
import { genericConfidence } from './coverage.js';
import type { Engine } from './engine.js';
import { entitled } from './registry.js';
import type { DueWindow } from './steps.js';
import { AlgorithmSteps, type Candidate, candidate, isCovered, LATE, TypeChoice } from './steps.js';

/** After a loss of this long no window reaches back over it, seconds. */
const LONG_LOSS = 60;
/** The longest window, seconds: what data can still show in after they stop. */
const LONGEST_WINDOW = 32;
/** Samples may run ahead of a step that waits for its turn by this much, seconds; the core holds more. */
const RUN_AHEAD = 4;
/** What is left of the confidence where a channel's rate is not its model's. */
const OFF_RATE = 0.5;

/** The analyses of one process, all on one engine. */
export function createAnalyses(engine: Engine): OpenAnalysis {
  return (options) => {
    const channels = analysedChannels(options.channels);
    const session = engine.open([...channels.values()].map(({ core }) => core));
    return session && new SessionAnalysis(engine, session, channels, options);
  };
}

class SessionAnalysis implements Analysis {
  readonly #engine: Engine;
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
  /** End of the oldest window whose estimate waits for its turn, seconds. */
  #waiting = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(
    engine: Engine,
    session: CoreSession,
    channels: ReadonlyMap<number, AnalysedChannel>,
    options: AnalysisOptions,
  ) {
    this.#engine = engine;
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
    const channel = this.#channels.get(run.channel);
    const instantBytes = BYTES_PER_SAMPLE[run.encoding] * (this.#options.channels[run.channel]?.num_channels ?? 1);
    for (const part of splitAtSeconds(run, this.#firstInstant, instantBytes)) this.#pushPart(channel, part, run);
    channel?.coverage.forget();
  }

  readPeaks(): RPeak[] {
    const origin = (this.#firstInstant ?? 0) + this.#base * 1000;
    return [...this.#channels].flatMap(([channel, { coreIndex }]) =>
      Array.from(this.#session.readPeaks(coreIndex), (t) => ({ channel, t: origin + t * 1000 })),
    );
  }

  settle(): void {
    this.#engine.flush();
  }

  end(): void {
    for (const steps of this.#steps) this.#request(steps, [...steps.reached()]);
    this.#engine.flush();
    for (const choice of this.#choices.values()) this.#emit(choice.decide(true));
  }

  close(): void {
    if (this.#closed) return;
    this.#engine.flush();
    this.#closed = true;
    this.#session.close();
  }

  #pushPart(channel: AnalysedChannel | undefined, part: RunPart, { encoding }: SampleRun): void {
    if (part.start > this.#waiting + RUN_AHEAD) this.#engine.flush();
    this.#skipLoss(part.start);
    const { start, period, instants, lost, payload } = part;
    if (channel) {
      const missing = this.#session.push(channel.coreIndex, start - this.#base, period, encoding, payload);
      channel.coverage.add(start, period, instants, lost, missing);
    }
    this.#pass(start + (instants - 1) * period);
  }

  /** Data time has come to `t`: computes what is due. */
  #pass(t: number): void {
    this.#dataTime = Math.max(this.#dataTime, t);
    for (const steps of this.#steps) this.#request(steps, [...steps.due(this.#dataTime)]);
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
    this.#engine.flush();
    this.#session.close();
    const session = this.#engine.open([...this.#channels.values()].map(({ core }) => core));
    if (!session) throw new Error('the place in the signal core that was just given back is gone');
    this.#session = session;
    this.#base = base;
  }

  /** Asks the core for the estimates of windows that hold enough, and settles the others. */
  #request(steps: AlgorithmSteps, due: readonly DueWindow[]): void {
    if (due.length === 0) return;
    this.#waiting = Math.min(this.#waiting, due[0]?.end ?? Number.POSITIVE_INFINITY);
    this.#engine.request(
      due.map(({ algorithm: { estimator }, end }) => ({ session: this.#session, estimator, end: end - this.#base })),
      (estimates) => {
        this.#waiting = Number.POSITIVE_INFINITY;
        due.forEach((window, i) => {
          this.#settle(steps, window.end, isCovered(window) ? this.#candidate(window, estimates[i] ?? null) : null);
        });
      },
    );
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
