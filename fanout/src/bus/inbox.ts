import type { BusListener, BusMessage } from './bus.js';

/** A listener for tests: keeps what came, and lets them wait until enough has come. */
export class Inbox implements BusListener {
  readonly received: BusMessage[] = [];
  holes = 0;
  readonly #waiting = new Set<() => void>();

  messages(batch: readonly BusMessage[]): void {
    this.received.push(...batch);
    for (const check of [...this.#waiting]) check();
  }

  hole(): void {
    this.holes += 1;
    for (const check of [...this.#waiting]) check();
  }

  get texts(): string[] {
    return this.received.map((message) => message.text);
  }

  /** Resolves once `count` messages have come. */
  count(count: number): Promise<void> {
    return this.until(() => this.received.length >= count);
  }

  /** Resolves once `condition` holds; looked at whenever something comes. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}
