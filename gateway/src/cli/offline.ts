import { createCore } from '@device-insights/dsp-wasm';
import { encodeFrame, type FrameSource, type Frame as SourceFrame } from '@device-insights/sdk';
import { ALGORITHMS } from '../analysis/algorithms.js';
import { type Analysis, type Found, openAnalysis, type RPeak } from '../analysis/analysis.js';
import { CoreLoad } from '../analysis/core-load.js';
import { BYTES_PER_SAMPLE, type SampleRun } from '../analysis/sample-run.js';
import type { Beat } from '../beat.js';
import { decodeBinary } from '../ingest/frame.js';
import { Intake, NO_PROGRESS } from '../ingest/intake.js';
import { LATE, Notices, notAnalysed } from '../ingest/notices.js';
import { AT_REST, type InsightType, publishedAt, type Reading, type StoredInsight } from '../insight.js';
import type { ModalityChannel } from '../store/store.js';
import { nameUuid } from '../uuid.js';
import { type Finding, Findings, type Place, type Problem } from './findings.js';

/** Interval at which gaps are checked, ms of data time; as the ingest socket does. */
const TICK_MS = 500;

export { ALGORITHMS } from '../analysis/algorithms.js';
export { CoreLoad } from '../analysis/core-load.js';
export type { InsightType, StoredInsight } from '../insight.js';

/** The messages that the device would have received, and the types without readings. */
export interface Outcome {
  /** Notices and refused frames, in the order in which they start. */
  readonly findings: readonly Finding[];
  /** The types among hr, spo2 and rr that the channels allow and that have no reading up to the end of the data. */
  readonly silences: readonly Silence[];
}

export interface Silence {
  readonly type: InsightType;
  /** End of the last reading's window, ms; null: there is none. */
  readonly after: number | null;
  /** End of the data, ms. */
  readonly end: number;
}

/**
 * Runs a source through the session pipeline as fast as possible: its frames, as a device would send them, are
 * received, put in order and analysed by the same code as live ones. Times are those of the source: its t = 0 is 0 ms.
 *
 * @param spo2Curve a, b[, c] of SpO2 = a + b R + c R²; null uses the curve of the device model, if it has one
 * @param load a core, and the count of its cost
 * @returns insights in the stored form with `ts` = `actual_end`, the same on every run; at the end the outcome
 * @throws RecordingError if the source cannot be read
 */
export async function* analyseOffline(
  source: FrameSource,
  spo2Curve: readonly number[] | null,
  load?: CoreLoad,
): AsyncGenerator<StoredInsight, Outcome> {
  const last = new Map<InsightType, number>();
  const run = new OfflineRun(source, spo2Curve ?? modelCurve(source), load ?? (await oneSession()));
  for await (const _ of run.analyses())
    for (const reading of run.takeReadings()) {
      last.set(reading.type, reading.actual_end);
      yield publishedAt(reading, reading.actual_end);
    }
  const silences = [...windowsOf(source)].flatMap(([type, windowMs]) => {
    const after = last.get(type) ?? null;
    return after !== null && after >= run.end - windowMs ? [] : [{ type, after, end: run.end }];
  });
  return { findings: run.findings, silences };
}

/**
 * The R peaks of a source's ECG channels, found by the same pipeline; `t` in ms, where the source's t = 0 is 0. At the
 * end the findings.
 */
export async function* peaksOffline(source: FrameSource): AsyncGenerator<RPeak, readonly Finding[]> {
  const run = new OfflineRun(source, null, await oneSession());
  for await (const analysis of run.analyses()) yield* analysis.readPeaks();
  return run.findings;
}

/** The beats of a source, found by the same pipeline; `t` in ms, where the source's t = 0 is 0. At the end the findings. */
export async function* beatsOffline(source: FrameSource): AsyncGenerator<Beat, readonly Finding[]> {
  const run = new OfflineRun(source, null, await oneSession());
  for await (const _ of run.analyses()) yield* run.takeBeats();
  return run.findings;
}

/** The types among hr, spo2 and rr that the source's channels allow, each with its longest window, ms. */
function windowsOf({ deviceModel: { modality_channels } }: FrameSource): Map<InsightType, number> {
  const modalities = new Set<string>(modality_channels.map(({ modality }) => modality));
  const windows = new Map<InsightType, number>();
  for (const { type, windowS, requires } of ALGORITHMS)
    if (!AT_REST.has(type) && requires.every((oneOf) => oneOf.some((modality) => modalities.has(modality))))
      windows.set(type, Math.max(1000 * windowS, windows.get(type) ?? 0));
  return windows;
}

/** One run of a source through the session pipeline. */
class OfflineRun {
  readonly #channels: readonly ModalityChannel[];
  readonly #analysis: Analysis;
  readonly #intake: Intake;
  readonly #notices: Notices;
  readonly #findings = new Findings();
  #readings: Reading[] = [];
  #beats: Beat[] = [];
  #time = 0;
  #place: Place = { row: null, t: null };
  #end = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly source: FrameSource,
    spo2Curve: readonly number[] | null,
    load: CoreLoad,
  ) {
    const channels = identified(source);
    const clock = { now: () => this.#time, monotonic: () => this.#time };
    const notices = new Notices(clock, (notice) => this.#find(notice));
    this.#notices = notices;
    this.#channels = channels;
    this.#analysis = analysisOf(source, channels, spo2Curve, load);
    this.#intake = new Intake({ channels, clock, progress: NO_PROGRESS, notices });
    const modalities = this.#analysis.lacking;
    if (modalities) notices.raise('not_analysed', null, { detail: notAnalysed(modalities), modalities });
  }

  get findings(): readonly Finding[] {
    return this.#findings.all;
  }

  /** Data time of the newest instant, ms. */
  get end(): number {
    return this.#end;
  }

  takeReadings(): Reading[] {
    return this.#readings.splice(0);
  }

  takeBeats(): Beat[] {
    return this.#beats.splice(0);
  }

  /** Yields the analysis after every frame and at the end. */
  async *analyses(): AsyncGenerator<Analysis> {
    let nextTick = Number.NEGATIVE_INFINITY;
    try {
      for await (const frame of this.source.frames()) {
        this.#time = frame.at;
        if (frame.at >= nextTick) {
          this.#analyse(this.#intake.tick() ?? []);
          nextTick = frame.at + TICK_MS;
        }
        this.#receive(frame);
        yield this.#analysis;
      }
      this.#analyse(this.#intake.flush());
      this.#keep(this.#analysis.end());
      this.#notices.tellNoReadings(this.#analysis.noReadings);
      yield this.#analysis;
    } finally {
      this.#analysis.close();
    }
  }

  /** A refused frame changes nothing, as live, where the device gets an error. */
  #receive(frame: SourceFrame): void {
    const { channel, ts, row = null } = frame;
    this.#place = { row, t: Number.isNaN(ts) ? null : Number((ts / 1000).toFixed(6)) };
    const decoded = decodeBinary(encodeFrame(frame), this.#channels, NO_EARLIEST);
    const runs = 'fault' in decoded ? decoded : this.#intake.receive(decoded);
    if ('fault' in runs) this.#find({ code: runs.fault, channel, detail: runs.detail });
    else this.#analyse(runs);
  }

  #analyse(runs: readonly SampleRun[]): void {
    for (const run of runs) this.#push(run);
  }

  #push(run: SampleRun): void {
    const { channel, t, period, encoding, payload } = run;
    const width = BYTES_PER_SAMPLE[encoding] * (this.#channels[channel]?.num_channels ?? 1);
    this.#end = Math.max(this.#end, t + (payload.length / width) * period);
    const { isLate, ...found } = this.#analysis.push(run);
    this.#keep(found);
    this.#notices.tell('channel_late', channel, isLate ? LATE : null);
    this.#notices.tellNoReadings(this.#analysis.noReadings);
  }

  #keep({ readings, beats }: Found): void {
    this.#readings.push(...readings);
    for (const block of beats) this.#beats.push(...block.beats);
  }

  #find(problem: Problem): void {
    this.#findings.add(problem, this.#place, this.#time);
  }
}

/** A core for one session. */
export async function oneSession(): Promise<CoreLoad> {
  return new CoreLoad(await createCore({ maxSessions: 1 }));
}

function analysisOf(
  source: FrameSource,
  channels: readonly ModalityChannel[],
  spo2Curve: readonly number[] | null,
  load: CoreLoad,
): Analysis {
  const analysis = openAnalysis(load, {
    id: nameUuid(`${source.id}/session`),
    deviceId: source.id,
    channels,
    spo2Curve,
    algorithms: null,
    progress: { firstInstant: null },
    last: {},
  });
  if (!analysis) throw new Error('the signal core has no room for a session');
  return analysis;
}

/** A recording's time may begin anywhere. */
const NO_EARLIEST = Number.NEGATIVE_INFINITY;

function modelCurve({ deviceModel: { spo2_calibration: curve } }: FrameSource): readonly number[] | null {
  return curve ? [curve.a, curve.b, curve.c ?? 0] : null;
}

/** The channels of the source's device model, each with an identifier as a store would assign it. */
function identified({ id, deviceModel }: FrameSource): ModalityChannel[] {
  return deviceModel.modality_channels.map((channel, index) => ({
    ...channel,
    ch_id: nameUuid(`${id}/channel/${index}`),
  }));
}
