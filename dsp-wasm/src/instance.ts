import { checkChannels, checkRequests } from './arguments.js';
import type { Answer, Core, CoreChannel, Estimate, StepRequest } from './core.js';
import { ESTIMATORS } from './estimators.js';
import { type AnswerFeatures, FEATURES, MODELS } from './features.js';
import type { Kernel } from './kernel.js';
import { CORE_REASONS } from './reasons.js';
import { CoreSession } from './session.js';

/** Addresses of the module's requests and results, and the offsets of their fields. */
function layoutOf(kernel: Kernel) {
  const at = (name: string) => kernel.constant(name);
  return {
    request: at('REQUEST'),
    requestField: { slot: at('REQUEST_SLOT'), estimator: at('REQUEST_ESTIMATOR'), end: at('REQUEST_END') },
    features: at('FEATURES'),
    featureValues: at('FEATURE_VALUES'),
    result: at('RESULT'),
    resultField: {
      value: at('RESULT_VALUE'),
      confidence: at('RESULT_CONFIDENCE'),
      seen: at('RESULT_SEEN'),
      sdnn: at('RESULT_SDNN'),
      pnn50: at('RESULT_PNN50'),
      given: at('RESULT_GIVEN'),
      reason: at('RESULT_REASON'),
    },
  };
}
type Layout = ReturnType<typeof layoutOf>;

/** The sessions of one kernel, in its slots, and the steps over them. */
export class SlotCore implements Core {
  readonly maxSessions: number;
  readonly bytesPerSession: number;
  readonly #kernel: Kernel;
  readonly #free: number[];
  readonly #layout: Layout;

  constructor(kernel: Kernel, maxSessions: number) {
    this.#kernel = kernel;
    this.maxSessions = maxSessions;
    this.bytesPerSession = kernel.constant('SLOT_BYTES');
    this.#free = Array.from({ length: maxSessions }, (_, i) => maxSessions - 1 - i);
    this.#layout = layoutOf(kernel);
  }

  get openSessions(): number {
    return this.maxSessions - this.#free.length;
  }

  get lanes(): { points: number; filled: number } {
    return { points: this.#kernel.call.lanePoints(), filled: this.#kernel.call.filledLanePoints() };
  }

  open(channels: readonly CoreChannel[]): CoreSession | null {
    checkChannels(channels);
    const index = this.#free.pop();
    if (index === undefined) return null;
    return new CoreSession(this.#kernel, index, channels, (freed) => this.#free.push(freed));
  }

  step(requests: readonly StepRequest[]): (Estimate | null)[] {
    return this.answer(requests).map(({ estimate }) => estimate);
  }

  answer(requests: readonly StepRequest[]): Answer[] {
    checkRequests(requests, isSession);
    return requests.map((request) => {
      this.#write(request);
      this.#kernel.call.step();
      return this.#read(request.estimator.startsWith('hrv'));
    });
  }

  features(): AnswerFeatures | null {
    const { view } = this.#kernel;
    const { features: at, featureValues } = this.#layout;
    const model = MODELS[view.getInt32(at, true) - 1];
    if (model === undefined) return null;
    return { model, values: FEATURES[model].map((_, i) => view.getFloat32(at + featureValues + 4 * i, true)) };
  }

  /** Writes a request. If its session is not an open one of this core, the request is for no session. */
  #write({ session, estimator, end }: StepRequest): void {
    const { view } = this.#kernel;
    const { request: at, requestField: field } = this.#layout;
    view.setInt32(at + field.slot, session.isOf(this.#kernel) ? session.index : -1, true);
    view.setInt32(at + field.estimator, ESTIMATORS.indexOf(estimator), true);
    view.setFloat64(at + field.end, end, true);
  }

  /** The answer, to a request for the variability or not. */
  #read(isVariability: boolean): Answer {
    const { view } = this.#kernel;
    const { result: at, resultField: field } = this.#layout;
    const reason = CORE_REASONS[view.getInt32(at + field.reason, true) - 1] ?? null;
    const seen = view.getFloat64(at + field.seen, true);
    if (view.getInt32(at + field.given, true) === 0) return { estimate: null, reason, seen };
    const number = (offset: number) => view.getFloat64(at + offset, true);
    const variability = isVariability ? { sdnn: number(field.sdnn), pnn50: number(field.pnn50) } : null;
    const estimate = { value: number(field.value), confidence: number(field.confidence), variability };
    return { estimate, reason, seen };
  }
}

function isSession(session: CoreSession): boolean {
  return session instanceof CoreSession;
}
