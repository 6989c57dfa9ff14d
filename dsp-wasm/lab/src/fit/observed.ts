import type { AnswerFeatures, Core, StepRequest } from '@device-insights/dsp-wasm';
import { eachAnswer, NO_ANSWER } from '@device-insights/dsp-wasm/fit';

/** An answer of the core to one request, with the features of its confidence. */
export interface Observed extends AnswerFeatures {
  readonly request: StepRequest;
  readonly confidence: number;
}

/** A core that tells the features of each of its answers; those of an answer without a model are left out. */
export function observed(core: Core, listener: (observed: Observed) => void): Core {
  return eachAnswer(core, (request) => {
    const [answer = NO_ANSWER] = core.answer([request]);
    const features = answer.estimate && core.features();
    if (features) listener({ ...features, request, confidence: answer.estimate?.confidence ?? 0 });
    return answer;
  });
}
