import { createHash } from 'node:crypto';
import { createCore } from '@device-insights/dsp-wasm';
import { encodeFrame, type FrameSource } from '@device-insights/sdk';
import type { Analysis, RPeak } from '../analysis/analysis.js';
import { CoreLoad } from '../analysis/core-load.js';
import { createAnalyses } from '../analysis/session-analysis.js';
import { decodeBinary } from '../ingest/frame.js';
import { Intake, NO_PROGRESS } from '../ingest/intake.js';
import { publishedAt, type Reading, type StoredInsight } from '../insight.js';
import type { ModalityChannel } from '../store/store.js';

/** Interval at which gaps are checked, ms of data time; as the ingest socket does. */
const TICK_MS = 500;

/**
 * Runs a source through the session pipeline as fast as possible: its frames, as a device would send them, are
 * received, put in order and analysed by the same code as live ones. Times are those of the source: its t = 0 is 0 ms.
 *
 * @param spo2Curve a, b[, c] of SpO2 = a + b R + c R²; null uses the curve of the device model, if it has one
 * @param load a core, and the count of its cost
 * @returns insights in the stored form with `ts` = `actual_end`, the same on every run
 * @throws RecordingError if the source cannot be read
 */
export async function* analyseOffline(
  source: FrameSource,
  spo2Curve: readonly number[] | null,
  load?: CoreLoad,
): AsyncGenerator<StoredInsight> {
  const readings: Reading[] = [];
  const curve = spo2Curve ?? modelCurve(source);
  const runs = runOffline(source, curve, load ?? (await oneSession()), (reading) => readings.push(reading));
  for await (const _ of runs) for (const reading of readings.splice(0)) yield publishedAt(reading, reading.actual_end);
}

/** The R peaks of a source's ECG channels, found by the same pipeline; `t` in ms, where the source's t = 0 is 0. */
export async function* peaksOffline(source: FrameSource): AsyncGenerator<RPeak> {
  for await (const analysis of runOffline(source, null, await oneSession(), () => undefined))
    yield* analysis.readPeaks();
}

/** Yields the analysis after every frame and at the end. */
async function* runOffline(
  source: FrameSource,
  spo2Curve: readonly number[] | null,
  load: CoreLoad,
  emit: (reading: Reading) => void,
): AsyncGenerator<Analysis> {
  const channels = identified(source);
  const analysis = openAnalysis(source, channels, spo2Curve, load, emit);
  const clock = { time: 0, now: () => clock.time, monotonic: () => clock.time };
  const intake = new Intake({ channels, clock, progress: NO_PROGRESS, push: (run) => analysis.push(run) });
  let nextTick = Number.NEGATIVE_INFINITY;
  try {
    for await (const frame of source.frames()) {
      clock.time = frame.at;
      if (frame.at >= nextTick) {
        intake.tick();
        nextTick = frame.at + TICK_MS;
      }
      receive(intake, encodeFrame(frame), channels);
      yield analysis;
    }
    intake.flush();
    analysis.end();
    yield analysis;
  } finally {
    analysis.close();
  }
}

/** A core for one session. */
export async function oneSession(): Promise<CoreLoad> {
  return new CoreLoad(await createCore({ maxSessions: 1 }));
}

function openAnalysis(
  source: FrameSource,
  channels: readonly ModalityChannel[],
  spo2Curve: readonly number[] | null,
  load: CoreLoad,
  emit: (reading: Reading) => void,
): Analysis {
  const sessionId = nameUuid(`${source.id}/session`);
  const analysis = createAnalyses(load)({
    sessionId,
    deviceId: source.id,
    channels,
    spo2Curve,
    algorithms: null,
    firstInstant: null,
    last: {},
    emit,
  });
  if (!analysis) throw new Error('the signal core has no room for a session');
  return analysis;
}

/** A recording's time may begin anywhere. */
const NO_EARLIEST = Number.NEGATIVE_INFINITY;

/** A refused frame changes nothing, as live, where the device gets an error. */
function receive(intake: Intake, bytes: Uint8Array, channels: readonly ModalityChannel[]): void {
  const frame = decodeBinary(bytes, channels, NO_EARLIEST);
  if (!('fault' in frame)) intake.receive(frame);
}

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

/** Namespace of this project's offline analyses (RFC 9562, 5.5); any fixed UUID would do. */
const NAMESPACE = Buffer.from('6f0e3a52c1d94b0f8a7e2b9d5c4f1e08', 'hex');

/** A UUID of version 5 from a name (RFC 9562, 5.5): the same name gives the same UUID. */
export function nameUuid(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
