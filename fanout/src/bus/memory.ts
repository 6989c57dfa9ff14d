import { type Bus, type BusListener, type BusMessage, type BusSubscription, BusUnavailable } from './bus.js';

/** The bus of a service with a single process: delivers within `publish`, loses nothing. */
export function createMemoryBus(): Bus {
  return new MemoryBus();
}

/** No account has this name: account ids are UUIDs. */
const CANARY = 'canary';

class MemoryBus implements Bus {
  readonly #channels = new Map<string, Set<BusListener>>();
  #closed = false;

  async publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    const listeners = this.#listenersOf(account);
    if (messages.length === 0) return;
    // A listener that cancels during a delivery receives no more of it, and one that comes meanwhile receives nothing.
    for (const listener of [...listeners]) if (listeners.has(listener)) listener.messages(messages);
  }

  async declareLoss(account: string): Promise<void> {
    const listeners = this.#listenersOf(account);
    this.#channels.delete(account);
    for (const listener of [...listeners]) if (listeners.delete(listener)) listener.loss();
  }

  async subscribe(account: string, listener: BusListener): Promise<BusSubscription> {
    const listeners = this.#listenersOf(account);
    const place: BusListener = { messages: (batch) => listener.messages(batch), loss: () => listener.loss() };
    this.#channels.set(account, listeners.add(place));
    return {
      cancel: () => {
        listeners.delete(place);
        if (listeners.size === 0 && this.#channels.get(account) === listeners) this.#channels.delete(account);
      },
    };
  }

  /** Delivery happens within `publish`: a probe message that has not come back by then never will. */
  async probe(): Promise<void> {
    let came = false;
    const back = () => {
      came = true;
    };
    const canary = await this.subscribe(CANARY, { messages: back, loss: () => undefined });
    await this.publish(CANARY, [{ text: '', user: null }]);
    canary.cancel();
    if (!came) throw new BusUnavailable('a probe message did not come back');
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#channels.clear();
  }

  #listenersOf(account: string): Set<BusListener> {
    if (this.#closed) throw new BusUnavailable('the bus is closed: the process is shutting down');
    return this.#channels.get(account) ?? new Set();
  }
}
