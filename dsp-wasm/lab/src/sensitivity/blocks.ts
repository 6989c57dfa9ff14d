import type { Core } from '@device-insights/dsp-wasm';
import { analyseOffline, CoreLoad } from '@device-insights/gateway/offline';
import { type Minute, minutes, toleranceOf as minuteTolerance, modelOf } from '../beats/minutes.js';
import { type Answer, type ScoredWindow, scoreWindows, TRUSTED, toleranceOf } from '../score.js';
import type { Case } from './cases.js';

/** Windows of a block: a minute's, so that blocks hardly share errors, as neighbouring windows do. */
const BLOCK = 30;

/** The score of neighbouring windows of one recording, as sums. */
export interface Block {
  readonly group: string;
  readonly windows: number;
  readonly answered: number;
  readonly errors: number;
  readonly confidences: number;
  readonly trusted: number;
  readonly wrong: number;
}

/** Scores those readings of the cases that belong to the groups, by a core of one session. */
export async function scoreCases(cases: readonly Case[], groups: readonly string[], core: Core): Promise<Block[]> {
  const load = new CoreLoad(core);
  const blocks: Block[] = [];
  for (const { source, reference, curve, groupOf } of cases) {
    const types = reference.types.filter((type) => groups.includes(groupOf(type)));
    if (types.length === 0) continue;
    const answers: Answer[] = [];
    for await (const answer of analyseOffline(source, curve, load)) answers.push(answer);
    for (const type of types) {
      const windows = scoreWindows({ ...reference, types: [type] }, answers);
      for (let i = 0; i < windows.length; i += BLOCK)
        blocks.push(blockOf(groupOf(type), windows.slice(i, i + BLOCK).map(scoredOf)));
    }
  }
  return blocks;
}

function scoredOf({ type, reference, answer }: ScoredWindow): Scored | null {
  if (!answer) return null;
  const error = Math.abs(answer.value - reference);
  return { error, confidence: answer.confidence, isFar: error > 2 * toleranceOf(type, reference) };
}

/** Each `MINUTES_EVERY`th recording of minutes is used: an odd number, as the bench makes light and ECG by turns. */
const MINUTES_EVERY = 3;

/** Scores variability and rhythm of a share of the recordings of minutes, each of them by a new core; a recording's are a block, as their windows overlap. */
export async function scoreMinutes(
  folder: string,
  seed: number,
  { index, count }: { readonly index: number; readonly count: number },
  open: () => Promise<Core>,
): Promise<Block[]> {
  const takes = (number: number) => number % (MINUTES_EVERY * count) === MINUTES_EVERY * index;
  const scored = new Map<string, (Scored | null)[]>();
  for await (const minute of minutes(folder, [seed], open, takes)) {
    const of = scoredMinute(minute);
    if (of === undefined) continue;
    const key = `${minute.estimator} ${minute.recording}`;
    scored.set(key, [...(scored.get(key) ?? []), of]);
  }
  return [...scored].map(([key, some]) => blockOf(minuteGroup(key), some));
}

/** Group of a key that begins with an estimator of minutes. */
function minuteGroup(key: string): string {
  const [type, sensor] = key.split(/[_ ]/, 2);
  return `${type} from ${sensor?.toUpperCase()}`;
}

/** Undefined where the truth is not known. */
function scoredMinute(minute: Minute): Scored | null | undefined {
  const { rmssd, fibrillation, answer } = minute;
  const truth = modelOf(minute) !== 'rhythm' ? rmssd : fibrillation === null ? null : 100 * Number(fibrillation);
  if (truth === null) return undefined;
  if (!answer.estimate) return null;
  const { value, confidence } = answer.estimate;
  const error = Math.abs(value - truth);
  return { error, confidence, isFar: error > (modelOf(minute) === 'rhythm' ? 50 : 2 * minuteTolerance(minute)) };
}

/** A reading whose truth is known. */
interface Scored {
  readonly error: number;
  readonly confidence: number;
  /** Whether it is wrong. */
  readonly isFar: boolean;
}

/** @param windows null where there is no reading */
function blockOf(group: string, windows: readonly (Scored | null)[]): Block {
  let [answered, errors, confidences, trusted, wrong] = [0, 0, 0, 0, 0];
  for (const window of windows) {
    if (!window) continue;
    answered++;
    errors += window.error;
    confidences += window.confidence;
    if (window.confidence < TRUSTED) continue;
    trusted++;
    if (window.isFar) wrong++;
  }
  return { group, windows: windows.length, answered, errors, confidences, trusted, wrong };
}
