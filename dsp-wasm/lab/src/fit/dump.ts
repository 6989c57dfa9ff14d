import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type AnswerFeatures, type ConfidenceModel, type Core, FEATURES } from '@device-insights/dsp-wasm';
import type { StoredInsight } from '@device-insights/gateway/offline';
import { analyse, firstInstant } from '../analyse.js';
import { scoreWindows, toleranceOf } from '../score.js';
import { type Observed, observed } from './observed.js';
import type { Signal } from './signals.js';

/** Columns of a row before the features, whose names follow (dsp-wasm/src/features.ts). */
const COLUMNS = ['set', 'people', 'recording', 'type', 'end', 'reference', 'value', 'confidence', 'grade'] as const;

/**
 * Writes the features of every reading that has a reference into FOLDER/MODEL.csv, one row each. `people` are joined by +; the `grade` is
 * 0 in tolerance, 1 out of it, and 2 by more than twice the tolerance.
 *
 * @param models whose readings are wanted
 * @param open opens a core of one session for the signals of some people
 * @returns number of rows of each model
 */
export async function dump(
  signals: AsyncIterable<Signal>,
  folder: string,
  models: readonly ConfidenceModel[],
  open: (people: readonly string[]) => Promise<Core>,
): Promise<Map<ConfidenceModel, number>> {
  const counts = new Map<ConfidenceModel, number>();
  await writeRows(folder, models, async function* () {
    for await (const signal of signals) {
      if (!models.some((model) => mayHave(signal, model))) continue;
      for (const one of await rowsOf(signal, await open(signal.people))) {
        counts.set(one.model, (counts.get(one.model) ?? 0) + 1);
        yield one;
      }
    }
  });
  return counts;
}

/** Writes rows into FOLDER/MODEL.csv, for those of the models that are wanted. */
export async function writeRows(
  folder: string,
  models: readonly ConfidenceModel[],
  rows: () => AsyncIterable<FeatureRow>,
): Promise<void> {
  const files = new Map(models.map((model) => [model, createWriteStream(join(folder, `${model}.csv`))]));
  for (const [model, file] of files) file.write(`${[...COLUMNS, ...FEATURES[model]].join()}\n`);
  for await (const { model, row } of rows()) files.get(model)?.write(`${row.join()}\n`);
  await Promise.all([...files.values()].map((file) => finished(file.end())));
}

/** The features of an answer with five digits. */
export const shownFeatures = ({ values }: AnswerFeatures) => values.map((value) => Number(value.toPrecision(5)));

/** Whether a signal may have readings of a model that its reference judges. */
function mayHave({ source, reference }: Signal, model: ConfidenceModel): boolean {
  const [type, sensor = 'ppg', activity] = model.split('_');
  const modalities = source.deviceModel.modality_channels.map(({ modality }) => modality);
  const has = (start: string) => modalities.some((modality) => modality.startsWith(start));
  return reference.types.some((one) => one === type) && has(sensor) && (activity !== 'motion' || has('accel'));
}

export interface FeatureRow {
  readonly model: ConfidenceModel;
  readonly row: readonly (string | number | null)[];
}

async function rowsOf({ set, people, source, reference, curve }: Signal, core: Core): Promise<FeatureRow[]> {
  const seen = new Map<string, Observed>();
  const observing = observed(core, (one) => {
    const key = `${one.request.estimator} ${one.request.end}`;
    const before = seen.get(key); // of another set of channels; the most confident reading counts
    if (!before || one.confidence > before.confidence) seen.set(key, one);
  });
  const answers = await analyse(source, curve, observing);
  const start = await firstInstant(source);
  return scoreWindows(reference, answers).flatMap(({ type, reference: truth, answer }): FeatureRow[] => {
    const features = answer && seen.get(`${estimatorOf(answer)} ${Math.round((answer.actual_end - start) / 1000)}`);
    if (!features) return [];
    const off = Math.abs(answer.value - truth) / toleranceOf(type, truth);
    const grade = off <= 1 ? 0 : off <= 2 ? 1 : 2;
    const { value, confidence, actual_end } = answer;
    const row = [
      set,
      people.join('+'),
      reference.id,
      type,
      actual_end / 1000,
      truth,
      value,
      confidence,
      grade,
      ...shownFeatures(features),
    ];
    return [{ model: features.model, row }];
  });
}

/** `hr-ppg@1.0.0` reads the estimator hr_ppg, `spo2-ratio` reads spo2. */
function estimatorOf({ algorithm }: StoredInsight): string {
  return algorithm.replace(/(-ratio)?@.*$/, '').replace('-', '_');
}
