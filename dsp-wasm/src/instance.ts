import { checkChannels, checkRequests } from './arguments.js';
import type { Answer, Core, CoreChannel, Estimate, StepRequest } from './core.js';
import { ESTIMATORS } from './estimators.js';
import { type AnswerFeatures, FEATURES, MODELS } from './features.js';
import type { Kernel } from './kernel.js';
import { CORE_REASONS } from './reasons.js';
import { CoreSession } from './session.js';

/** The sessions of one kernel, in its slots, and the steps over them. */
export class SlotCore implements Core {
  readonly maxSessions: number;
  readonly bytesPerSession: number;
  readonly #kernel: Kernel;
  readonly #free: number[];
  readonly #result: Float64Array;
  readonly #features: Float32Array;

  constructor(kernel: Kernel, maxSessions: number) {
    this.#kernel = kernel;
    this.maxSessions = maxSessions;
    this.bytesPerSession = kernel.constant('SLOT_BYTES');
    this.#free = Array.from({ length: maxSessions }, (_, i) => maxSessions - 1 - i);
    this.#result = new Float64Array(kernel.bytes.buffer, kernel.constant('RESULT'), 5);
    this.#features = new Float32Array(kernel.bytes.buffer, kernel.constant('FEATURES'));
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
    return requests.map((request) => this.#step(request));
  }

  features(): AnswerFeatures | null {
    const model = MODELS[this.#kernel.call.modelOfAnswer() - 1];
    return model === undefined ? null : { model, values: [...this.#features.subarray(0, FEATURES[model].length)] };
  }

  /** Answers a request; with nothing if its session is not an open one of this core. */
  #step({ session, estimator, end }: StepRequest): Answer {
    if (session.index < 0 || !session.isOf(this.#kernel)) return { estimate: null, reason: null, seen: 0 };
    const reason = this.#kernel.call.step(session.index, ESTIMATORS.indexOf(estimator), end);
    // In the order of the fields in assembly/memory/map.ts; by index, as the iterator that a pattern uses is slow
    const at = (i: number) => this.#result[i] ?? 0;
    const variability = estimator.startsWith('hrv') ? { sdnn: at(3), pnn50: at(4) } : null;
    const estimate = Number.isNaN(at(0)) ? null : { value: at(0), confidence: at(1), variability };
    return { estimate, reason: CORE_REASONS[reason - 1] ?? null, seen: at(2) };
  }
}

function isSession(session: CoreSession): boolean {
  return session instanceof CoreSession;
}
