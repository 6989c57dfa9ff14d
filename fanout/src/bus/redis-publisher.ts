import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../clock.js';
import type { BusMessage } from './bus.js';
import { type Envelope, encodeEnvelope } from './envelope.js';

/** Sends one envelope's text on an account's channel; rejects where it may not have gone out. */
export type SendEnvelope = (account: string, text: string) => Promise<void>;

const TICK_MS = 500;
/** An account in which nothing was published for this long is quiet: its last number is repeated. */
const QUIET_MS = 1000;

/** This process as a publisher: numbers what it publishes, account by account. */
export class Publisher {
  /** New for each process: a number means nothing without it. */
  readonly id = randomUUID();
  readonly #outboxes = new Map<string, Outbox>();
  readonly #timer: Timer;

  constructor(
    private readonly send: SendEnvelope,
    private readonly clock: Clock,
  ) {
    this.#timer = clock.every(TICK_MS, () => this.#repeatQuiet());
  }

  /** Whether it has ever published: only then does anybody follow it. */
  get active(): boolean {
    return this.#outboxes.size > 0;
  }

  publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    const outbox = this.#outboxes.get(account) ?? new Outbox(account, this.id, this.send, this.clock);
    this.#outboxes.set(account, outbox);
    return outbox.publish(messages);
  }

  /** Resolves once nothing is under way any more; no repeats from now on. */
  async close(): Promise<void> {
    this.#timer.cancel();
    await Promise.all([...this.#outboxes.values()].map((outbox) => outbox.idle()));
  }

  #repeatQuiet(): void {
    const before = this.clock.now() - QUIET_MS;
    for (const outbox of this.#outboxes.values()) outbox.repeatIfQuiet(before);
  }
}

/** What waits for the publish under way to end. */
interface Batch {
  readonly messages: BusMessage[];
  readonly taken: Promise<void>;
  readonly settle: (result: Promise<void>) => void;
}

/** One account's way out: one publish at a time, so that a redirected one is not overtaken; what comes meanwhile is the next. */
class Outbox {
  #number = 0;
  #next: Batch | undefined;
  #running: Promise<void> | undefined;
  #lastAt = 0;
  /** The last number has been repeated: nothing more to say until the next message. */
  #repeated = true;
  /** When the last send began that failed, with no success since. */
  #lossAt: number | undefined;

  constructor(
    private readonly account: string,
    private readonly publisher: string,
    private readonly send: SendEnvelope,
    private readonly clock: Clock,
  ) {}

  publish(messages: readonly BusMessage[]): Promise<void> {
    this.#next ??= newBatch();
    this.#next.messages.push(...messages);
    const { taken } = this.#next;
    this.#running ??= this.#run();
    return taken;
  }

  repeatIfQuiet(before: number): void {
    if (this.#repeated || this.#running || this.#lastAt > before) return;
    this.#running = this.#repeat();
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Starts at the end of the turn, so that what one turn publishes is one envelope. */
  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = this.#take(); batch; batch = this.#take()) {
      this.#number += 1;
      this.#repeated = false;
      this.#lastAt = this.clock.now();
      const sent = this.#send(batch.messages);
      batch.settle(sent);
      await sent.catch(() => undefined);
    }
    this.#running = undefined;
  }

  #take(): Batch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }

  async #repeat(): Promise<void> {
    try {
      await this.#send([]);
      this.#repeated = true;
    } catch {
      // Tried again at the next tick: until it has gone out, the loss does not show.
    }
    this.#running = undefined;
    if (this.#next) this.#running = this.#run();
  }

  async #send(messages: readonly BusMessage[]): Promise<void> {
    const began = this.clock.now();
    const lossAgeMs = this.#lossAt === undefined ? null : began - this.#lossAt;
    const envelope: Envelope = { publisher: this.publisher, number: this.#number, lossAgeMs, messages };
    try {
      await this.send(this.account, encodeEnvelope(envelope));
      this.#lossAt = undefined;
    } catch (error) {
      if (messages.length > 0) this.#lossAt = began;
      throw error;
    }
  }
}

function newBatch(): Batch {
  let settle: (result: Promise<void>) => void = () => undefined;
  const taken = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { messages: [], taken, settle };
}
