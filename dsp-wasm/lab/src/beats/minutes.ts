import { join } from 'node:path';
import type { Answer, ConfidenceModel, Core, Estimator } from '@device-insights/dsp-wasm';
import { corrected, sampleEntropy, variabilityOf } from '@device-insights/dsp-wasm/reference';
import { readRecording } from '@device-insights/sdk/node';
import { readSources, SOURCES } from '../motion-bench/bench.js';
import { personOf } from '../people.js';
import { manifestsIn, readBeats } from '../reference.js';
import { rhythmBench } from '../rhythm-bench/bench.js';
import type { Beat } from '../rhythm-bench/rhythms.js';
import { setOf, TRUSTED } from '../score.js';
import { type MinuteAnswer, type MinuteRun, runMinutes } from './run.js';

/** Minutes whose beats are known: annotated, made, or for light those of the same person's ECG. */

export interface Minute extends MinuteAnswer {
  readonly set: string;
  readonly person: string;
  readonly recording: string;
  /** RMSSD of the known beats, corrected as the core's are, ms; null if it is not known. */
  readonly rmssd: number | null;
  /** Whether the rhythm is atrial fibrillation; null if it is not known. */
  readonly fibrillation: boolean | null;
  /** Of light, what the same person's ECG says of the rhythm. */
  readonly electric?: Answer | null;
}

/** Opens a core of one session for the signals of a person. */
export type Open = (people: readonly string[]) => Promise<Core>;

/** The model of each estimator's confidence, or of its probability. */
export const modelOf = ({ estimator }: MinuteAnswer): ConfidenceModel =>
  estimator.startsWith('hrv') ? (estimator as ConfidenceModel) : 'rhythm';

/** Tolerance of RMSSD, ms. */
export const toleranceOf = ({ estimator }: Pick<MinuteAnswer, 'estimator'>) => (estimator === 'hrv_ecg' ? 5 : 10);

/** Recordings with marked beats in which there is atrial fibrillation (MIT-BIH Arrhythmia Database Directory, Moody and Mark 1992). */
const FIBRILLATING = ['mitarr-219', 'mitarr-221'];
/** Records of pacemakers, whose scores tell nothing of a detector (ANSI/AAMI EC57). */
const PACED = ['mitarr-102', 'mitarr-104', 'mitarr-217'];
/** Marks farther apart are those before and after an unreadable stretch, or flutter, s. */
const LONGEST = 3;
/** Coefficient of sample entropy of atrial fibrillation, and of a regular rhythm; between them a minute's rhythm is not known. [cited: Lake and Moorman 2011: -1.4] */
const [IRREGULAR, REGULAR] = [-1.4, -2];
/** Mean quality of an ECG's beats that are the truth for light. */
const CLEAR = 0.99;

/**
 * Minutes of the recordings of a folder, and of benches with these seeds.
 *
 * @param takes whether the recording of that number is used
 */
export async function* minutes(
  folder: string,
  seeds: readonly number[],
  open: Open,
  takes: (number: number) => boolean = () => true,
): AsyncGenerator<Minute> {
  let number = 0;
  const files = manifestsIn(folder);
  for (const file of files) {
    const id = file.replace(/\.json$/, '');
    const marks = readBeats(folder, id);
    const ecg = [`${id}-ecg`, id.replace(/-ppg$/, '-ecg')].find((one) => one !== id && files.includes(`${one}.json`));
    if (PACED.includes(id) || (!marks && ecg === undefined) || !takes(number++)) continue;
    const person = personOf(id);
    const run = async (name: string) =>
      runMinutes(await readRecording(join(folder, `${name}.json`)), await open([person]));
    const common = { set: setOf(id), person, recording: id };
    if (marks) {
      const kind = FIBRILLATING.includes(id);
      for (const answer of (await run(id)).answers)
        yield { ...common, ...answer, ...truthOf(within(marks, answer.end), kind) };
    }
    if (ecg === undefined) continue;
    const [light, electric] = [await run(id), await run(ecg)];
    for (const answer of light.answers.filter(({ estimator }) => estimator.endsWith('ppg')))
      yield { ...common, ...answer, ...truthOfEcg(electric, answer.end) };
  }
  const sources = await readSources(folder, SOURCES);
  for (const seed of seeds) {
    for (const { people, rhythm, beats, source } of rhythmBench(sources, seed)) {
      if (!takes(number++)) continue;
      const [person = ''] = people;
      const set = `bench ${rhythm} ${source.id.endsWith('ecg') ? 'ecg' : 'ppg'}`;
      for (const answer of (await runMinutes(source, await open(people))).answers) {
        const own = beats.filter(({ time }) => isIn(time, answer.end));
        const times = own.map(({ time }) => time);
        const truth = { rmssd: truthOf(times, false).rmssd, fibrillation: isFibrillation(own) };
        yield { set, person, recording: source.id, ...answer, ...truth };
      }
    }
  }
}

const isIn = (t: number, end: number) => t > end - 60 && t <= end;
/** The times of the minute before `end`. */
export const within = (times: readonly number[], end: number) => times.filter((t) => isIn(t, end));
const intervalsOf = (times: readonly number[]) => times.slice(1).map((t, i) => t - (times[i] ?? 0));

/** RMSSD of beats at these times (s) after their correction, ms. */
export const rmssdOf = (times: readonly number[]) => variabilityOf(corrected(times)).rmssd;

/** @param fibrillates whether the heart does at times */
function truthOf(times: readonly number[], fibrillates: boolean): Pick<Minute, 'rmssd' | 'fibrillation'> {
  if (times.length < 10 || intervalsOf(times).some((interval) => interval > LONGEST))
    return { rmssd: null, fibrillation: null };
  const isIrregular = sampleEntropy(intervalsOf(times)) > IRREGULAR;
  return {
    rmssd: rmssdOf(times),
    fibrillation: fibrillates && !isIrregular ? null : fibrillates,
  };
}

/** What a clear ECG of the same person tells; its variability only if it is trusted, as one beat that it misses is much of it. */
function truthOfEcg({ beats, answers }: MinuteRun, end: number): Pick<Minute, 'rmssd' | 'fibrillation' | 'electric'> {
  const own = beats.ecg.filter(({ t }) => isIn(t, end));
  const quality = own.reduce((sum, beat) => sum + beat.quality, 0) / own.length;
  const of = (estimator: Estimator) =>
    answers.find((one) => one.estimator === estimator && one.end === end)?.answer ?? null;
  const electric = of('rhythm_ecg');
  const variability = of('hrv_ecg')?.estimate;
  if (!variability || quality < CLEAR) return { rmssd: null, fibrillation: null, electric };
  const entropy = sampleEntropy(intervalsOf(own.map(({ t }) => t)));
  const fibrillation = entropy > IRREGULAR ? true : entropy < REGULAR ? false : null;
  return { rmssd: variability.confidence >= TRUSTED ? variability.value : null, fibrillation, electric };
}

/** Whether nine of ten beats are those of fibrillation; null if fewer are, but more than one of ten. */
function isFibrillation(beats: readonly Beat[]): boolean | null {
  const share = beats.filter(({ origin }) => origin === 'fibrillation').length / beats.length;
  return share > 0.9 ? true : share < 0.1 ? false : null;
}
