import { join } from 'node:path';
import type { Frame } from '@device-insights/sdk';
import { type Recording, readRecording } from '@device-insights/sdk/node';
import { readReference } from '../reference.js';
import { HZ, inBand, median, phaseOf, type Signal, slow, valueAt } from './signal.js';

/** The parts taken from a recording: its motion, the motion's artefacts in the optical channels, and the heart rate. */
export interface Source {
  readonly id: string;
  /** Acceleration of each axis, g. */
  readonly axes: readonly Signal[];
  /** The artefact that the motion caused, for each optical channel. */
  readonly artefacts: readonly Signal[];
  /** Heart rate, bpm. */
  readonly rate: Signal;
}

const LIGHTS: ReadonlySet<string> = new Set(['ppg', 'ppg_green', 'ppg_red', 'ppg_ir']);

/**
 * Reads a recording as a source of motion.
 *
 * @returns null if it has no optical channel, no accelerometer or no reference heart rate
 */
export async function readSource(folder: string, file: string): Promise<Source | null> {
  const { id, types, windows } = readReference(folder, file);
  const rates = windows.flatMap(({ end, values: { hr } }) =>
    hr === undefined ? [] : [{ at: end - WINDOW_S / 2, hr }],
  );
  if (!types.includes('hr') || rates.length === 0) return null;
  const recording = await readRecording(join(folder, file));
  const channels = await readChannels(recording);
  const lights = channels.flatMap(({ modality, signals }) => (LIGHTS.has(modality) ? signals : []));
  const axes = channels.find(({ modality }) => modality === 'accel')?.signals ?? [];
  if (lights.length === 0 || axes.length === 0) return null;
  const length = Math.min(...[...lights, ...axes].map((x) => x.length));
  const rate = courseOf(rates, length);
  return {
    id,
    axes: axes.map((x) => x.subarray(0, length)),
    artefacts: lights.map((x) => artefact(x.subarray(0, length), phaseOf(rate))),
    rate,
  };
}

/** Length of a reference's windows, s. */
const WINDOW_S = 8;

interface Channel {
  readonly modality: string;
  readonly signals: readonly Signal[];
}

async function readChannels({ deviceModel, frames }: Recording): Promise<Channel[]> {
  const samples = deviceModel.modality_channels.map(({ num_channels }) => ({
    times: [] as number[],
    values: Array.from({ length: num_channels }, () => [] as number[]),
  }));
  for await (const frame of frames()) {
    const into = samples[frame.channel];
    const channel = deviceModel.modality_channels[frame.channel];
    if (into && channel) append(into, frame, channel.sample_rate_hz);
  }
  return samples.map(({ times, values }, i) => ({
    modality: deviceModel.modality_channels[i]?.modality ?? '',
    signals: values.map((x) => evenly(times, x)),
  }));
}

interface Samples {
  readonly times: number[];
  readonly values: readonly number[][];
}

/** Samples with a missing value are left out in all sub-channels. */
function append({ times, values }: Samples, { ts, samples }: Frame, hz: number): void {
  for (let i = 0; i * values.length < samples.length; i++) {
    const instant = samples.subarray(i * values.length, (i + 1) * values.length);
    if (instant.some(Number.isNaN)) continue;
    times.push(ts / 1000 + i / hz);
    for (const [sub, column] of values.entries()) column.push(instant[sub] ?? 0);
  }
}

/** Samples interpolated linearly, at HZ per second from t = 0. */
function evenly(times: readonly number[], values: readonly number[]): Signal {
  const last = times.at(-1) ?? -1;
  let i = 0;
  return Float64Array.from({ length: Math.max(0, Math.floor(last * HZ) + 1) }, (_, n) => {
    while (i + 2 < times.length && (times[i + 1] ?? 0) <= n / HZ) i++;
    const [from = 0, to = 0] = [times[i], times[i + 1]];
    return valueAt(values, i + Math.max(0, Math.min(1, (n / HZ - from) / Math.max(to - from, 1e-9))));
  });
}

/** The reference rates, interpolated linearly. */
function courseOf(rates: readonly { at: number; hr: number }[], length: number): Signal {
  let i = 0;
  return Float64Array.from({ length }, (_, n) => {
    while (i + 2 < rates.length && (rates[i + 1]?.at ?? 0) <= n / HZ) i++;
    const [a, b] = [rates[i], rates[i + 1] ?? rates[i]];
    if (!a || !b) return Number.NaN;
    const share = b.at > a.at ? Math.max(0, Math.min(1, (n / HZ - a.at) / (b.at - a.at))) : 0;
    return a.hr + share * (b.hr - a.hr);
  });
}

/**
 * The signal of an optical channel without the spectral lines within about 6 bpm of the pulse's rate, its double and
 * its triple.
 */
function artefact(light: Signal, phase: Signal): Signal {
  const band = inBand(light);
  const most = 12 * 1.4826 * median(band.map(Math.abs));
  let rest = band.map((v) => Math.max(-most, Math.min(most, v)));
  for (const harmonic of [1, 2, 3]) {
    const re = slow(
      rest.map((v, i) => v * Math.cos(harmonic * (phase[i] ?? 0))),
      0.1,
    );
    const im = slow(
      rest.map((v, i) => -v * Math.sin(harmonic * (phase[i] ?? 0))),
      0.1,
    );
    rest = rest.map((v, i) => {
      const turn = harmonic * (phase[i] ?? 0);
      return v - 2 * ((re[i] ?? 0) * Math.cos(turn) - (im[i] ?? 0) * Math.sin(turn));
    });
  }
  return rest;
}
