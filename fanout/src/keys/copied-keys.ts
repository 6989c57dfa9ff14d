import { BusUnavailable } from '../bus/bus.js';
import { Broadcast } from '../bus/redis/broadcast.js';
import { RedisNodes } from '../bus/redis/nodes.js';
import { type Clock, systemClock, type Timer } from '../platform/clock.js';
import type { Log } from '../platform/log.js';
import { type Deferred, deferred } from '../platform/promises.js';
import { remember } from '../platform/remember.js';
import { hasExpired, type KeyCheck, type KeyHolder } from './key-check.js';
import { KEY_CHANNEL, KEYS, type KeyWord, MARK, parseHolder, parseWord, REVOKED } from './key-copy.js';

interface CopiedKeysOptions {
  readonly url: string;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Maximum time for a gateway's answer, ms; a node's admission allows 5 s in all. */
const ANSWER_LIMIT_MS = 3000;
/** Interval at which the keys in use are checked again, ms: an announcement may have been lost. */
const AGAIN_MS = 5000;
/** Keys in use that are checked again at once: they leave room for questions of new subscribers. */
const BATCH = 100;
/** Maximum number of keys requested from gateways at once: as many as one gateway answers. */
const MAX_QUESTIONS = 256;
/** Time for which a gateway's "no" is used without another request, ms. */
const REFUSED_MS = 1000;
/** Time for which an announced revocation is remembered, ms: gateways repeat it each second until Redis has it. */
const REVOKED_MS = 10_000;
const MAX_REFUSED = 10_000;

/**
 * The key check of a stand-alone node: reads the copy of the keys that the gateways keep in Redis, and asks the gateways
 * for keys that are not in it. Only the "no" of a gateway refuses a key; the silence of gateways or Redis is not an
 * answer.
 */
export class CopiedKeys implements KeyCheck {
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #clock: Clock;
  readonly #questions = new Map<string, Deferred<KeyHolder | null>>();
  /** Time until which each key that a gateway refused or revoked stays refused, by the monotonic clock. */
  readonly #refused = new Map<string, number>();
  /** The listeners for revocations, with the keys in use. */
  readonly #listeners = new Map<(hash: string) => void, () => Iterable<string>>();
  readonly #log: CopiedKeysOptions['log'];
  readonly #again: Timer;
  /** Rounds under way in which the keys in use are checked again. */
  #rounds = 0;

  constructor({ url, log, clock = systemClock }: CopiedKeysOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => void this.#channel.follow(),
      lost: () => void this.#channel.follow(),
    });
    const hear = (text: string) => this.#hear(text);
    this.#channel = new Broadcast(this.#nodes, KEY_CHANNEL, clock, hear, () => void this.#checkAgain());
    this.#again = clock.every(AGAIN_MS, () => {
      if (this.#rounds === 0) void this.#checkAgain();
    });
  }

  /** Resolves after the first attempt to connect, successful or not. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
  }

  /** Number of messages about keys that were dropped because they were not in the format of this service. */
  dropped = 0;

  async holder(hash: string): Promise<KeyHolder | null> {
    if (this.#isRefused(hash)) return null;
    const text = await this.#read(hash);
    if (text === REVOKED) return null;
    const holder = (text && parseHolder(text)) || (await this.#ask(hash));
    return holder && !hasExpired(holder, this.#clock.now()) ? holder : null;
  }

  #read(field: string): Promise<string | null> {
    return this.#nodes.run(KEYS, (client) => client.hGet(KEYS, field));
  }

  /** Rejects if the copy cannot be read, or is missing: no gateway has made it yet, or Redis was emptied. */
  async probe(): Promise<void> {
    if ((await this.#read(MARK)) === null) throw new BusUnavailable('no gateway has copied the keys to Redis yet');
  }

  onRevoked(run: (hash: string) => void, inUse: () => Iterable<string>): () => void {
    this.#listeners.set(run, inUse);
    return () => this.#listeners.delete(run);
  }

  close(): void {
    this.#again.cancel();
    this.#channel.close();
    this.#nodes.close();
  }

  /** Asks the gateways; concurrent requests for the same key share the answer. */
  #ask(hash: string): Promise<KeyHolder | null> {
    const open = this.#questions.get(hash);
    if (open) return open.promise;
    if (this.#questions.size >= MAX_QUESTIONS)
      return Promise.reject(new BusUnavailable('too many keys are being requested from gateways'));
    const question = deferred<KeyHolder | null>();
    this.#questions.set(hash, question);
    const error = new BusUnavailable('no gateway answered the request for a key that is not in Redis');
    const limit = this.#clock.after(ANSWER_LIMIT_MS, () => question.reject(error));
    this.#channel.say(JSON.stringify({ word: 'ask', hash } satisfies KeyWord)).catch(question.reject);
    return question.promise.finally(() => {
      limit.cancel();
      this.#questions.delete(hash);
    });
  }

  #drop(text: string): void {
    this.dropped += 1;
    this.#log.warn({ channel: KEY_CHANNEL, start: text.slice(0, 60) }, 'a message of a gateway about keys was dropped');
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (!message) this.#drop(text);
    else if (message.word === 'yes') this.#questions.get(message.hash)?.resolve(message.holder);
    else if (message.word === 'no' && this.#questions.has(message.hash)) this.#refuse(message.hash, REFUSED_MS);
    else if (message.word === 'revoked') {
      this.#refuse(message.hash, REVOKED_MS);
      this.#revoke(message.hash);
    }
  }

  #refuse(hash: string, ms: number): void {
    remember(this.#refused, hash, this.#clock.monotonic() + ms, MAX_REFUSED);
    this.#questions.get(hash)?.resolve(null);
  }

  #isRefused(hash: string): boolean {
    const until = this.#refused.get(hash);
    if (until === undefined || until > this.#clock.monotonic()) return until !== undefined;
    this.#refused.delete(hash);
    return false;
  }

  #revoke(hash: string): void {
    for (const run of this.#listeners.keys()) run(hash);
  }

  /** Checks the keys in use as if they were new; one that cannot be checked now is checked in the next round. */
  async #checkAgain(): Promise<void> {
    this.#rounds += 1;
    const inUse = [...this.#listeners.values()].flatMap((hashes) => [...hashes()]);
    for (let at = 0; at < inUse.length; at += BATCH) {
      const check = async (hash: string) => {
        if ((await this.holder(hash)) === null) this.#revoke(hash);
      };
      await Promise.allSettled(inUse.slice(at, at + BATCH).map(check));
    }
    this.#rounds -= 1;
  }
}
