import type { Gate } from './fair-scheduler.js';

/** What the work of a test needs. */
export class TestGate implements Gate {
  accepting = true;
  #reliefs: (() => void)[] = [];

  onRelief(run: () => void): void {
    this.#reliefs.push(run);
  }

  open(): void {
    this.accepting = true;
    for (const run of this.#reliefs.splice(0)) run();
  }
}

/** Keeps the processor for some milliseconds. */
export function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
