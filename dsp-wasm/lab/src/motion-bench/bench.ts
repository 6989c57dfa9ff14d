import type { DeviceModelDraft, Frame, FrameSource } from '@device-insights/sdk';
import { personOf } from '../people.js';
import { manifestsIn } from '../reference.js';
import type { KnownSignal, Reference, ReferenceWindow } from '../score.js';
import { KINDS, type Kind, make, RUN } from './kinds.js';
import { Draws } from './random.js';
import { HZ, mean, type Signal } from './signal.js';
import { readSource, type Source } from './source.js';

/**
 * The motion bench: recordings whose heart rate is known exactly, generated from real ones (kinds.ts). It ranks
 * variants of the estimator in the same order as recordings of new people do; the recordings that the estimator was
 * tuned on do not.
 */

/** A generated recording and its true values. */
export interface BenchRecording extends KnownSignal {
  readonly kind: Kind;
}

/** How the names of the recordings begin whose motion this bench uses, and whose rest the rhythm bench. */
export const SOURCES = 'troika-';

/** Reads the recordings of a folder whose names begin with one of `prefixes`, as sources of motion. */
export async function readSources(folder: string, ...prefixes: string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const file of manifestsIn(folder).filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))) {
    const source = await readSource(folder, file);
    if (source) sources.push(source);
  }
  if (sources.length < 2)
    throw new Error(
      `${folder}: fewer than two recordings ${prefixes.join('* or ')}* with light, accelerometer and heart rate`,
    );
  return sources;
}

/** Generates a recording of each kind from each source; the same seed gives the same recordings. */
export function* motionBench(sources: readonly Source[], seed: number, pace = RUN): Generator<BenchRecording> {
  for (const [k, kind] of KINDS.entries()) {
    for (const [i, source] of sources.entries()) {
      const draws = new Draws(seed, k, i);
      const other = sources[(i + 1 + draws.below(sources.length - 1)) % sources.length] ?? source;
      const id = `${kind}-${source.id}-${seed}`;
      const made = make(kind, draws, source, other, pace);
      yield {
        kind,
        set: 'motion bench',
        people: [source, other].map((one) => personOf(one.id)),
        source: recordingOf(id, 'A synthetic pulse in real motion', { ppg_green: made.lights, accel: made.axes }),
        reference: referenceOf(id, made.rate.length / HZ, (from, to) => mean(made.rate.subarray(from * HZ, to * HZ))),
        curve: null,
      };
    }
  }
}

/** Length of a frame, s. */
const FRAME_S = 0.2;

/** A recording of signals, one channel for each modality, all at one sampling rate. */
export function recordingOf(
  id: string,
  description: string,
  signals: Readonly<Record<string, readonly Signal[]>>,
  rate = HZ,
): FrameSource {
  const deviceModel: DeviceModelDraft = {
    name: id,
    description,
    firmware_version: '1',
    modality_channels: Object.entries(signals).map(([modality, { length }]) => ({
      modality,
      sample_rate_hz: rate,
      bit_depth: 32,
      num_channels: length,
    })),
  };
  return { id, deviceModel, frames: () => frames(Object.values(signals), rate) };
}

function* frames(channels: readonly (readonly Signal[])[], rate: number): Generator<Frame> {
  const size = Math.round(FRAME_S * rate);
  const length = channels[0]?.[0]?.length ?? 0;
  for (let seq = 0; seq < length; seq += size) {
    const count = Math.min(size, length - seq);
    for (const [channel, signals] of channels.entries()) {
      const samples = new Float64Array(count * signals.length);
      signals.forEach((x, sub) => {
        for (let i = 0; i < count; i++) samples[i * signals.length + sub] = x[seq + i] ?? 0;
      });
      yield { channel, seq, ts: (1000 * seq) / rate, samples, at: (1000 * (seq + count - 1)) / rate };
    }
  }
}

/** Windows of a reference, and the step from the end of one to the next, s. */
const WINDOW_S = 8;
const EVERY_S = 2;

/** @param rate the heart rate of the window from one time to another, s */
export function referenceOf(id: string, seconds: number, rate: (from: number, to: number) => number): Reference {
  const windows: ReferenceWindow[] = [];
  for (let end = WINDOW_S; end <= seconds; end += EVERY_S)
    windows.push({ end, values: { hr: rate(end - WINDOW_S, end) } });
  return { id, seconds, types: ['hr'], windows };
}
