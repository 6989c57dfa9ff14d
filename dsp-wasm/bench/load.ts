import { type CoreChannel, type CoreSession, ENCODING } from '../src/core.js';
import { payload, pulse, random } from '../src/signals.js';

/** The session of the benchmark: 850 samples a second, from eight seconds of signal that repeat without a jump. */

export const CHANNELS: readonly CoreChannel[] = [
  { modality: 'ppg_green', sampleRateHz: 100, numChannels: 1 },
  { modality: 'ppg_red', sampleRateHz: 100, numChannels: 1 },
  { modality: 'ppg_ir', sampleRateHz: 100, numChannels: 1 },
  { modality: 'ecg', sampleRateHz: 250, numChannels: 1 },
  { modality: 'accel', sampleRateHz: 100, numChannels: 3 },
];
export const LOOP_SECONDS = 8;

/** Kinds of input; all except `normal` are faults that must not cost more. */
export type Kind = 'normal' | 'zeros' | 'nan' | 'rails';

/** Values of each channel over LOOP_SECONDS, interleaved: 75 bpm, 15 breaths a minute, steps at 1.5 Hz. */
export function signals(): number[][] {
  const next = random(1);
  return CHANNELS.map(({ modality, sampleRateHz, numChannels }) =>
    Array.from({ length: LOOP_SECONDS * sampleRateHz * numChannels }, (_, i) => {
      const t = Math.floor(i / numChannels) / sampleRateHz;
      return valueAt(modality, t, i % numChannels) + noiseOf(modality) * next();
    }),
  );
}

const HEIGHT: Record<string, number> = { ppg_green: 900, ppg_red: 500, ppg_ir: 700 };

function valueAt(modality: string, t: number, axis: number): number {
  const breath = Math.sin(2 * Math.PI * 0.25 * t);
  const step = Math.sin(2 * Math.PI * 1.5 * t);
  if (modality === 'ecg') return 1000 * Math.exp(-((((1.25 * t) % 1) - 0.5) ** 2) / 2e-4) + 50 * breath;
  if (modality === 'accel') return (axis === 2 ? 1 : 0) + 0.1 * step * (axis + 1);
  return 100_000 - (HEIGHT[modality] ?? 0) * ((1 + 0.1 * breath) * pulse(1.25 * t) + 0.3 * step);
}

function noiseOf(modality: string): number {
  return modality === 'accel' ? 0.01 : 20;
}

/** Payloads by channel and second of the loop. */
export function payloads(kind: Kind): Uint8Array[][] {
  return signals().map((values, c) => {
    const perSecond = values.length / LOOP_SECONDS;
    const high = CHANNELS[c]?.modality === 'accel' ? 16 : 8_388_607;
    const faulty = values.map((v, i) => fault(kind, v, i, high));
    return Array.from({ length: LOOP_SECONDS }, (_, s) => payload(faulty.slice(s * perSecond, (s + 1) * perSecond)));
  });
}

function fault(kind: Kind, value: number, i: number, high: number): number {
  if (kind === 'zeros') return 0;
  if (kind === 'nan') return i % 3 === 0 ? Number.NaN : value;
  if (kind === 'rails') return Math.floor(i / 37) % 2 === 0 ? high : -high;
  return value;
}

/** Pushes one second of every channel. */
export function pushSecond(session: CoreSession, second: number, data: readonly Uint8Array[][]): void {
  for (let c = 0; c < CHANNELS.length; c++) {
    const bytes = data[c]?.[second % LOOP_SECONDS];
    if (bytes) session.push(c, second, 1 / (CHANNELS[c]?.sampleRateHz ?? 1), ENCODING.float32, bytes);
  }
}
