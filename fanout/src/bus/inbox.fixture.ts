import type { BusListener, BusMessage } from './bus.js';

/** A listener for tests: keeps the messages, and lets tests wait until enough have arrived. */
export class Inbox implements BusListener {
  readonly received: BusMessage[] = [];
  losses = 0;
  readonly #waiting = new Set<() => void>();

  messages(batch: readonly BusMessage[]): void {
    this.received.push(...batch);
    for (const check of [...this.#waiting]) check();
  }

  loss(): void {
    this.losses += 1;
    for (const check of [...this.#waiting]) check();
  }

  get texts(): string[] {
    return this.received.map((message) => message.text);
  }

  /** Resolves once `count` messages have arrived. */
  count(count: number): Promise<void> {
    return this.until(() => this.received.length >= count);
  }

  /** Resolves once `condition` holds; it is checked after each message or loss. */
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
