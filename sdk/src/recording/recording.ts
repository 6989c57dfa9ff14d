import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Frame, FrameSource } from '../device/frame.js';
import type { NewModalityChannel } from '../generated/types.gen.js';
import { type Row, readFault, readRows, type TimeColumn } from './csv.js';
import { parseManifest, RecordingError, type RecordingManifest, type RecordingStream } from './manifest.js';
import { packets } from './packets.js';

/** A recording on disk: a source of frames whose times are in ms from the recording's t = 0. */
export interface Recording extends FrameSource {
  /** Its checked manifest. */
  readonly manifest: RecordingManifest;
  frames(): AsyncIterable<Frame>;
}

/** Maximum data time of a frame whose rows have stamps of their own, ms. */
const FRAME_MS = 200;
/**
 * Maximum difference of a row's stamp from the one that the frame's first stamp and the nominal rate predict, ms.
 */
const STAMP_TOLERANCE_MS = 0.5;
/** If t does not advance for this much data time, its clock was set back or wrapped; less is jitter, ms. */
const BACK_MS = 1000;
/** The column of the stamps that RECORDINGS.md requires. */
const T: TimeColumn = { name: 't', seconds: 1 };

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
  return recordingOf(parseManifest(text, path), dirname(path), T);
}

/** The recording of a manifest whose files are in a folder. */
export function recordingOf(manifest: RecordingManifest, folder: string, time: TimeColumn): Recording {
  return {
    id: manifest.id,
    deviceModel: manifest.deviceModel,
    manifest,
    frames: () => merge(streams(manifest, folder, time)),
  };
}

function streams(manifest: RecordingManifest, folder: string, time: TimeColumn): AsyncGenerator<Frame>[] {
  return manifest.streams.map((stream) => {
    const channel = manifest.deviceModel.modality_channels[stream.channel];
    if (!channel) throw new Error(`stream of unknown channel ${stream.channel}`);
    return readFrames(stream, channel, join(folder, stream.file), time);
  });
}

/**
 * One channel's frames. If a stamp differs from the one predicted by the rows before it, the rows are sent one by one,
 * each with its own stamp. A packet is one frame: the times of its rows follow from the stamps of all packets and the
 * sample rate.
 */
async function* readFrames(
  stream: RecordingStream,
  channel: NewModalityChannel,
  file: string,
  time: TimeColumn,
): AsyncGenerator<Frame> {
  const periodMs = 1000 / channel.sample_rate_hz;
  const most = Math.max(1, Math.floor(FRAME_MS / periodMs));
  const arrival = new Arrival(periodMs);
  let rows: Row[] = [];
  let seq = 0;
  const frame = (of: readonly Row[], isPacket = false): Frame => {
    const made = makeFrame(stream.channel, seq, of, arrival.of(of, isPacket));
    seq += of.length;
    return made;
  };
  for await (const { rows: next, isPacket } of packets(readRows(file, stream.columns, time), periodMs, file, time)) {
    if (isPacket) {
      if (rows.length > 0) yield frame(rows);
      yield frame(next, isPacket);
      rows = [];
      continue;
    }
    for (const row of next) {
      const regular = isRegular(rows, row, periodMs);
      if (!regular || rows.length >= most) {
        yield* regular ? [frame(rows)] : rows.map((one) => frame([one]));
        rows = [];
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) yield frame(rows);
}

/** Whether a row's stamp is as the first of `rows` and the nominal rate predict. */
function isRegular(rows: readonly Row[], row: Row, periodMs: number): boolean {
  const first = rows[0];
  return !first || Math.abs(millis(row.t) - millis(first.t) - rows.length * periodMs) <= STAMP_TOLERANCE_MS;
}

function makeFrame(channel: number, seq: number, rows: readonly Row[], at: number): Frame {
  const ts = millis(rows[0]?.t ?? Number.NaN);
  const samples = Float64Array.from(rows.flatMap((row) => row.values));
  return { channel, seq, ts, samples, at, row: rows[0]?.line ?? 0 };
}

/** Times at which a channel's frames are complete: those of the stamps, and never back, even where the stamps go back. */
class Arrival {
  /** Added to the stamps since they went back, ms. */
  #shift = 0;
  /** The newest shifted stamp, and the nominal time of the rows since it, ms. */
  #newest = Number.NEGATIVE_INFINITY;
  #since = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(readonly periodMs: number) {}

  /** The time at which the frame of these rows is complete. */
  of(rows: readonly Row[], isPacket: boolean): number {
    const first = millis(rows[0]?.t ?? 0);
    const last = isPacket ? first + (rows.length - 1) * this.periodMs : millis(rows.at(-1)?.t ?? 0);
    const isNewer = first + this.#shift > this.#newest;
    const isBack = !isNewer && this.#since > BACK_MS;
    if (isBack) this.#shift = this.#newest + this.#since - first;
    if (isNewer || isBack) {
      this.#newest = first + this.#shift;
      this.#since = 0;
    }
    this.#since += rows.length * this.periodMs;
    this.#at = Math.max(this.#at, last + this.#shift);
    return this.#at;
  }
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
