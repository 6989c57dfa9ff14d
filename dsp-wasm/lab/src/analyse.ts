import type { Core } from '@device-insights/dsp-wasm';
import { analyseOffline, CoreLoad, type StoredInsight } from '@device-insights/gateway/offline';
import type { FrameSource } from '@device-insights/sdk';

/** The readings of a recording; by a core of one session, if one is given. */
export async function analyse(
  recording: FrameSource,
  curve: readonly number[] | null,
  core?: Core,
): Promise<StoredInsight[]> {
  const answers: StoredInsight[] = [];
  for await (const answer of analyseOffline(recording, curve, core && new CoreLoad(core))) answers.push(answer);
  return answers;
}

/** Where the core's time begins, ms. */
export async function firstInstant(recording: FrameSource): Promise<number> {
  for await (const { ts } of recording.frames()) return Math.floor(ts);
  return 0;
}
