import type { Clock, Timer } from '../../platform/clock.js';
import { decodeEnvelope, type Envelope } from './envelope.js';
import type { Upstream } from './upstream.js';

const TICK_MS = 500;
/** A publisher that has been silent for this long, without announcing its end, counts as dead. */
const SILENCE_MS = 2000;
/** Maximum number of publishers followed at once: a further one is reported as a loss, because its silence would not be noticed. */
const MAX_PUBLISHERS = 1000;

/** Detects losses in the received messages: missing numbers, and publishers that have become silent. */
export class Follower {
  readonly #upstreams = new Set<Upstream>();
  /** Time of each publisher's last message. */
  readonly #heard = new Map<string, number>();
  readonly #timer: Timer;
  #lastTick: number;

  constructor(
    private readonly clock: Clock,
    private readonly onLoss: (upstream: Upstream, cause: string) => void,
    private readonly onUnreadable: (fields: object) => void,
  ) {
    this.#lastTick = clock.monotonic();
    this.#timer = clock.every(TICK_MS, () => this.#tick());
  }

  follow(upstream: Upstream): void {
    this.#upstreams.add(upstream);
  }

  forget(upstream: Upstream): void {
    this.#upstreams.delete(upstream);
  }

  /** Handles an envelope's text: delivers new messages, detects missing ones. */
  take(upstream: Upstream, text: string): void {
    if (upstream.over) return;
    const envelope = decodeEnvelope(text);
    if (!envelope) {
      // It may be an insight of a newer version, or a damaged one: its loss must be reported.
      this.onUnreadable({ account: upstream.account, start: text.slice(0, 60) });
      this.onLoss(upstream, 'a message was not in the format of the bus');
      return;
    }
    const { publisher } = envelope;
    if (!this.#heard.has(publisher) && this.#heard.size >= MAX_PUBLISHERS) {
      this.onLoss(upstream, 'more publishers than the limit');
      return;
    }
    const now = this.clock.monotonic();
    this.#heard.set(publisher, now);
    if (isMissing(envelope, upstream, upstream.numbers.get(publisher), now))
      this.onLoss(upstream, 'a number is missing');
    else this.#deliver(upstream, envelope);
  }

  /** A publisher announces that it is alive. */
  beat(publisher: string): void {
    if (this.#heard.has(publisher)) this.#heard.set(publisher, this.clock.monotonic());
  }

  /** A publisher ends, having delivered everything. */
  goodbye(publisher: string): void {
    this.#heard.delete(publisher);
    for (const upstream of this.#upstreams) upstream.numbers.delete(publisher);
  }

  close(): void {
    this.#timer.cancel();
  }

  #deliver(upstream: Upstream, { publisher, number, messages }: Envelope): void {
    const last = upstream.numbers.get(publisher) ?? 0;
    upstream.numbers.set(publisher, Math.max(last, number));
    if (number > last && messages.length > 0) upstream.deliver(messages);
  }

  #tick(): void {
    const now = this.clock.monotonic();
    const late = now - this.#lastTick > 2 * TICK_MS;
    this.#lastTick = now;
    if (late) return; // This process has stood still: messages that arrived meanwhile have still to be read.
    for (const [publisher, heard] of this.#heard) if (now - heard > SILENCE_MS) this.#giveUp(publisher);
  }

  /** It may have died between storing an insight and publishing it. */
  #giveUp(publisher: string): void {
    this.#heard.delete(publisher);
    for (const upstream of [...this.#upstreams]) {
      if (upstream.numbers.has(publisher)) this.onLoss(upstream, 'a publisher has stopped sending messages');
    }
  }
}

/**
 * `last` is undefined if the publisher is new to this upstream: then only the publisher can report a loss. Messages
 * that it began to send before the subscription was confirmed do not matter: they were stored by then, and are read by
 * REST after the subscription.
 */
function isMissing(
  { number, lossAgeMs, messages }: Envelope,
  upstream: Upstream,
  last: number | undefined,
  now: number,
) {
  if (last === undefined) return lossAgeMs !== null && upstream.since <= now - lossAgeMs;
  return number > (messages.length === 0 ? last : last + 1);
}
