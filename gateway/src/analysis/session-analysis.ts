import type { Answer, Core, CoreSession, Estimate, Modality } from '@device-insights/dsp-wasm';
import { type InsightType, type Reading, sqiClass, UNITS } from '../insight.js';
import type { Algorithm } from './algorithm.js';
import { type Analysed, type AnalysisOptions, BYTES_PER_SAMPLE, type RPeak, type SampleRun } from './analysis.js';
import { type AnalysedChannel, analysedChannels, channelSets } from './channel.js';
import type { CoreLoad } from './core-load.js';
import { genericConfidence } from './coverage.js';
import { isOfGaps } from './gap-rhythm.js';
import { type NoReading, NoReadingWatch, type Verdict } from './no-reading.js';
import { entitled, LONGEST_WINDOW_S } from './registry.js';
import { AlgorithmSteps, type Candidate, candidate, type DueWindow, isCovered, LATE_S, TypeChoice } from './steps.js';
import { silentChannel, verdictOf } from './verdict.js';

/** After a loss of this length, no window contains data from before it, seconds. */
const LONG_LOSS_S = 60;
/**
 * The core numbers its samples in 32 bits, which an ECG uses up in 97 days, so it restarts earlier. This costs the windows that
 * hold data from both sides.
 */
const LONGEST_RUN_S = 30 * 86_400;
/**
 * Factor of the confidence if a channel's rate differs from its model's, if the times of a window are not trusted, or if the
 * reading is the rhythm of its gaps: below one half, so that no such reading is `acceptable`.
 */
const DOUBTFUL = 0.49;

/** Opens the analysis of a session in a core; null if the core is full. */
export function openAnalysis(load: CoreLoad, options: AnalysisOptions): Analysis | null {
  const channels = analysedChannels(options.channels);
  const sets = channelSets(channels.values());
  const sessions = openSets(load.core, sets);
  return sessions && new Analysis(load, sessions, channels, sets, options);
}

/** Where a channel is in a set. */
interface Place {
  readonly set: number;
  readonly place: number;
}

/** The places of each channel, the first set first. */
function placesIn(sets: readonly (readonly AnalysedChannel[])[]): Map<AnalysedChannel, Place[]> {
  const places = new Map<AnalysedChannel, Place[]>();
  for (const [set, channels] of sets.entries())
    for (const [place, channel] of channels.entries())
      places.set(channel, [...(places.get(channel) ?? []), { set, place }]);
  return places;
}

/** Opens a session of the core for each set of channels; null, and none, if the core has no room for all. */
function openSets(core: Core, sets: readonly (readonly AnalysedChannel[])[]): CoreSession[] | null {
  const sessions: CoreSession[] = [];
  for (const set of sets) {
    const session = core.open(set.map((channel) => channel.core));
    if (session) sessions.push(session);
    else {
      for (const opened of sessions) opened.close();
      return null;
    }
  }
  return sessions;
}

const NO_ANSWER: Answer = { estimate: null, reason: null, seen: 0 };

/** The signal analysis of one session: receives sample runs and returns readings. */
export class Analysis {
  readonly #load: CoreLoad;
  /** By set of channels. */
  #sessions: readonly CoreSession[];
  /** Start of the core's time, whole seconds since the first instant. */
  #base = 0;
  readonly #channels: ReadonlyMap<number, AnalysedChannel>;
  readonly #sets: readonly (readonly AnalysedChannel[])[];
  readonly #places: ReadonlyMap<AnalysedChannel, readonly Place[]>;
  readonly #options: AnalysisOptions;
  readonly #steps: readonly AlgorithmSteps[];
  readonly #choices: ReadonlyMap<InsightType, TypeChoice>;
  readonly #watches: ReadonlyMap<InsightType, NoReadingWatch>;
  #noReadings: readonly NoReading[] = [];
  /** The readings of the running call. */
  #readings: Reading[] = [];
  #firstInstant: number | null;
  /** Time of the first data here, seconds since the first instant. */
  #start = 0;
  /** The newest instant of all channels, seconds since the first. */
  #dataTime = Number.NEGATIVE_INFINITY;

  constructor(
    load: CoreLoad,
    sessions: readonly CoreSession[],
    channels: ReadonlyMap<number, AnalysedChannel>,
    sets: readonly (readonly AnalysedChannel[])[],
    options: AnalysisOptions,
  ) {
    this.#load = load;
    this.#sessions = sessions;
    this.#channels = channels;
    this.#sets = sets;
    this.#places = placesIn(sets);
    this.#options = options;
    this.#firstInstant = options.firstInstant;
    this.#steps = algorithmSteps(options.algorithms, sets);
    this.#choices = typeChoices(this.#steps);
    this.#watches = new Map([...this.#choices.keys()].map((type) => [type, new NoReadingWatch(type)]));
  }

  /** Data time of the session's first instant, whole ms; null before the first run. */
  get firstInstant(): number | null {
    return this.#firstInstant;
  }

  /** If no entitled algorithm can use the channels, the modalities that the entitled algorithms use; otherwise null. */
  get lacking(): string[] | null {
    if (this.#steps.length > 0) return null;
    return [...new Set(entitled(this.#options.algorithms).flatMap(({ requires }) => requires.flat()))].sort();
  }

  /**
   * The types without a trusted reading for 20 s of data time (rr: 60 s), each with the reason; after the end also those that never had
   * one. Another list when something has changed.
   */
  get noReadings(): readonly NoReading[] {
    return this.#noReadings;
  }

  /** Takes the next run of a channel. */
  push(run: SampleRun): Analysed {
    this.#firstInstant ??= Math.floor(run.t);
    const start = (run.t - this.#firstInstant) / 1000;
    // Data before the first instant are in no window.
    if (start < 0) return { readings: [], late: null };
    if (this.#dataTime === Number.NEGATIVE_INFINITY) this.#start = start;
    this.#restart(start);
    const { instants, late } = this.#take(run, start);
    this.#pass(start + ((instants - 1) * run.period) / 1000);
    return { readings: this.#takeReadings(), late };
  }

  #takeReadings(): readonly Reading[] {
    const readings = this.#readings;
    this.#readings = [];
    return readings;
  }

  /** The R peaks found since the last call, in order of time per channel. */
  readPeaks(): RPeak[] {
    const origin = (this.#firstInstant ?? 0) + this.#base * 1000;
    return [...this.#channels].flatMap(([index, channel]) => {
      const [first] = this.#places.get(channel) ?? [];
      const times = first ? this.#sessions[first.set]?.readPeaks(first.place) : undefined;
      return Array.from(times ?? [], (t) => ({ channel: index, t: origin + t * 1000 }));
    });
  }

  /** Computes the steps that every required channel has reached; no run may follow. */
  end(): readonly Reading[] {
    for (const steps of this.#steps) this.#compute(steps, steps.reached());
    for (const choice of this.#choices.values()) for (const chosen of choice.decide(true)) this.#emit(chosen);
    this.#endWatches();
    return this.#takeReadings();
  }

  /** States why the types that had no trusted reading had none, however short the session was. */
  #endWatches(): void {
    for (const [type, watch] of this.#watches) {
      const steps = this.#steps.find(({ algorithm }) => algorithm.type === type);
      if (steps) watch.end(noWindow(steps));
    }
    this.#listNoReadings();
  }

  /** Frees the session's memory in the core. Idempotent. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  /** Gives a run to the core, if the core analyses its channel; returns its instants, and whether it is late. */
  #take(
    { channel: index, period: ms, trusted, lost, encoding, payload }: SampleRun,
    start: number,
  ): { readonly instants: number; readonly late: boolean | null } {
    const period = ms / 1000;
    const instants = payload.length / (BYTES_PER_SAMPLE[encoding] * (this.#options.channels[index]?.num_channels ?? 1));
    const channel = this.#channels.get(index);
    if (!channel) return { instants, late: null };
    let missing = 0;
    this.#load.time(() => {
      for (const { set, place } of this.#places.get(channel) ?? [])
        missing = this.#sessions[set]?.push(place, start - this.#base, period, encoding, payload) ?? 0;
    });
    channel.coverage.add(start, period, instants, lost, missing);
    channel.coverage.forget();
    if (!trusted) channel.doubt({ start, end: start + instants * period });
    return { instants, late: this.#lateness(channel, start + instants * period) };
  }

  #lateness(channel: AnalysedChannel, end: number): boolean | null {
    const [isLate, wasLate] = [end < this.#dataTime - LATE_S, channel.isLate];
    channel.isLate = isLate;
    return isLate || wasLate ? isLate : null;
  }

  /** Advances data time to `t` and computes the steps that are due. */
  #pass(t: number): void {
    this.#load.passed(this.#dataTime, t);
    this.#dataTime = Math.max(this.#dataTime, t);
    for (const steps of this.#steps) this.#compute(steps, steps.due(this.#dataTime));
  }

  /** After a long loss computes the windows that still hold data; then, or after a very long run, begins again at `start`. */
  #restart(start: number): void {
    const isAfterLoss = start - this.#dataTime > LONG_LOSS_S;
    if (!isAfterLoss && start - this.#base <= LONGEST_RUN_S) return;
    if (isAfterLoss && this.#dataTime > Number.NEGATIVE_INFINITY)
      this.#pass(this.#dataTime + LONGEST_WINDOW_S + LATE_S);
    this.#reopen(Math.floor(start));
    for (const steps of this.#steps) {
      steps.skipTo(start);
      this.#settle(steps, steps.next - steps.algorithm.everyS, null);
    }
  }

  /** Restarts in the core, with its time beginning at `base`: no later window needs earlier data. */
  #reopen(base: number): void {
    if (base === this.#base) return;
    this.close();
    const sessions = openSets(this.#load.core, this.#sets);
    if (!sessions) throw new Error('the signal core has no free sessions, although as many were just released');
    this.#sessions = sessions;
    this.#base = base;
  }

  /** Estimates the windows that are due, and publishes the readings. */
  #compute(steps: AlgorithmSteps, due: readonly DueWindow[]): void {
    if (due.length === 0) return;
    const { estimator } = steps.algorithm;
    const session = this.#sessions[steps.set];
    if (!session) return;
    const requests = due.map(({ end }) => ({ session, estimator, end: end - this.#base }));
    const answers = this.#load.time(() => this.#load.core.answer(requests));
    due.forEach((window, i) => {
      const answer = answers[i] ?? NO_ANSWER;
      const found = isCovered(window) ? this.#candidate(window, answer.estimate) : null;
      this.#settle(steps, window.end, found);
      this.#watch(steps, window, answer, found ? shownConfidence(found) : 0);
    });
  }

  #settle(steps: AlgorithmSteps, end: number, best: Candidate | null): void {
    const choice = this.#choices.get(steps.algorithm.type);
    if (choice?.isOfOne) {
      if (best) this.#emit(best);
      return;
    }
    choice?.settle(steps, end, best);
    for (const chosen of choice?.decide() ?? []) this.#emit(chosen);
  }

  /** Notes whether the reading of a window is trusted, or why not. */
  #watch(steps: AlgorithmSteps, window: DueWindow, answer: Answer, confidence: number): void {
    const watch = this.#watches.get(steps.algorithm.type);
    if (!watch) return;
    const before = watch.stated;
    const isTrusted = sqiClass(confidence) !== 'unfit';
    const verdict = isTrusted ? null : verdictOf(window, answer, confidence, this.#options);
    watch.note(steps, this.#start, window.end, verdict);
    if (watch.stated !== before) this.#listNoReadings();
  }

  #listNoReadings(): void {
    this.#noReadings = [...this.#watches.values()].flatMap(({ stated }) => stated ?? []);
  }

  #candidate(window: DueWindow, estimate: Estimate | null): Candidate | null {
    return candidate(window, estimate, (e) => {
      const { value, confidence } = window.algorithm.read(e, this.#options);
      const isDoubtful = window.doubtful || window.offRate || isOfGaps(value, window.gapRhythm);
      const factor = isDoubtful ? DOUBTFUL : 1;
      return { value, confidence: factor * (confidence ?? genericConfidence(window)) };
    });
  }

  #emit(chosen: Candidate): void {
    const reading = this.#reading(chosen);
    const last = this.#options.last[reading.type];
    if (!last || reading.actual_end > last.actualEnd) this.#readings.push(reading);
  }

  #reading({ window, value, confidence }: Candidate): Reading {
    const { algorithm, end, coverage } = window;
    const actual_end = (this.#firstInstant ?? 0) + end * 1000;
    const rounded = shownConfidence({ confidence });
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

/**
 * The steps of every entitled algorithm in every set that has its channels, without those that an earlier set has
 * already.
 */
function algorithmSteps(
  slugs: readonly string[] | null,
  sets: readonly (readonly AnalysedChannel[])[],
): AlgorithmSteps[] {
  return entitled(slugs).flatMap((algorithm) => {
    const own = sets.map((set) => channelsOf(algorithm, set));
    const isNew = (k: number) => !own.slice(0, k).some((earlier) => earlier.every((c, i) => c === own[k]?.[i]));
    return sets.flatMap((set, k) => {
      const required = algorithm.requires.map((oneOf) => ofModalities(set, oneOf));
      const beside = ofModalities(set, algorithm.uses ?? []);
      const isRunnable = required.every(({ length }) => length > 0) && isNew(k);
      return isRunnable ? [new AlgorithmSteps(algorithm, k, required, beside)] : [];
    });
  });
}

/** All channels of a set that an algorithm looks at. */
function channelsOf({ requires, uses = [] }: Algorithm, set: readonly AnalysedChannel[]): AnalysedChannel[] {
  return ofModalities(set, [...requires.flat(), ...uses]);
}

/** The channels of a set that have one of the modalities, in the order of these. */
function ofModalities(set: readonly AnalysedChannel[], modalities: readonly Modality[]): AnalysedChannel[] {
  return modalities.flatMap((modality) => set.filter((channel) => channel.modality === modality));
}

function typeChoices(steps: readonly AlgorithmSteps[]): Map<InsightType, TypeChoice> {
  const types = new Set(steps.map(({ algorithm }) => algorithm.type));
  return new Map([...types].map((type) => [type, new TypeChoice(steps.filter((s) => s.algorithm.type === type))]));
}

/** The verdict on data that are too short for a window. */
function noWindow({ algorithm, channels }: AlgorithmSteps): Verdict {
  const silent = channels.find(({ coverage }) => coverage.first === Number.POSITIVE_INFINITY);
  const reason = silent ? 'no_data' : 'too_little';
  return { reason, confidence: 0, algorithm: algorithm.slug, seen: silentChannel(silent) };
}

/** A confidence as it is published. */
function shownConfidence({ confidence }: Pick<Candidate, 'confidence'>): number {
  return round(Math.min(1, Math.max(0, confidence)), 3);
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
