import { join } from 'node:path';
import { readRecording } from '@device-insights/sdk/node';
import { CURVE, extremesBench, type Kind, SECONDS } from '../extremes-bench/bench.js';
import { motionBench, readSources, SOURCES } from '../motion-bench/bench.js';
import { CALM, FAST, RUN } from '../motion-bench/kinds.js';
import { personOf } from '../people.js';
import { curveOf, manifestsIn, readReference } from '../reference.js';
import { breathlessBench, restBench } from '../rest-bench/bench.js';
import { oxygenBench } from '../rest-bench/oxygen.js';
import { rhythmBench } from '../rhythm-bench/bench.js';
import { type KnownSignal, type Reference, setOf } from '../score.js';
import { noiseBench } from './noise.js';

/** What the weights are fitted on: the recordings of a folder, and made ones whose seeds no page uses. */
export type Signal = KnownSignal;

/** Seeds of the motion bench, each with the set whose motion it has, and its pace. */
const MOTION = [
  { set: SOURCES, seed: 4011, pace: RUN },
  { set: SOURCES, seed: 4012, pace: CALM },
  { set: SOURCES, seed: 4013, pace: FAST },
  { set: 'spc-', seed: 4021, pace: RUN },
  { set: 'wrist-', seed: 4031, pace: RUN },
] as const;
const RHYTHM_SEED = 4041;
export const RHYTHM_SET = 'rhythm bench';
const EXTREMES_SEED = 4051;
const REST_SEED = 4061;
const BREATHLESS_SEED = 4071;
const OXYGEN_SEED = 4081;
const NOISE_SEED = 4091;
const NOISE_COUNT = 40;
/** Recordings of each sensor of the rest bench, of those without a breath, which are rare, and of the oxygen bench. */
const [REST_COUNT, BREATHLESS_COUNT, OXYGEN_COUNT] = [150, 50, 500];

/** @param inMotion whether those of the motion bench are wanted, which take long to make */
export async function* signals(folder: string, inMotion: boolean): AsyncGenerator<Signal> {
  yield* recorded(folder);
  yield* benches(folder, inMotion);
}

/** The recordings of a folder that have a reference. */
export async function* recorded(folder: string): AsyncGenerator<Signal> {
  for (const file of manifestsIn(folder)) {
    const reference = readReference(folder, file);
    if (reference.types.length === 0) continue;
    const source = await readRecording(join(folder, file));
    yield { set: setOf(reference.id), people: [personOf(reference.id)], source, reference, curve: curveOf(file) };
  }
}

/** @param shift added to each seed: other made recordings of the same kinds */
export async function* benches(folder: string, inMotion: boolean, shift = 0): AsyncGenerator<Signal> {
  for (const { set, seed, pace } of inMotion ? MOTION : [])
    yield* motionBench(await readSources(folder, set), seed + shift, pace);
  yield* irregular(folder, RHYTHM_SEED + shift);
  yield* heartless(NOISE_SEED + shift);
  yield* restBench(REST_SEED + shift, REST_COUNT);
  yield* breathlessBench(BREATHLESS_SEED + shift, BREATHLESS_COUNT);
  yield* oxygenBench(OXYGEN_SEED + shift, OXYGEN_COUNT);
  for (const { kind, value, recordings } of extremesBench(EXTREMES_SEED + shift))
    for (const source of recordings) {
      const reference = constant(source.id, kind, value);
      yield { set: 'extremes bench', people: [], source, reference, curve: CURVE };
    }
}

/**
 * What an ECG has without a heart. The other models are fitted without noise, which rules doubt before them; fitted with it they trust less of true
 * hearts: of bidmc 91.1 instead of 94.5 %.
 */
function* heartless(seed: number): Generator<Signal> {
  for (const signal of noiseBench(seed, NOISE_COUNT)) {
    const isEcg = signal.source.deviceModel.modality_channels.some(({ modality }) => modality === 'ecg');
    if (isEcg) yield { ...signal, reference: { ...signal.reference, types: ['hr'] } };
  }
}

/** The rhythm bench. @param apart whether each rhythm is a set of its own */
export async function* irregular(folder: string, seed: number, apart = false): AsyncGenerator<Signal> {
  for (const signal of rhythmBench(await readSources(folder, SOURCES), seed))
    yield apart ? { ...signal, set: `${signal.rhythm} bench` } : signal;
}

/** From when on the readings of a constant rate must be right, s: once the window is full. */
const FULL_S = { hr: 8, spo2: 8, rr: 32 } as const;

function constant(id: string, kind: Kind, value: number): Reference {
  const { type, from = FULL_S[type] } = kind;
  const seconds = SECONDS[type];
  const windows = Array.from({ length: (seconds - from) / 2 + 1 }, (_, i) => ({
    end: from + 2 * i,
    values: { [type]: value },
  }));
  return { id, seconds, types: [type], windows };
}
