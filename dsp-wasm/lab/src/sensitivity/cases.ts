import { join } from 'node:path';
import type { InsightType } from '@device-insights/gateway/offline';
import type { Frame, FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { motionBench, readSources, SOURCES } from '../motion-bench/bench.js';
import { curveOf, manifestsIn, readReference } from '../reference.js';
import { rhythmBench } from '../rhythm-bench/bench.js';
import { grouped, type Reference, setOf } from '../score.js';

/** The signals that the constants are tried on: the beginnings of some recordings of each set, held in memory. */

export interface Case {
  readonly source: FrameSource;
  readonly reference: Reference;
  readonly curve: readonly number[] | null;
  /** The group that its readings of a type count to. */
  readonly groupOf: (type: InsightType) => string;
}

/** Length of the used beginning of a recording, s. */
const PIECE_S = 240;
/** Seed of the benches, which no other page uses. */
export const SEED = 3001;

const MOTION_BENCH = 'hr on the motion bench';
const IRREGULAR = 'hr of irregular rhythm';
/** The readings that the constants of a folder of the core make. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  pulse: ['hr at rest', 'hr in motion', MOTION_BENCH, `${IRREGULAR} from PPG`],
  ecg: ['hr from ECG', 'rr from ECG', `${IRREGULAR} from ECG`],
  breath: ['rr from PPG', 'rr from ECG', 'rr from effort'],
  spo2: ['SpO2'],
};

/** The readings that the constants of beats make; they are of minutes. */
const OF_MINUTES = ['hrv', 'rhythm'].flatMap((type) => ['ECG', 'PPG'].map((sensor) => `${type} from ${sensor}`));

/** Whether the readings of a folder's constants are of minutes. */
export const isOfMinutes = (folder: string) => folder === 'beats';

/** The groups of readings on which a folder's constants are scored; those of the grid on all but the benches. */
export function groupsOf(folder: string): readonly string[] {
  if (isOfMinutes(folder)) return OF_MINUTES;
  return GROUPS[folder] ?? [...new Set(Object.values(GROUPS).flat())].filter((group) => !isOfBench(group));
}

/** Whether the readings of a group are those of generated recordings. */
export function isOfBench(group: string): boolean {
  return group === MOTION_BENCH || group.startsWith(IRREGULAR);
}

/**
 * Reads a share of the cases.
 *
 * @param benches whether those of the benches are among them
 * @param perSet used length of a set of recordings, a kind of motion or a rhythm, s: every n-th recording in the order of names
 * @param share each `count`th case, from `index` on
 */
export async function readCases(
  folder: string,
  benches: boolean,
  perSet: number,
  share: { readonly index: number; readonly count: number },
): Promise<Case[]> {
  const isOwn = (_: unknown, i: number) => i % share.count === share.index;
  const references = manifestsIn(folder).map((file) => ({ file, reference: readReference(folder, file) }));
  const scored = references.filter(({ reference }) => reference.types.length > 0);
  const cases: Case[] = [];
  for (const { file, reference } of some(scored, perSet, ({ reference: { id } }) => setOf(id)).filter(isOwn)) {
    const recording = await readRecording(join(folder, file));
    const modalities = new Set(recording.deviceModel.modality_channels.map(({ modality }) => modality));
    cases.push(await piece(recording, reference, curveOf(file), (type) => groupOf(type, modalities)));
  }
  if (!benches) return cases;
  for (const { source, reference, group } of some(await generated(folder), perSet, ({ kind }) => kind).filter(isOwn))
    cases.push(await piece(source, reference, null, () => group));
  return cases;
}

/** The recordings of both benches; the kinds of the second are the rhythms. */
async function generated(folder: string) {
  const sources = await readSources(folder, SOURCES);
  return [
    ...[...motionBench(sources, SEED)].map((one) => ({ ...one, kind: one.kind as string, group: MOTION_BENCH })),
    ...[...rhythmBench(sources, SEED)].map((one) => {
      const signal = one.reference.id.endsWith('-ecg') ? 'ECG' : 'PPG';
      return { ...one, kind: `${one.rhythm} ${signal}`, group: `${IRREGULAR} from ${signal}` };
    }),
  ];
}

function groupOf(type: InsightType, modalities: ReadonlySet<string>): string {
  if (type === 'spo2') return 'SpO2';
  if (modalities.has('ecg')) return `${type} from ECG`;
  if (modalities.has('resp')) return `${type} from effort`;
  if (type === 'rr') return 'rr from PPG';
  return modalities.has('accel') ? 'hr in motion' : 'hr at rest';
}

/** Every n-th recording of each set, so that their used parts are no longer than `perSet` together. */
function some<T extends { readonly reference: Reference }>(
  all: readonly T[],
  perSet: number,
  setOf: (one: T) => string,
): T[] {
  return [...grouped(all, setOf).values()].flatMap((set) => {
    const seconds = set.reduce((sum, { reference }) => sum + Math.min(PIECE_S, reference.seconds), 0);
    const every = Math.ceil(seconds / perSet);
    return set.filter((_, i) => i % every === 0);
  });
}

/** The beginning of a recording, its frames held in memory. */
async function piece(
  { id, deviceModel, frames }: FrameSource,
  reference: Reference,
  curve: Case['curve'],
  groupOf: Case['groupOf'],
): Promise<Case> {
  const held: Frame[] = [];
  let end = Number.POSITIVE_INFINITY;
  for await (const frame of frames()) {
    if (held.length === 0) end = frame.ts + 1000 * PIECE_S;
    if (frame.ts >= end) break;
    held.push(frame);
  }
  const windows = reference.windows.filter((window) => 1000 * window.end <= end);
  return { source: { id, deviceModel, frames: () => held }, reference: { ...reference, windows }, curve, groupOf };
}
