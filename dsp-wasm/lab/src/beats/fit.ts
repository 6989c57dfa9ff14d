import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type ConfidenceModel, FEATURES } from '@device-insights/dsp-wasm';
import { COLUMNS } from '../fit/dump.js';
import { type Minute, minutes, modelOf, type Open, toleranceOf } from './minutes.js';

/** Models that are fitted on minutes. */
export const MINUTE_MODELS = ['hrv_ecg', 'hrv_ppg', 'rhythm'] as const satisfies readonly ConfidenceModel[];
const SEEDS = [4101];

/** Writes what the models are fitted on, as `dump` does; the `grade` of a rhythm is 0 in fibrillation, 1 in another one. */
export async function dumpMinutes(
  recordings: string,
  folder: string,
  models: readonly ConfidenceModel[],
  open: Open,
): Promise<void> {
  const files = new Map(models.map((model) => [model, createWriteStream(join(folder, `${model}.csv`))]));
  for (const [model, file] of files) file.write(`${[...COLUMNS, ...FEATURES[model]].join()}\n`);
  for await (const minute of minutes(recordings, SEEDS, open)) {
    const grade = gradeOf(minute);
    const { set, person, recording, estimator, end, answer, features, rmssd } = minute;
    if (grade === null || !features || !answer.estimate) continue;
    const { value, confidence } = answer.estimate;
    const values = features.values.map((feature) => Number(feature.toPrecision(5)));
    files
      .get(modelOf(minute))
      ?.write(`${[set, person, recording, estimator, end, rmssd, value, confidence, grade, ...values].join()}\n`);
  }
  await Promise.all([...files.values()].map((file) => finished(file.end())));
}

function gradeOf(minute: Minute): number | null {
  const { answer, rmssd, fibrillation } = minute;
  if (modelOf(minute) === 'rhythm') return fibrillation === null ? null : fibrillation ? 0 : 1;
  if (rmssd === null || !answer.estimate) return null;
  const off = Math.abs(answer.estimate.value - rmssd) / toleranceOf(minute);
  return off <= 1 ? 0 : off <= 2 ? 1 : 2;
}
