import { type Bus, type BusListener, type BusMessage, type BusSubscription, BusUnavailable } from './bus.js';

/** The bus of a service that is one process: delivers within `publish`, loses nothing. */
export function createMemoryBus(): Bus {
  return new MemoryBus();
}

class MemoryBus implements Bus {
  readonly #channels = new Map<string, Set<Seat>>();
  #closed = false;

  async publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    this.#refuseWhenClosed();
    if (messages.length === 0) return;
    for (const seat of [...(this.#channels.get(account) ?? [])]) seat.deliver(messages);
  }

  async subscribe(account: string, listener: BusListener): Promise<BusSubscription> {
    this.#refuseWhenClosed();
    const seat = new Seat(listener);
    const seats = this.#channels.get(account) ?? new Set();
    this.#channels.set(account, seats.add(seat));
    return { cancel: () => this.#cancel(account, seat) };
  }

  async probe(_timeoutMs: number): Promise<void> {
    this.#refuseWhenClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#channels.clear();
  }

  #cancel(account: string, seat: Seat): void {
    seat.cancelled = true;
    const seats = this.#channels.get(account);
    if (seats?.delete(seat) && seats.size === 0) this.#channels.delete(account);
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new BusUnavailable('the bus is closed: the process is going down');
  }
}

/** One listener's place; a listener that cancels during a delivery gets nothing more of it. */
class Seat {
  cancelled = false;

  constructor(readonly listener: BusListener) {}

  deliver(messages: readonly BusMessage[]): void {
    if (!this.cancelled) this.listener.messages(messages);
  }
}
