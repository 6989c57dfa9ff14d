import type { Core, CoreChannel, CoreSession, Estimate, Estimator, StepRequest } from './core.js';
import type { Kernel } from './kernel.js';
import { SlotSession } from './session.js';

/** Numbers of the estimators in assembly/layout.ts. */
const NUMBER: Record<Estimator, number> = { hr_ppg: 0, hr_ecg: 1, spo2: 2, rr_ppg: 3, rr_ecg: 4, rr_resp: 5 };

/** The slots of one kernel, and the batches of steps over them. */
export class SlotCore implements Core {
  readonly maxSessions: number;
  readonly bytesPerSession: number;
  readonly #kernel: Kernel;
  readonly #free: number[];
  readonly #requests: number;
  readonly #requestBytes: number;
  readonly #results: number;
  readonly #resultBytes: number;
  readonly #batch: number;

  constructor(kernel: Kernel, maxSessions: number) {
    this.#kernel = kernel;
    this.maxSessions = maxSessions;
    this.bytesPerSession = kernel.constant('SLOT_BYTES');
    this.#free = Array.from({ length: maxSessions }, (_, i) => maxSessions - 1 - i);
    this.#requests = kernel.constant('REQUESTS');
    this.#requestBytes = kernel.constant('REQUEST_BYTES');
    this.#results = kernel.constant('RESULTS');
    this.#resultBytes = kernel.constant('RESULT_BYTES');
    this.#batch = kernel.constant('BATCH');
  }

  get openSessions(): number {
    return this.maxSessions - this.#free.length;
  }

  get lanes(): { points: number; filled: number } {
    return { points: this.#kernel.call.lanePoints(), filled: this.#kernel.call.filledLanePoints() };
  }

  open(channels: readonly CoreChannel[]): CoreSession | null {
    const index = this.#free.pop();
    if (index === undefined) return null;
    return new SlotSession(this.#kernel, index, channels, (freed) => this.#free.push(freed));
  }

  step(requests: readonly StepRequest[]): (Estimate | null)[] {
    const estimates: (Estimate | null)[] = [];
    for (let i = 0; i < requests.length; i += this.#batch) this.#stepBatch(requests, i, estimates);
    return estimates;
  }

  #stepBatch(requests: readonly StepRequest[], from: number, estimates: (Estimate | null)[]): void {
    const count = Math.min(this.#batch, requests.length - from);
    for (let i = 0; i < count; i++) this.#write(requests[from + i], this.#requests + i * this.#requestBytes);
    this.#kernel.call.step(count);
    for (let i = 0; i < count; i++) estimates.push(this.#read(this.#results + i * this.#resultBytes));
  }

  /** Writes a request; where its session is not an open one of this core, one for no session. */
  #write(request: StepRequest | undefined, at: number): void {
    const { view } = this.#kernel;
    const session = request?.session;
    const isOurs = request !== undefined && session instanceof SlotSession && session.isOf(this.#kernel);
    view.setInt32(at, isOurs ? session.index : -1, true);
    if (!isOurs) return;
    view.setInt32(at + 4, NUMBER[request.estimator], true);
    view.setFloat64(at + 8, request.end, true);
  }

  #read(at: number): Estimate | null {
    const { view } = this.#kernel;
    if (view.getInt32(at + 16, true) === 0) return null;
    return { value: view.getFloat64(at, true), confidence: view.getFloat64(at + 8, true) };
  }
}
