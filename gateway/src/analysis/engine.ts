import type { Core, CoreChannel, CoreSession, Estimate, StepRequest } from '@device-insights/dsp-wasm';

/** Takes the estimates of a session's requests, in their order. */
export type StepDone = (estimates: readonly (Estimate | null)[]) => void;

interface Batch {
  readonly requests: readonly StepRequest[];
  readonly done: StepDone;
}

/**
 * The steps of all sessions of a process, gathered over one turn of the event loop and run in one call, so that the core
 * can put several sessions side by side into its lanes.
 */
export class Engine {
  readonly #core: Core;
  readonly #defer: (run: () => void) => void;
  #queue: Batch[] = [];

  /** @param defer when to run what was gathered: `setImmediate` live, at once offline */
  constructor(core: Core, defer: (run: () => void) => void) {
    this.#core = core;
    this.#defer = defer;
  }

  /** Opens a session of the core; null when it is full. */
  open(channels: readonly CoreChannel[]): CoreSession | null {
    return this.#core.open(channels);
  }

  request(requests: readonly StepRequest[], done: StepDone): void {
    this.#queue.push({ requests, done });
    if (this.#queue.length === 1) this.#defer(() => this.flush());
  }

  /** Runs what was gathered. */
  flush(): void {
    const queue = this.#queue;
    if (queue.length === 0) return;
    this.#queue = [];
    const estimates = this.#core.step(queue.flatMap(({ requests }) => requests));
    let from = 0;
    for (const { requests, done } of queue) {
      done(estimates.slice(from, from + requests.length));
      from += requests.length;
    }
  }
}
