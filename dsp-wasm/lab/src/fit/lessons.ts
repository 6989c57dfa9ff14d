import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { CANDIDATES, observeCore } from '@device-insights/dsp-wasm/fit';
import { analyseOffline, CoreLoad } from '@device-insights/gateway/offline';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { firstInstant } from '../analyse.js';
import { motionBench, readSources } from '../motion-bench/bench.js';
import { CALM, FAST, type Pace, RUN } from '../motion-bench/kinds.js';
import { personOf } from '../people.js';
import { manifestsIn, readReference } from '../reference.js';
import type { Reference } from '../score.js';

/** What the network is fitted on: recordings in motion, and benches of motion made of them. */

/** The windows of one recording. */
export interface Lesson {
  /** Whose signals are in it. */
  readonly people: readonly string[];
  /** What weighs the same as any other of its kind. */
  readonly group: string;
  /** Weight of the group. */
  readonly weight: number;
  readonly windows: readonly { readonly traits: Float32Array; readonly rate: number }[];
}

/**
 * Sets with an accelerometer, and the seeds of the benches that are made of each: none of maxwrist, whose reference is too
 * slow to take the pulse out of the light.
 */
const SETS: readonly { set: string; benches: readonly (readonly [Pace, number])[]; weight: number }[] = [
  {
    set: 'troika',
    benches: [
      [RUN, 11],
      [RUN, 12],
      [RUN, 13],
      [CALM, 51],
      [FAST, 61],
    ],
    weight: 1,
  },
  {
    set: 'spc',
    benches: [
      [RUN, 31],
      [CALM, 53],
    ],
    weight: 0.6,
  },
  { set: 'wrist', benches: [[RUN, 31]], weight: 0.6 },
  { set: 'maxwrist', benches: [], weight: 0 },
];
/** Every second window is used: a window shares three quarters of its data with the next, and half with the one after. */
const EVERY = 2;

/** The recordings of the sets, in the order of their names. */
export function recordingsOf(folder: string): string[] {
  const sets = SETS.map(({ set }) => `${set}-`);
  return manifestsIn(folder).filter((file) => !file.endsWith('-ecg.json') && sets.some((set) => file.startsWith(set)));
}

export async function* lessons(folder: string): AsyncGenerator<Lesson> {
  for (const file of recordingsOf(folder)) {
    const reference = readReference(folder, file);
    const windows = await windowsOf(await readRecording(join(folder, file)), reference);
    const [group = ''] = reference.id.split('-', 1);
    yield { people: [personOf(reference.id)], group, weight: 1, windows };
  }
  for (const { set, benches, weight } of SETS) {
    if (benches.length === 0) continue;
    const sources = await readSources(folder, `${set}-`);
    for (const [pace, seed] of benches) {
      for (const { kind, people, source, reference } of motionBench(sources, seed, pace)) {
        const windows = await windowsOf(source, reference);
        // A group a kind: each of the eight has an eighth of the bench's weight
        yield { people, group: `${set} ${seed} ${kind}`, weight: weight / 8, windows };
      }
    }
  }
}

/** Windows in motion that have a reference. */
async function windowsOf(source: FrameSource, { windows }: Reference): Promise<Lesson['windows']> {
  const seen = new Map<number, Float32Array>();
  const { core } = await observeCore((end, traits) => seen.set(end, traits));
  for await (const _ of analyseOffline(source, null, new CoreLoad(core)));
  const start = (await firstInstant(source)) / 1000;
  const some = windows.filter((_, i) => i % EVERY === 0);
  return some.flatMap(({ end, values: { hr } }) => {
    const traits = seen.get(Math.round(end - start));
    return traits && hr !== undefined && hr < (CANDIDATES.at(-1) ?? 0) ? [{ traits, rate: hr }] : [];
  });
}

/** A line of the index: the people, joined by +, the group and its weight, and the reference's rate. */
const COLUMNS = 'people,group,weight,rate\n';

/** Writes FOLDER/motion.f32, the traits of each window one after the other, and FOLDER/motion.csv, a line for each. */
export async function dumpLessons(recordings: string, folder: string): Promise<void> {
  const traitsFile = createWriteStream(join(folder, 'motion.f32'));
  const index = createWriteStream(join(folder, 'motion.csv'));
  index.write(COLUMNS);
  for await (const { people, group, weight, windows } of lessons(recordings)) {
    for (const { traits, rate } of windows) {
      traitsFile.write(new Uint8Array(traits.buffer));
      index.write(`${people.join('+')},${group},${weight},${rate}\n`);
    }
  }
  await Promise.all([traitsFile, index].map((file) => finished(file.end())));
}
