import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '../../platform/clock.js';
import { type Deferred, deferred } from '../../platform/promises.js';
import type { BusMessage } from '../bus.js';
import { type Envelope, encodeEnvelope, MAX_MESSAGES } from './envelope.js';

/** Sends one envelope's text on an account's channel; rejects if it may not have been sent. */
type SendEnvelope = (account: string, text: string) => Promise<void>;

const TICK_MS = 500;
/** An account without messages for this long is quiet: its last number is repeated. */
const QUIET_MS = 1000;

/** This process as a publisher: numbers the messages that it publishes, account by account. */
export class Publisher {
  /** New for each process: a number has a meaning only together with it. */
  readonly id = randomUUID();
  readonly #outboxes = new Map<string, Outbox>();
  readonly #timer: Timer;

  constructor(
    private readonly send: SendEnvelope,
    private readonly clock: Clock,
  ) {
    this.#timer = clock.every(TICK_MS, () => this.#repeatQuiet());
  }

  /** Whether it has ever published: only then do nodes follow it. */
  get active(): boolean {
    return this.#outboxes.size > 0;
  }

  publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    return this.#outbox(account).publish(messages);
  }

  declareLoss(account: string): void {
    this.#outbox(account).declareLoss();
  }

  /** Resolves once no publish is running; no numbers are repeated from now on. */
  async close(): Promise<void> {
    this.#timer.cancel();
    await Promise.all([...this.#outboxes.values()].map((outbox) => outbox.idle()));
  }

  #outbox(account: string): Outbox {
    const outbox = this.#outboxes.get(account) ?? new Outbox(account, this.id, this.send, this.clock);
    this.#outboxes.set(account, outbox);
    return outbox;
  }

  #repeatQuiet(): void {
    const before = this.clock.monotonic() - QUIET_MS;
    for (const outbox of this.#outboxes.values()) outbox.repeatIfQuiet(before);
  }
}

/** Messages that wait for the running publish to end. */
interface Batch {
  readonly messages: BusMessage[];
  readonly taken: Deferred;
}

/**
 * The outgoing messages of one account: one publish at a time, so that a redirected publish is not overtaken; messages
 * that arrive meanwhile form the next one.
 */
class Outbox {
  #number = 0;
  #next: Batch | undefined;
  #running: Promise<void> | undefined;
  #lastAt = 0;
  /** The last number has been repeated: nothing has to be sent until the next message. */
  #repeated = true;
  /** Start of the last send that failed, or time of the last announced loss, with no success since. */
  #lossAt: number | undefined;

  constructor(
    private readonly account: string,
    private readonly publisher: string,
    private readonly send: SendEnvelope,
    private readonly clock: Clock,
  ) {}

  publish(messages: readonly BusMessage[]): Promise<void> {
    this.#next ??= { messages: [], taken: deferred() };
    this.#next.messages.push(...messages);
    const { taken } = this.#next;
    this.#running ??= this.#run();
    return taken.promise;
  }

  /**
   * Skips a number, as a failed send does: nodes that followed the account miss it, and new ones are told of the loss.
   */
  declareLoss(): void {
    this.#number += 1;
    this.#lossAt = this.clock.monotonic();
    this.#repeated = false;
    this.#running ??= this.#repeat();
  }

  repeatIfQuiet(before: number): void {
    if (this.#repeated || this.#running || this.#lastAt > before) return;
    this.#running = this.#repeat();
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Starts at the end of the turn, so that the messages of one turn form one envelope. */
  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = this.#take(); batch; batch = this.#take()) {
      const sent = this.#sendAll(batch.messages);
      batch.taken.resolve(sent);
      await sent.catch(() => undefined);
    }
    this.#running = undefined;
  }

  /** Sends as many envelopes as needed. */
  async #sendAll(messages: readonly BusMessage[]): Promise<void> {
    for (let at = 0; at < messages.length; at += MAX_MESSAGES) {
      this.#number += 1;
      this.#repeated = false;
      this.#lastAt = this.clock.monotonic();
      await this.#send(messages.slice(at, at + MAX_MESSAGES));
    }
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
      // Retried at the next tick: until it has been sent, nodes cannot see the loss.
    }
    this.#running = undefined;
    if (this.#next) this.#running = this.#run();
  }

  async #send(messages: readonly BusMessage[]): Promise<void> {
    const began = this.clock.monotonic();
    const lossAt = this.#lossAt;
    const lossAgeMs = lossAt === undefined ? null : Math.floor(began - lossAt);
    const envelope: Envelope = { publisher: this.publisher, number: this.#number, lossAgeMs, messages };
    try {
      await this.send(this.account, encodeEnvelope(envelope));
      if (this.#lossAt === lossAt) this.#lossAt = undefined;
    } catch (error) {
      if (messages.length > 0) this.#lossAt = Math.max(began, this.#lossAt ?? 0);
      throw error;
    }
  }
}
