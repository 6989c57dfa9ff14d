import { checkChannels, checkRequests } from './arguments.js';
import type { Answer, Core, CoreChannel, CoreSession, Estimate, StepRequest } from './core.js';
import { ESTIMATORS } from './estimators.js';
import { type AnswerFeatures, FEATURES, MODELS } from './features.js';
import type { Kernel } from './kernel.js';
import { CORE_REASONS } from './reasons.js';
import { SlotSession } from './session.js';

/** Addresses of the module's requests and results, and the offsets of their fields. */
function layoutOf(kernel: Kernel) {
  const at = (name: string) => kernel.constant(name);
  return {
    batch: at('BATCH'),
    requests: at('REQUESTS'),
    requestBytes: at('REQUEST_BYTES'),
    request: { slot: at('REQUEST_SLOT'), estimator: at('REQUEST_ESTIMATOR'), end: at('REQUEST_END') },
    features: at('FEATURES'),
    featureValues: at('FEATURE_VALUES'),
    results: at('RESULTS'),
    resultBytes: at('RESULT_BYTES'),
    result: {
      value: at('RESULT_VALUE'),
      confidence: at('RESULT_CONFIDENCE'),
      seen: at('RESULT_SEEN'),
      given: at('RESULT_GIVEN'),
      reason: at('RESULT_REASON'),
    },
  };
}
type Layout = ReturnType<typeof layoutOf>;

/** The slots of one kernel, and the batches of steps over them. */
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
    return new SlotSession(this.#kernel, index, channels, (freed) => this.#free.push(freed));
  }

  step(requests: readonly StepRequest[]): (Estimate | null)[] {
    return this.answer(requests).map(({ estimate }) => estimate);
  }

  answer(requests: readonly StepRequest[]): Answer[] {
    checkRequests(requests, isSession);
    const answers: Answer[] = [];
    for (let i = 0; i < requests.length; i += this.#layout.batch) this.#answerBatch(requests, i, answers);
    return answers;
  }

  features(): AnswerFeatures | null {
    const { view } = this.#kernel;
    const { features: at, featureValues } = this.#layout;
    const model = MODELS[view.getInt32(at, true) - 1];
    if (model === undefined) return null;
    return { model, values: FEATURES[model].map((_, i) => view.getFloat32(at + featureValues + 4 * i, true)) };
  }

  #answerBatch(requests: readonly StepRequest[], from: number, answers: Answer[]): void {
    const { batch, requests: to, requestBytes, results, resultBytes } = this.#layout;
    const count = Math.min(batch, requests.length - from);
    for (let i = 0; i < count; i++) this.#write(requests[from + i], to + i * requestBytes);
    this.#kernel.call.step(count);
    for (let i = 0; i < count; i++) answers.push(this.#read(results + i * resultBytes));
  }

  /** Writes a request. If its session is not an open one of this core, the request is for no session. */
  #write(request: StepRequest | undefined, at: number): void {
    const { view } = this.#kernel;
    const session = request?.session;
    const isOurs = request !== undefined && session instanceof SlotSession && session.isOf(this.#kernel);
    const { request: field } = this.#layout;
    view.setInt32(at + field.slot, isOurs ? session.index : -1, true);
    if (!isOurs) return;
    view.setInt32(at + field.estimator, ESTIMATORS.indexOf(request.estimator), true);
    view.setFloat64(at + field.end, request.end, true);
  }

  #read(at: number): Answer {
    const { view } = this.#kernel;
    const { result: field } = this.#layout;
    const reason = CORE_REASONS[view.getInt32(at + field.reason, true) - 1] ?? null;
    const seen = view.getFloat64(at + field.seen, true);
    if (view.getInt32(at + field.given, true) === 0) return { estimate: null, reason, seen };
    const value = view.getFloat64(at + field.value, true);
    return { estimate: { value, confidence: view.getFloat64(at + field.confidence, true) }, reason, seen };
  }
}

function isSession(session: CoreSession): boolean {
  return session instanceof SlotSession;
}
