import {
  type Answer,
  BEAT_LAG_S,
  type Core,
  type CoreSession,
  type Estimate,
  type Modality,
} from '@device-insights/dsp-wasm';
import { type Beat, type BeatBlock, BLOCK_S } from '../beat.js';
import { type Reading, sqiClass, UNITS } from '../insight.js';
import type { LastInsights, Session } from '../store/store.js';
import type { Algorithm, AnyAlgorithm, BeatAlgorithm } from './algorithm.js';
import { ALGORITHMS, BEAT_ALGORITHMS, CATALOGUE, entitled, LONGEST_WINDOW_S, unread } from './algorithms.js';
import { type AnalysedChannel, analysedChannels, channelSets } from './channel.js';
import type { CoreLoad } from './core-load.js';
import { isOfGaps } from './gap-rhythm.js';
import type { NoReading, Verdict } from './no-reading.js';
import { BYTES_PER_SAMPLE, type SampleRun } from './sample-run.js';
import {
  type Candidate,
  type DueWindow,
  isCovered,
  LATE_S,
  mostConfident,
  SetAlgorithm,
  Steps,
  TypeSteps,
} from './steps.js';
import { silentChannel, verdictOf } from './verdict.js';

/** After a loss of this length, no window contains data from before it, seconds. */
const LONG_LOSS_S = LONGEST_WINDOW_S;
/**
 * The core numbers its samples in 32 bits, which an ECG uses up in 97 days, so it restarts earlier. This costs the windows that
 * hold data from both sides, and the beats of one block.
 */
const LONGEST_RUN_S = 30 * 86_400;
/**
 * Factor of the confidence if a channel's rate differs from its model's, if the times of a window are not trusted, or if the
 * reading is the rhythm of its gaps: below one half, so that no such reading is `acceptable`.
 */
const DOUBTFUL = 0.49;

/** A session to analyse. */
export interface AnalysedSession extends Pick<Session, 'id' | 'deviceId' | 'channels' | 'spo2Curve' | 'algorithms'> {
  /** Data time of the first instant, if the session has one already (after a resume). */
  readonly progress: Pick<Session['progress'], 'firstInstant'>;
  /** The newest published insights (after a resume): readings at or before them are not repeated. */
  readonly last: LastInsights;
}

/** The results of the analysis. */
export interface Found {
  /** In order of `actual_end` within each type. */
  readonly readings: readonly Reading[];
  /** In order of time. A block is found again after a take-over. */
  readonly beats: readonly BeatBlock[];
}

/** The results of a run of samples. */
export interface Analysed extends Found {
  /** Whether the run comes so far behind those of other channels that windows passed without it. */
  readonly isLate: boolean;
}

/** An R peak of an ECG channel. */
export interface RPeak {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Data time, ms since the epoch. */
  readonly t: number;
}

/** Opens the analysis of a session in a core; null if the core is full. */
export function openAnalysis(load: CoreLoad, session: AnalysedSession): Analysis | null {
  const channels = analysedChannels(session.channels);
  const sets = channelSets(channels.values());
  const sessions = openSets(load.core, sets);
  return sessions && new Analysis(load, sessions, channels, sets, session);
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

const NONE: Found = { readings: [], beats: [] };
/** Whole blocks after which the beats of a block are final. */
const LAG_BLOCKS = Math.ceil(BEAT_LAG_S / BLOCK_S);
const NO_ANSWER: Answer = { estimate: null, reason: null, seen: 0 };

/** The signal analysis of one session: receives sample runs and returns readings. */
export class Analysis {
  /** By set of channels. */
  #sessions: readonly CoreSession[];
  /** Start of the core's time, whole seconds since the first instant. */
  #base = 0;
  readonly #steps: readonly TypeSteps[];
  /** Those of the blocks of beats; null if there are none to keep. */
  readonly #beatSteps: Steps<BeatAlgorithm> | null;
  /** Those of the pulse rate where only other algorithms read it; null where it is read, or none needs it. */
  readonly #pulseSteps: Steps<Algorithm> | null;
  readonly #allSteps: readonly Steps<AnyAlgorithm>[];
  /** End of the newest window that was estimated, by set of channels, seconds. */
  readonly #ends: number[] = [];
  #noReadings: readonly NoReading[] = [];
  #firstInstant: number | null;
  /** Time of the first data here, seconds since the first instant. */
  #start = 0;
  /** The newest instant of all channels, seconds since the first. */
  #dataTime = Number.NEGATIVE_INFINITY;
  /** No window ends before this, seconds: nearly every run of samples ends earlier, and is compared with this alone. */
  #nextEnd = 0;
  /** Longest spacing of instants so far, seconds. */
  #longestPeriod = 0;

  constructor(
    private readonly load: CoreLoad,
    sessions: readonly CoreSession[],
    private readonly channels: ReadonlyMap<number, AnalysedChannel>,
    private readonly sets: readonly (readonly AnalysedChannel[])[],
    private readonly session: AnalysedSession,
  ) {
    this.#sessions = sessions;
    this.#firstInstant = session.progress.firstInstant;
    this.#steps = typeSteps(inSets(entitled(ALGORITHMS, session.algorithms), sets));
    const ofBeats = inSets(entitled(BEAT_ALGORITHMS, session.algorithms), sets);
    this.#beatSteps = ofBeats.length > 0 ? new Steps(ofBeats) : null;
    const ofPulse = inSets(unread(session.algorithms), sets);
    this.#pulseSteps = ofPulse.length > 0 ? new Steps(ofPulse) : null;
    this.#allSteps = [this.#pulseSteps, ...this.#steps, this.#beatSteps].filter((steps) => steps !== null);
  }

  /** If no entitled algorithm can use the channels, the modalities that the entitled algorithms use; otherwise null. */
  get lacking(): string[] | null {
    if (this.#steps.length > 0 || this.#beatSteps) return null;
    return [...new Set(entitled(CATALOGUE, this.session.algorithms).flatMap(({ requires }) => requires.flat()))].sort();
  }

  /**
   * The types without a trusted reading for 20 s of data time (rr: 60 s; hrv and rhythm: 90 s), each with the reason; after the end also those of hr,
   * spo2 and rr that never had one. Another list when something has changed.
   */
  get noReadings(): readonly NoReading[] {
    return this.#noReadings;
  }

  /** Takes the next run of a channel. */
  push(run: SampleRun): Analysed {
    this.#firstInstant ??= Math.floor(run.t);
    const start = (run.t - this.#firstInstant) / 1000;
    // Data before the first instant are in no window.
    if (start < 0) return { ...NONE, isLate: false };
    if (this.#dataTime === Number.NEGATIVE_INFINITY) this.#start = start;
    const before = this.#restart(start);
    const { period, encoding, payload } = run;
    const width = this.session.channels[run.channel]?.num_channels ?? 1;
    const instants = payload.length / (BYTES_PER_SAMPLE[encoding] * width);
    const channel = this.channels.get(run.channel);
    if (channel) this.#take(channel, run, start, instants);
    const isLate = channel !== undefined && channel.coverage.head < this.#dataTime - LATE_S;
    const passed = this.#pass(start + ((instants - 1) * period) / 1000);
    const { readings, beats } = before === NONE ? passed : joined(before, passed);
    return { readings, beats, isLate };
  }

  /** The R peaks found since the last call, in order of time per channel. */
  readPeaks(): RPeak[] {
    const origin = (this.#firstInstant ?? 0) + this.#base * 1000;
    return [...this.channels].flatMap(([index, channel]) => {
      const set = this.sets.findIndex((channels) => channels.includes(channel));
      const times = this.#sessions[set]?.readPeaks(this.sets[set]?.indexOf(channel) ?? 0);
      return Array.from(times ?? [], (t) => ({ channel: index, t: origin + t * 1000 }));
    });
  }

  /** Computes the steps that an algorithm's channels have reached; no run may follow. */
  end(): Found {
    this.#notePulse(this.#pulseSteps?.reached());
    const readings = this.#steps.flatMap((steps) => {
      const used = (end: number) => steps.algorithms.filter((each) => each.hasReached(end, 1));
      return steps.reached().flatMap((end) => this.#compute(steps, end, used(end)));
    });
    // A type that had no trusted reading has a reason, however short the session was.
    for (const steps of this.#steps) steps.watch.end(noWindow(steps));
    this.#listNoReadings();
    const due = this.#beatSteps?.reached().map((end) => this.#blockAt(end)) ?? [];
    return { readings, beats: filled([...due, ...this.#lastBlocks()]) };
  }

  /** Frees the session's memory in the core. Idempotent. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  /** Gives a run to the core. */
  #take(channel: AnalysedChannel, run: SampleRun, start: number, instants: number): void {
    const { trusted, lost, encoding, payload } = run;
    const period = run.period / 1000;
    this.#longestPeriod = Math.max(this.#longestPeriod, period);
    let missing = 0;
    this.load.time(() => {
      for (let set = 0; set < this.sets.length; set++) {
        const place = this.sets[set]?.indexOf(channel) ?? -1;
        if (place >= 0) missing = this.#sessions[set]?.push(place, start - this.#base, period, encoding, payload) ?? 0;
      }
    });
    channel.coverage.add(start, period, instants, lost, missing);
    channel.coverage.forget();
    if (!trusted) channel.doubt({ start, end: start + instants * period });
  }

  /** Advances data time to `t` and computes the steps that are due. */
  #pass(t: number): Found {
    this.load.passed(this.#dataTime, t);
    this.#dataTime = Math.max(this.#dataTime, t);
    // The last instant of a window may be this far from its end (`isReady`).
    if (this.#dataTime < this.#nextEnd - 1.5 * this.#longestPeriod) return NONE;
    this.#notePulse(this.#pulseSteps?.due(this.#dataTime));
    const readings: Reading[] = [];
    for (const steps of this.#steps)
      for (const end of steps.due(this.#dataTime)) readings.push(...this.#compute(steps, end));
    const blocks = this.#beatSteps?.due(this.#dataTime).map((end) => this.#blockAt(end)) ?? NONE.beats;
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const steps of this.#allSteps) this.#nextEnd = Math.min(this.#nextEnd, steps.next);
    return { readings, beats: filled(blocks) };
  }

  /** After a long loss computes the windows that still hold data; then, or after a very long run, begins again at `start`. */
  #restart(start: number): Found {
    const isAfterLoss = start - this.#dataTime > LONG_LOSS_S;
    if (!isAfterLoss && start - this.#base <= LONGEST_RUN_S) return NONE;
    const hadData = isAfterLoss && this.#dataTime > Number.NEGATIVE_INFINITY;
    const found = hadData ? this.#pass(this.#dataTime + LONGEST_WINDOW_S + LATE_S) : NONE;
    const last = filled(this.#lastBlocks());
    this.#reopen(Math.floor(start));
    for (const steps of this.#allSteps) steps.skipTo(start);
    return last.length > 0 ? joined(found, { readings: [], beats: last }) : found;
  }

  /** Restarts in the core, with its time beginning at `base`: no later window needs earlier data. */
  #reopen(base: number): void {
    if (base === this.#base) return;
    this.close();
    const sessions = openSets(this.load.core, this.sets);
    if (!sessions) throw new Error('the signal core has no free sessions, although as many were just released');
    this.#sessions = sessions;
    this.#base = base;
  }

  /** The block of beats that is final at a step. */
  #blockAt(end: number): BeatBlock {
    this.#findBeats(end);
    return this.#block(end - (LAG_BLOCKS + 1) * BLOCK_S);
  }

  /** The blocks after the one of the newest step: no data follow. */
  #lastBlocks(): readonly BeatBlock[] {
    if (!this.#beatSteps || this.#dataTime === Number.NEGATIVE_INFINITY) return NONE.beats;
    this.#findBeats(Math.floor(this.#dataTime));
    const { last } = this.#beatSteps;
    return Array.from({ length: LAG_BLOCKS + 1 }, (_, i) => this.#block(last - (LAG_BLOCKS - i) * BLOCK_S));
  }

  /** Lets the core find the beats up to the end of a window, which it does for every estimate. */
  #findBeats(end: number): void {
    const { algorithms = [] } = this.#beatSteps ?? {};
    this.#answer(
      algorithms.filter(({ set }) => end > (this.#ends[set] ?? Number.NEGATIVE_INFINITY)),
      end,
    );
  }

  /** Lets the core know in which of these seconds the light had a pulse. */
  #notePulse(ends: readonly number[] = []): void {
    for (const end of ends) this.#answer(this.#pulseSteps?.algorithms ?? [], end);
  }

  /** The core's answers for the windows of algorithms that end together. */
  #answer(algorithms: readonly SetAlgorithm<AnyAlgorithm>[], end: number): Answer[] {
    if (algorithms.length === 0) return [];
    const requests = algorithms.flatMap(({ algorithm: { estimator }, set }) => {
      this.#ends[set] = end;
      const session = this.#sessions[set];
      return session ? { session, estimator, end: end - this.#base } : [];
    });
    return this.load.time(() => this.load.core.answer(requests));
  }

  /** The beats of a block as far as they are known: of each source those of the channels where they are best. */
  #block(start: number): BeatBlock {
    const origin = this.#firstInstant ?? 0;
    const bySource = new Map<Beat['source'], readonly Beat[]>();
    for (const { algorithm, set } of this.#beatSteps?.algorithms ?? []) {
      const { source } = algorithm;
      const from = start - this.#base;
      const found = this.load.time(() => this.#sessions[set]?.beats(source, from, from + BLOCK_S) ?? []);
      const beats = found.map(({ t, quality }) => ({
        t: Math.round(10 * (origin + 1000 * (this.#base + t))) / 10,
        source,
        quality: Math.round(1000 * quality) / 1000,
      }));
      if (total(beats) > total(bySource.get(source) ?? [])) bySource.set(source, beats);
    }
    const beats = [...bySource.values()].flat().sort((a, b) => a.t - b.t);
    return { start: origin + 1000 * start, beats };
  }

  /** Estimates the windows of a type that end together, and chooses: a reading, or none that is new. */
  #compute(steps: TypeSteps, end: number, algorithms = steps.algorithms): Reading[] {
    const answers = this.#answer(algorithms, end);
    const windows = algorithms.map((each) => each.window(end));
    const found = windows.map((window, i) => this.#candidate(window, answers[i]?.estimate ?? null));
    this.#watch(steps, end, windows, answers, found);
    const chosen = mostConfident(found);
    if (!chosen) return [];
    const reading = this.#reading(chosen);
    const last = this.session.last[steps.type];
    return last && reading.actual_end <= last.actualEnd ? [] : [reading]; // A former owner of the session published it.
  }

  /** Notes whether a reading of these windows is trusted, or why none is. */
  #watch(
    { watch }: TypeSteps,
    end: number,
    windows: readonly DueWindow[],
    answers: readonly Answer[],
    found: readonly (Candidate | null)[],
  ): void {
    const before = watch.stated;
    const verdicts = windows.map((window, i) => {
      const confidence = round(found[i]?.confidence ?? 0, 3);
      const isTrusted = sqiClass(confidence) !== 'unfit';
      return isTrusted ? null : verdictOf(window, answers[i] ?? NO_ANSWER, confidence, this.session);
    });
    watch.note(this.#start, end, verdicts);
    if (watch.stated !== before) this.#listNoReadings();
  }

  #listNoReadings(): void {
    this.#noReadings = this.#steps.flatMap(({ watch }) => watch.stated ?? []);
  }

  /** Null without an estimate that is a number, or with too few data. */
  #candidate(window: DueWindow, estimate: Estimate | null): Candidate | null {
    if (!estimate || !isCovered(window)) return null;
    const { value, confidence } = window.algorithm.read(estimate, this.session);
    if (!Number.isFinite(value) || !Number.isFinite(confidence)) return null;
    const isDoubtful = window.doubtful || window.offRate || isOfGaps(value, window.gapRhythm);
    const { variability } = estimate;
    const trust = Math.min(1, Math.max(0, isDoubtful ? DOUBTFUL * confidence : confidence));
    return { window, value, confidence: trust, variability };
  }

  #reading({ window, value, confidence, variability }: Candidate): Reading {
    const { algorithm, end, coverage } = window;
    const actual_end = (this.#firstInstant ?? 0) + end * 1000;
    const rounded = round(confidence, 3);
    return {
      type: algorithm.type,
      value: round(value, 1),
      unit: UNITS[algorithm.type],
      session_id: this.session.id,
      device_id: this.session.deviceId,
      confidence: rounded,
      sqi_class: sqiClass(rounded),
      actual_start: actual_end - algorithm.windowS * 1000,
      actual_end,
      coverage: round(coverage, 4),
      algorithm: `${algorithm.slug}@${algorithm.version}`,
      ...(variability && { sdnn: round(variability.sdnn, 1), pnn50: round(variability.pnn50, 1) }),
    };
  }
}

/** Each algorithm in every set that has its channels, without those that an earlier set has already. */
function inSets<Of extends AnyAlgorithm>(
  algorithms: readonly Of[],
  sets: readonly (readonly AnalysedChannel[])[],
): SetAlgorithm<Of>[] {
  return algorithms.flatMap((algorithm) => {
    const own = sets.map((set) => channelsOf(algorithm, set));
    const isNew = (k: number) => !own.slice(0, k).some((earlier) => earlier.every((c, i) => c === own[k]?.[i]));
    return sets.flatMap((set, k) => {
      const required = algorithm.requires.map((oneOf) => ofModalities(set, oneOf));
      const beside = ofModalities(set, algorithm.uses ?? []);
      const isRunnable = required.every(({ length }) => length > 0) && isNew(k);
      return isRunnable ? new SetAlgorithm(algorithm, k, required, beside) : [];
    });
  });
}

/** The steps of each type. */
function typeSteps(algorithms: readonly SetAlgorithm[]): TypeSteps[] {
  const types = new Set(algorithms.map(({ algorithm }) => algorithm.type));
  return [...types].map(
    (type) =>
      new TypeSteps(
        type,
        algorithms.filter(({ algorithm }) => algorithm.type === type),
      ),
  );
}

/** All channels of a set that an algorithm looks at. */
function channelsOf({ requires, uses = [] }: AnyAlgorithm, set: readonly AnalysedChannel[]): AnalysedChannel[] {
  return ofModalities(set, [...requires.flat(), ...uses]);
}

/** The channels of a set that have one of the modalities, in the order of these. */
function ofModalities(set: readonly AnalysedChannel[], modalities: readonly Modality[]): AnalysedChannel[] {
  return modalities.flatMap((modality) => set.filter((channel) => channel.modality === modality));
}

/** The verdict on data that are too short for a window. */
function noWindow({ algorithms }: TypeSteps): Verdict {
  const [first] = algorithms;
  const silent = first?.channels.find(({ coverage }) => coverage.first === Number.POSITIVE_INFINITY);
  const reason = silent ? 'no_data' : 'too_little';
  return { reason, confidence: 0, algorithm: first?.algorithm.slug ?? '', seen: silentChannel(silent) };
}

/** The blocks that hold beats. */
function filled(blocks: readonly BeatBlock[]): readonly BeatBlock[] {
  return blocks.length > 0 ? blocks.filter(({ beats }) => beats.length > 0) : blocks;
}

/** The sum of the qualities of beats. */
function total(beats: readonly Beat[]): number {
  return beats.reduce((sum, { quality }) => sum + quality, 0);
}

function joined(one: Found, other: Found): Found {
  return { readings: [...one.readings, ...other.readings], beats: [...one.beats, ...other.beats] };
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
