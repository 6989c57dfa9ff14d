import { type Bus, type BusListener, type BusMessage, type BusSubscription, BusUnavailable } from './bus.js';

/** The bus of a service with a single process: delivers within `publish`, loses nothing. */
export function createMemoryBus(): Bus {
  return new MemoryBus();
}

const DONE = Promise.resolve();

/** No account has this name: account ids are UUIDs. */
const CANARY = 'canary';

class MemoryBus implements Bus {
  /** Never changed in place: a running delivery uses the list that it began with. */
  readonly #channels = new Map<string, readonly Seat[]>();
  #closed = false;

  publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    if (this.#closed) return Promise.reject(closed());
    const seats = messages.length > 0 ? this.#channels.get(account) : undefined;
    if (seats) for (const seat of seats) seat.deliver(messages);
    return DONE;
  }

  declareLoss(account: string): Promise<void> {
    if (this.#closed) return Promise.reject(closed());
    const seats = this.#channels.get(account) ?? [];
    this.#channels.delete(account);
    for (const seat of seats) seat.end();
    return DONE;
  }

  async subscribe(account: string, listener: BusListener): Promise<BusSubscription> {
    if (this.#closed) throw closed();
    const seat = new Seat(listener);
    this.#channels.set(account, [...(this.#channels.get(account) ?? []), seat]);
    return { cancel: () => this.#cancel(account, seat) };
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

  #cancel(account: string, seat: Seat): void {
    seat.cancelled = true;
    const rest = (this.#channels.get(account) ?? []).filter((it) => it !== seat);
    if (rest.length > 0) this.#channels.set(account, rest);
    else this.#channels.delete(account);
  }
}

/** One listener's entry; a listener that cancels during a delivery receives no more of it. */
class Seat {
  cancelled = false;

  constructor(private readonly listener: BusListener) {}

  /** Reports a loss; the entry receives nothing more. */
  end(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    this.listener.loss();
  }

  deliver(messages: readonly BusMessage[]): void {
    if (!this.cancelled) this.listener.messages(messages);
  }
}

function closed(): BusUnavailable {
  return new BusUnavailable('the bus is closed: the process is shutting down');
}
