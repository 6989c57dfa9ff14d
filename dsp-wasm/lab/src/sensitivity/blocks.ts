import type { Core } from '@device-insights/dsp-wasm';
import { analyseOffline, CoreLoad } from '@device-insights/gateway/offline';
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
      for (let i = 0; i < windows.length; i += BLOCK) blocks.push(blockOf(groupOf(type), windows.slice(i, i + BLOCK)));
    }
  }
  return blocks;
}

function blockOf(group: string, windows: readonly ScoredWindow[]): Block {
  let [answered, errors, confidences, trusted, wrong] = [0, 0, 0, 0, 0];
  for (const { type, reference, answer } of windows) {
    if (!answer) continue;
    const error = Math.abs(answer.value - reference);
    answered++;
    errors += error;
    confidences += answer.confidence;
    if (answer.confidence < TRUSTED) continue;
    trusted++;
    if (error > 2 * toleranceOf(type, reference)) wrong++;
  }
  return { group, windows: windows.length, answered, errors, confidences, trusted, wrong };
}
