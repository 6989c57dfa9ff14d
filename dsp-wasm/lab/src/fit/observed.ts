import type { Answer, AnswerFeatures, Core, StepRequest } from '@device-insights/dsp-wasm';

/** An answer of the core to one request, with the features of its confidence. */
export interface Observed extends AnswerFeatures {
  readonly request: StepRequest;
  readonly confidence: number;
}

/** A core that tells the features of each of its answers; those of an answer without a model are left out. */
export function observed(core: Core, listener: (observed: Observed) => void): Core {
  const one = (request: StepRequest): Answer => {
    const [answer = NONE] = core.answer([request]);
    const features = answer.estimate && core.features();
    if (features) listener({ ...features, request, confidence: answer.estimate?.confidence ?? 0 });
    return answer;
  };
  return {
    maxSessions: core.maxSessions,
    bytesPerSession: core.bytesPerSession,
    get lanes() {
      return core.lanes;
    },
    get openSessions() {
      return core.openSessions;
    },
    open: (channels) => core.open(channels),
    step: (requests) => requests.map((request) => one(request).estimate),
    answer: (requests) => requests.map(one),
    features: () => core.features(),
  };
}

const NONE: Answer = { estimate: null, reason: null, seen: 0 };
