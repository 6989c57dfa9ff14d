import type { ConfidenceModel } from '@device-insights/dsp-wasm';
import { shownFeatures, writeRows } from '../fit/dump.js';
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
  await writeRows(folder, models, async function* () {
    for await (const minute of minutes(recordings, SEEDS, open)) {
      const grade = gradeOf(minute);
      const { set, person, recording, estimator, end, answer, features, rmssd } = minute;
      if (grade === null || !features || !answer.estimate) continue;
      const { value, confidence } = answer.estimate;
      const values = shownFeatures(features);
      const row = [set, person, recording, estimator, end, rmssd, value, confidence, grade, ...values];
      yield { model: modelOf(minute), row };
    }
  });
}

function gradeOf(minute: Minute): number | null {
  const { answer, rmssd, fibrillation } = minute;
  if (modelOf(minute) === 'rhythm') return fibrillation === null ? null : fibrillation ? 0 : 1;
  if (rmssd === null || !answer.estimate) return null;
  const off = Math.abs(answer.estimate.value - rmssd) / toleranceOf(minute);
  return off <= 1 ? 0 : off <= 2 ? 1 : 2;
}
