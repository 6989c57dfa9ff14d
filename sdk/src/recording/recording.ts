import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModalityChannel } from '../device/device-model.js';
import type { Frame, FrameSource } from '../device/frame.js';
import { type Row, readFault, readRows } from './csv.js';
import { parseManifest, RecordingError, type RecordingManifest, type RecordingStream } from './manifest.js';

/** A recording on disk: a source of frames whose times are in ms from the recording's t = 0. */
export interface Recording extends FrameSource {
  /** Its checked manifest. */
  readonly manifest: RecordingManifest;
  frames(): AsyncIterable<Frame>;
}

/** Longest data time of a frame, ms. */
const FRAME_MS = 200;
/** Rows at the beginning of a file whose steps show the unit of t. */
const CHECKED_ROWS = 10;
/**
 * Most by which a row's stamp may differ from the one that the frame's first stamp and the nominal rate predict, ms.
 */
const STAMP_TOLERANCE_MS = 0.5;

/**
 * Opens a recording (RECORDINGS.md). Its samples are read while `frames()` is iterated, so its size does not matter.
 *
 * @param path its `ID.json`; the CSV files are expected beside it
 * @throws RecordingError for a malformed or missing file, here or while iterating
 */
export async function readRecording(path: string): Promise<Recording> {
  if (path === '') throw new RecordingError('the path of a recording is empty: give that of its ID.json');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  const manifest = parseManifest(text, path);
  return {
    id: manifest.id,
    deviceModel: manifest.deviceModel,
    manifest,
    frames: () => merge(streams(manifest, dirname(path))),
  };
}

function streams(manifest: RecordingManifest, folder: string): AsyncGenerator<Frame>[] {
  return manifest.streams.map((stream) => {
    const channel = manifest.deviceModel.modality_channels[stream.channel];
    if (!channel) throw new Error(`stream of unknown channel ${stream.channel}`);
    return readFrames(stream, channel, folder);
  });
}

/**
 * One channel's frames. If a stamp differs from the one predicted by the rows before it, the rows are sent one by one,
 * each with its own stamp.
 */
async function* readFrames(stream: RecordingStream, channel: ModalityChannel, folder: string): AsyncGenerator<Frame> {
  const periodMs = 1000 / channel.sample_rate_hz;
  const most = Math.max(1, Math.floor(FRAME_MS / periodMs));
  let rows: Row[] = [];
  let seq = 0;
  const file = join(folder, stream.file);
  for await (const row of inSeconds(readRows(file, stream.columns), periodMs, file)) {
    const regular = isRegular(rows, row, periodMs);
    if (!regular || rows.length >= most) {
      yield* regular
        ? [makeFrame(stream.channel, seq, rows)]
        : rows.map((one, i) => makeFrame(stream.channel, seq + i, [one]));
      seq += rows.length;
      rows = [];
    }
    rows.push(row);
  }
  if (rows.length > 0) yield makeFrame(stream.channel, seq, rows);
}

/**
 * The rows, whose stamps are in seconds.
 *
 * @throws RecordingError where the first steps between them are a thousand times too long, as of stamps in ms
 */
async function* inSeconds(rows: AsyncIterable<Row>, periodMs: number, file: string): AsyncGenerator<Row> {
  let first: Row[] = [];
  for await (const row of rows) {
    if (first.length < CHECKED_ROWS) first.push(row);
    if (first.length === CHECKED_ROWS) {
      checkUnit(first, periodMs, file);
      yield* first;
      first = [];
      yield* rows;
      return;
    }
  }
  checkUnit(first, periodMs, file);
  yield* first;
}

function checkUnit(rows: readonly Row[], periodMs: number, file: string): void {
  const steps = rows.slice(1).map(({ t }, i) => (t - (rows[i]?.t ?? t)) / periodMs);
  if (steps.length > 1 && steps.every((step) => step > 0.5 && step < 2))
    throw new RecordingError(`${file}: the column t is in milliseconds; it must be in seconds`);
}

/** Whether a row's stamp is as the first of `rows` and the nominal rate predict. */
function isRegular(rows: readonly Row[], row: Row, periodMs: number): boolean {
  const first = rows[0];
  return !first || Math.abs(millis(row.t) - millis(first.t) - rows.length * periodMs) <= STAMP_TOLERANCE_MS;
}

function makeFrame(channel: number, seq: number, rows: readonly Row[]): Frame {
  const ts = millis(rows[0]?.t ?? Number.NaN);
  const at = Math.max(...rows.map((row) => millis(row.t)));
  return { channel, seq, ts, samples: Float64Array.from(rows.flatMap((row) => row.values)), at };
}

/** Seconds to ms, without the noise of binary fractions. */
function millis(seconds: number): number {
  return Math.round(seconds * 1e9) / 1e6;
}

/** Merges the channels' frames by `at`, channels of the same moment in the order of the manifest. */
async function* merge(channels: readonly AsyncGenerator<Frame>[]): AsyncGenerator<Frame> {
  const heads = await Promise.all(channels.map(async (frames) => ({ frames, head: await frames.next() })));
  try {
    for (;;) {
      let first: (typeof heads)[number] | undefined;
      for (const one of heads)
        if (!one.head.done && (!first || first.head.done || one.head.value.at < first.head.value.at)) first = one;
      if (!first || first.head.done) return;
      yield first.head.value;
      first.head = await first.frames.next();
    }
  } finally {
    await Promise.all(channels.map((frames) => frames.return(undefined)));
  }
}
