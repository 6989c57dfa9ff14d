import type { Clock, Timer } from '../clock.js';
import { decodeEnvelope, type Envelope } from './envelope.js';
import type { Upstream } from './redis-upstream.js';

const TICK_MS = 500;
/** A publisher that has not been heard of for this long, and has not said goodbye, is taken for dead. */
const SILENCE_MS = 2000;

/** Watches what comes in for what did not: missing numbers, and publishers that have fallen silent. */
export class Follower {
  readonly #upstreams = new Set<Upstream>();
  /** When each publisher was last heard of. */
  readonly #heard = new Map<string, number>();
  readonly #timer: Timer;
  #lastTick: number;

  constructor(
    private readonly clock: Clock,
    private readonly onHole: (upstream: Upstream, cause: string) => void,
  ) {
    this.#lastTick = clock.now();
    this.#timer = clock.every(TICK_MS, () => this.#tick());
  }

  follow(upstream: Upstream): void {
    this.#upstreams.add(upstream);
  }

  forget(upstream: Upstream): void {
    this.#upstreams.delete(upstream);
  }

  /** Takes an envelope's text: delivers what is new, sees what is missing. */
  take(upstream: Upstream, text: string): void {
    if (upstream.over) return;
    const envelope = read(text);
    if (!envelope) {
      this.onHole(upstream, 'something that is no envelope');
      return;
    }
    const { publisher } = envelope;
    const now = this.clock.now();
    this.#heard.set(publisher, now);
    if (isMissing(envelope, upstream, upstream.numbers.get(publisher), now))
      this.onHole(upstream, 'a number is missing');
    else this.#deliver(upstream, envelope);
  }

  /** A publisher says that it is alive. */
  beat(publisher: string): void {
    if (this.#heard.has(publisher)) this.#heard.set(publisher, this.clock.now());
  }

  /** A publisher goes, having handed over everything. */
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
    const now = this.clock.now();
    const late = now - this.#lastTick > 2 * TICK_MS;
    this.#lastTick = now;
    if (late) return; // This process has stood still: what has come meanwhile is still to be read.
    for (const [publisher, heard] of this.#heard) if (now - heard > SILENCE_MS) this.#giveUp(publisher);
  }

  /** It may have died between storing an insight and publishing it. */
  #giveUp(publisher: string): void {
    this.#heard.delete(publisher);
    for (const upstream of [...this.#upstreams]) {
      if (upstream.numbers.has(publisher)) this.onHole(upstream, 'a publisher has fallen silent');
    }
  }
}

/**
 * `last` is undefined where the publisher is new to this upstream: then only the publisher can tell of a loss. What it began to
 * send before the subscription stood concerns nobody: it was stored by then, and is read by REST after the subscription.
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

function read(text: string): Envelope | undefined {
  try {
    return decodeEnvelope(text);
  } catch {
    return undefined;
  }
}
