import type { Core, CoreChannel, CoreSession, Estimate, Estimator } from './core.js';
import { ENCODING } from './core.js';

/** Signals for tests and benchmarks, and the exported kernels (assembly/kernels.ts). */

export interface KernelCalls {
  grid(index: number, channel: number, sub: number, from: number, count: number, end: number): number;
  fft4(n: number, padded: number): number;
  filter8(count: number): void;
}

/** A new session. @throws Error if the core is full */
export function opened(core: Core, channels: readonly CoreChannel[]): CoreSession {
  const session = core.open(channels);
  if (!session) throw new Error('the core is full');
  return session;
}

/** Numbers in [-1, 1), the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

export function noise(n: number, seed: number): number[] {
  const next = random(seed);
  return Array.from({ length: n }, () => next());
}

/** A photoplethysmogram's pulse at `phase` in beats: a systolic wave and its reflection, height about one. */
export function pulse(phase: number): number {
  const p = phase - Math.floor(phase);
  return Math.exp(-(((p - 0.25) / 0.1) ** 2)) + 0.4 * Math.exp(-(((p - 0.55) / 0.13) ** 2));
}

/** Pulses at `bpm` on a level of `dc` counts, amplitude `ac`. */
export function ppg(seconds: number, hz: number, bpm: number, dc = 100_000, ac = 500): number[] {
  return Array.from({ length: Math.floor(seconds * hz) }, (_, i) => dc - ac * pulse((i / hz) * (bpm / 60)));
}

/** float32 payload of interleaved values. */
export function payload(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/** Pushes evenly spaced values from t = 0. */
export function pushAll(session: CoreSession, channel: number, hz: number, values: readonly number[]): number {
  return session.push(channel, 0, 1 / hz, ENCODING.float32, payload(values));
}

/** What a session answers that gets its channels second by second: for each second the estimate that ends then, or null before `first`. */
export function streamed(
  core: Core,
  channels: readonly CoreChannel[],
  data: readonly (readonly number[])[],
  estimator: Estimator,
  { seconds = 0, first = 1 }: { readonly seconds?: number; readonly first?: number } = {},
): (Estimate | null)[] {
  const session = opened(core, channels);
  const perSecond = channels.map(({ sampleRateHz, numChannels }) => sampleRateHz * numChannels);
  const last = seconds || Math.floor(Math.max(...data.map((x, c) => x.length / (perSecond[c] ?? 1))));
  const estimates: (Estimate | null)[] = [null];
  for (let end = 1; end <= last; end++) {
    for (const [c, { sampleRateHz }] of channels.entries()) {
      const values = data[c]?.slice((end - 1) * (perSecond[c] ?? 1), end * (perSecond[c] ?? 1)) ?? [];
      session.push(c, end - 1, 1 / sampleRateHz, ENCODING.float32, payload(values));
    }
    estimates.push(end < first ? null : (core.step([{ session, estimator, end }])[0] ?? null));
  }
  session.close();
  return estimates;
}

export const isTrusted = (estimate: Estimate | null | undefined): boolean => (estimate?.confidence ?? 0) >= 0.5;

/** The trusted estimates that are off by more than `most`. */
export function wrongOf(estimates: readonly (Estimate | null)[], truth: number, most = 10): (Estimate | null)[] {
  return estimates.filter((e) => isTrusted(e) && Math.abs((e?.value ?? truth) - truth) > most);
}

/** The rate of the beats at ascending times after `from` and up to `to`, s: per minute. */
export function rateIn(times: readonly number[], from: number, to: number): number {
  const own = times.filter((time) => time > from && time <= to);
  return (60 * (own.length - 1)) / ((own.at(-1) ?? 0) - (own[0] ?? 0));
}
