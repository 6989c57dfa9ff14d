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
    const asked: number[] = [];
    for (let i = from; i < from + count; i++) {
      const request = requests[i];
      if (request && this.#write(request, asked.length)) asked.push(i);
    }
    this.#kernel.call.step(asked.length);
    for (let i = from; i < from + count; i++) estimates[i] = null;
    asked.forEach((i, n) => {
      estimates[i] = this.#read(n);
    });
  }

  /** Writes request `n` of the batch; false where the session is not an open one of this core. */
  #write({ session, estimator, end }: StepRequest, n: number): boolean {
    if (!(session instanceof SlotSession) || session.index < 0) return false;
    const at = this.#requests + n * this.#requestBytes;
    this.#kernel.view.setInt32(at, session.index, true);
    this.#kernel.view.setInt32(at + 4, NUMBER[estimator], true);
    this.#kernel.view.setFloat64(at + 8, end, true);
    return true;
  }

  #read(n: number): Estimate | null {
    const at = this.#results + n * this.#resultBytes;
    const { view } = this.#kernel;
    if (!view.getInt32(at + 16, true)) return null;
    return { value: view.getFloat64(at, true), confidence: view.getFloat64(at + 8, true) };
  }
}
