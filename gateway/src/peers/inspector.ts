import { randomUUID } from 'node:crypto';
import type { Bus, BusSubscription } from '@device-insights/fanout/bus';
import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import { z } from 'zod';
import type { Session } from '../store/store.js';
import type { Inspection } from './inspection.js';

interface Options {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** This process as owner of sessions. */
  readonly gateway: string;
  /** The state of a session in this process; null if it does not serve the session. */
  readonly here: (session: string, channel: number | null) => Inspection | null;
  /** Whether a gateway with this id uses the store: only those get answers. */
  readonly isPeer: (gateway: string) => boolean;
  readonly clock: Clock;
  readonly log: { warn(fields: object, text: string): void };
}

/** Time that another gateway has to answer, ms. */
const ANSWER_MS = 1500;
/** Maximum number of requests in flight. */
const MAX_ASKED = 200;
/** Maximum number of answers that are being sent; each takes up to `MAX_LENGTH`. */
const MAX_ANSWERING = 200;
/** Time until the next attempt to listen, ms. */
const LISTEN_AGAIN_MS = 1000;
/** Maximum length of a request or an answer: a signal of four sub-channels takes 60 KB. */
const MAX_LENGTH = 512 * 1024;

const Question = z.object({
  ask: z.string().max(64),
  from: z.string().max(64),
  session: z.string().max(64),
  channel: z.int().min(0).max(63).nullable(),
});
const Answer = z.object({ answer: z.string().max(64), found: z.looseObject({}).nullable() });

/** Asks the gateway that owns a session for its state: this one, or another one over the bus. */
export class Inspector {
  readonly #asked = new Map<string, (found: Inspection | null) => void>();
  #answering = 0;
  #subscription: BusSubscription | null = null;
  #again: Timer | null = null;
  #closed = false;

  constructor(private readonly options: Options) {}

  /** Answers the requests of other gateways, permanently; call once. */
  async listen(): Promise<void> {
    const again = () => {
      this.#again = this.options.clock.after(LISTEN_AGAIN_MS, () => void this.listen());
    };
    try {
      const listener = {
        messages: (batch: readonly { text: string }[]) => {
          for (const { text } of batch) this.#hear(text);
        },
        loss: again,
      };
      const subscription = await this.options.bus.subscribe(channelOf(this.options.gateway), listener);
      if (this.#closed) subscription.cancel();
      else this.#subscription = subscription;
    } catch {
      if (!this.#closed) again();
    }
  }

  /** The current state of an open session; null if its gateway no longer serves it, or does not answer. */
  look({ id, gateway }: Session, channel: number | null): Promise<Inspection | null> {
    if (gateway === this.options.gateway) return Promise.resolve(this.options.here(id, channel));
    if (this.#asked.size >= MAX_ASKED) return Promise.resolve(null);
    return new Promise((resolve) => {
      const ask = randomUUID();
      const late = this.options.clock.after(ANSWER_MS, () => this.#asked.get(ask)?.(null));
      this.#asked.set(ask, (found) => {
        late.cancel();
        this.#asked.delete(ask);
        resolve(found);
      });
      void this.#say(gateway, () => ({ ask, from: this.options.gateway, session: id, channel }));
    });
  }

  close(): void {
    this.#closed = true;
    this.#again?.cancel();
    this.#subscription?.cancel();
    for (const answer of [...this.#asked.values()]) answer(null);
  }

  #hear(text: string): void {
    const message = text.length > MAX_LENGTH ? null : parsed(text);
    const question = Question.safeParse(message).data;
    const answer = Answer.safeParse(message).data;
    // The answer is an `Inspection` made by another gateway: it is only passed on.
    if (answer) this.#asked.get(answer.answer)?.(answer.found as Inspection | null);
    else if (question) void this.#answer(question);
  }

  /** The bus keeps the position in the numbers of each channel for good, so nothing is sent to unknown ones. */
  async #answer({ ask, from, session, channel }: z.output<typeof Question>): Promise<void> {
    if (!this.options.isPeer(from) || this.#answering >= MAX_ANSWERING) return;
    this.#answering += 1;
    await this.#say(from, () => ({ answer: ask, found: this.options.here(session, channel) }));
    this.#answering -= 1;
  }

  /** Never rejects; a message that cannot be made or sent is logged, and the other gateway waits `ANSWER_MS` for it. */
  async #say(gateway: string, make: () => object): Promise<void> {
    try {
      const text = JSON.stringify(make());
      await this.options.bus.publish(channelOf(gateway), [{ text, user: null }]);
    } catch (err) {
      this.options.log.warn({ err }, 'a request to another gateway, or its answer, could not be sent');
    }
  }
}

/** No account has this id. */
function channelOf(gateway: string): string {
  return `gateway:${gateway}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
