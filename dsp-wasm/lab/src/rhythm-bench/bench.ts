import { recordingOf, referenceOf } from '../motion-bench/bench.js';
import { calm } from '../motion-bench/kinds.js';
import { Draws } from '../motion-bench/random.js';
import { deviation, HZ, type Signal } from '../motion-bench/signal.js';
import type { Source } from '../motion-bench/source.js';
import { personOf } from '../people.js';
import type { KnownSignal } from '../score.js';
import { type Beat, beatsOf, RHYTHMS, type Rhythm } from './rhythms.js';
import { electricWave, pulseWave } from './waves.js';

/**
 * The rhythm bench: recordings at rest of hearts that beat irregularly, with PPG or with ECG, generated from models of the
 * rhythm (rhythms.ts) and of the signals (waves.ts). The noise of the optical channel is that of real wrists which move
 * little; there is no accelerometer.
 */

/** A generated recording and its true values. */
export interface RhythmRecording extends KnownSignal {
  readonly rhythm: Rhythm;
  /** Its heartbeats. */
  readonly beats: readonly Beat[];
}

const SECONDS = 150;
/** Noise of the optical channel against the pulse, dB. */
const NOISE_DB = [-26, -12] as const;

/** Generates two recordings, PPG and ECG, of each rhythm for each source; the same seed gives the same recordings. */
export function* rhythmBench(sources: readonly Source[], seed: number): Generator<RhythmRecording> {
  for (const [k, rhythm] of RHYTHMS.entries()) {
    for (const [i, source] of sources.entries()) {
      const draws = new Draws(seed, 100 + k, i);
      const beats = beatsOf(rhythm, draws, SECONDS);
      const id = `${rhythm}-${source.id}-${seed}`;
      const common = { rhythm, beats, set: 'rhythm bench', people: [personOf(source.id)], curve: null };
      yield { ...common, ...made(`${id}-ppg`, beats, { ppg: [noisyPulse(draws, beats, source)] }) };
      yield { ...common, ...made(`${id}-ecg`, beats, { ecg: [electricWave(draws, beats, SECONDS * HZ)] }) };
    }
  }
}

function made(
  id: string,
  beats: readonly Beat[],
  signals: Readonly<Record<string, readonly Signal[]>>,
): Pick<KnownSignal, 'source' | 'reference'> {
  const rate = (from: number, to: number) => rateOf(beats.filter(({ time }) => time > from && time <= to));
  return {
    source: recordingOf(id, 'Heartbeats that are made', signals),
    reference: referenceOf(id, SECONDS, rate),
  };
}

/** The mean heart rate of beats, bpm. */
function rateOf(beats: readonly Beat[]): number {
  const [first, last] = [beats[0], beats.at(-1)];
  return first && last && last !== first ? (60 * (beats.length - 1)) / (last.time - first.time) : Number.NaN;
}

function noisyPulse(draws: Draws, beats: readonly Beat[], source: Source): Signal {
  const pulse = pulseWave(draws, beats, SECONDS * HZ);
  const noise = calm(source, SECONDS * HZ).artefacts[0] ?? new Float64Array(SECONDS * HZ);
  const scale = (10 ** (draws.uniform(...NOISE_DB) / 20) * deviation(pulse)) / deviation(noise);
  return pulse.map((v, i) => 100 * (v + scale * (noise[i] ?? 0)));
}
