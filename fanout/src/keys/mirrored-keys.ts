import { BusUnavailable } from '../bus/bus.js';
import { Broadcast } from '../bus/redis/broadcast.js';
import { RedisNodes } from '../bus/redis/nodes.js';
import { type Clock, systemClock } from '../process/clock.js';
import type { Log } from '../process/log.js';
import { Tally } from '../process/tally.js';
import { hasExpired, type KeyCheck, type KeyHolder } from './key-check.js';
import { HOLDERS, KEY_CHANNEL, parseHolder, parseWord, READY, REVOKED, say } from './key-words.js';

export interface MirroredKeysOptions {
  readonly url: string;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Longest time for a gateway's answer, ms; a node's admission allows 5 s in all. */
const ANSWER_LIMIT_MS = 3000;
const BATCH = 1000;
/** Keys looked up in the mirror at once. */
const MAX_LOOKUPS = 4096;
/** Most keys requested from gateways at once: as many as one gateway answers. */
const MAX_QUESTIONS = 256;
/** Time for which a gateway's "no" is used without another request, ms. */
const REFUSED_MS = 1000;
const MAX_REFUSED = 10_000;

interface Question {
  readonly answer: Promise<KeyHolder | null>;
  readonly settle: (holder: KeyHolder | null) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The key check of a stand-alone node: uses the mirror that the gateways keep in Redis, and asks the gateways
 * themselves for keys that are not in it. Only the "no" of a gateway refuses a key; the silence of gateways or Redis is
 * not an answer.
 */
export class MirroredKeys implements KeyCheck {
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #clock: Clock;
  readonly #questions = new Map<string, Question>();
  /** Time until which each key that a gateway refused stays refused, by the monotonic clock; oldest first. */
  readonly #refused = new Map<string, number>();
  /** The listeners for revocations, with the keys to check again if some may have been missed. */
  readonly #listeners = new Map<(hash: string) => void, () => Iterable<string>>();
  readonly #dropped: Tally;
  #lookups = 0;

  constructor({ url, log, clock = systemClock }: MirroredKeysOptions) {
    this.#clock = clock;
    this.#dropped = new Tally(log, clock, 'messages of gateways about keys were dropped');
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => void this.#channel.follow(),
      lost: () => void this.#channel.follow(),
      moved: () => undefined,
      changed: () => undefined,
    });
    const hear = (text: string) => this.#hear(text);
    this.#channel = new Broadcast(this.#nodes, KEY_CHANNEL, clock, hear, () => void this.#catchUp());
  }

  /** Resolves after the first attempt to connect, successful or not. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
  }

  /** Number of messages about keys that were dropped because they were not in the format of this service. */
  get dropped(): number {
    return this.#dropped.total;
  }

  async holder(hash: string): Promise<KeyHolder | null> {
    if (this.#isRefused(hash)) return null;
    if (this.#lookups >= MAX_LOOKUPS) throw new BusUnavailable('too many keys are being looked up');
    this.#lookups += 1;
    try {
      const holder = await this.#lookUp(hash);
      return holder && !hasExpired(holder, this.#clock.now()) ? holder : null;
    } finally {
      this.#lookups -= 1;
    }
  }

  async #lookUp(hash: string): Promise<KeyHolder | null> {
    const [revoked, text] = await this.#nodes.run(HOLDERS, (client) =>
      Promise.all([client.sIsMember(REVOKED, hash), client.hGet(HOLDERS, hash)]),
    );
    if (revoked) return null;
    return (text && parseHolder(text)) || this.#ask(hash);
  }

  /** Rejects if the mirror cannot be read, or is not complete: no gateway has made it yet, or Redis was emptied. */
  async probe(): Promise<void> {
    const isReady = await this.#nodes.run(READY, (client) => client.exists(READY));
    if (!isReady) throw new BusUnavailable('no gateway has copied the keys to Redis yet');
  }

  onRevoked(run: (hash: string) => void, inUse: () => Iterable<string>): () => void {
    this.#listeners.set(run, inUse);
    return () => this.#listeners.delete(run);
  }

  close(): void {
    this.#dropped.close();
    this.#channel.close();
    this.#nodes.close();
  }

  /** Asks the gateways; concurrent requests for the same key share the answer. */
  #ask(hash: string): Promise<KeyHolder | null> {
    const open = this.#questions.get(hash);
    if (open) return open.answer;
    if (this.#questions.size >= MAX_QUESTIONS)
      return Promise.reject(new BusUnavailable('too many keys are being requested from gateways'));
    const question = newQuestion();
    this.#questions.set(hash, question);
    const error = new BusUnavailable('no gateway answered the request for a key that is not in the mirror');
    const limit = this.#clock.after(ANSWER_LIMIT_MS, () => question.fail(error));
    this.#channel.say(say({ word: 'ask', hash })).catch(question.fail);
    return question.answer.finally(() => {
      limit.cancel();
      this.#questions.delete(hash);
    });
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (!message) this.#dropped.add({ channel: KEY_CHANNEL, start: text.slice(0, 60) });
    else if (message.word === 'revoked') this.#revoke(message.hash);
    else if (message.word === 'yes') this.#questions.get(message.hash)?.settle(message.holder);
    else if (message.word === 'no') this.#refuse(message.hash);
  }

  #refuse(hash: string): void {
    const question = this.#questions.get(hash);
    if (!question) return;
    for (const oldest of this.#refused.keys()) if (this.#refused.size >= MAX_REFUSED) this.#refused.delete(oldest);
    this.#refused.set(hash, this.#clock.monotonic() + REFUSED_MS);
    question.settle(null);
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

  /** After the channel was lost: asks for each key in use whether it has been revoked meanwhile. */
  async #catchUp(): Promise<void> {
    const inUse = [...this.#listeners.values()].flatMap((hashes) => [...hashes()]);
    for (let at = 0; at < inUse.length; at += BATCH) {
      const hashes = inUse.slice(at, at + BATCH);
      const revoked = await this.#nodes.run(REVOKED, (client) => client.smIsMember(REVOKED, hashes)).catch(() => []); // Lost again: the next time the channel is followed, the keys are checked again.
      for (const [index, hash] of hashes.entries()) if (revoked[index]) this.#revoke(hash);
    }
  }
}

function newQuestion(): Question {
  let settle: Question['settle'] = () => undefined;
  let fail: Question['fail'] = () => undefined;
  const answer = new Promise<KeyHolder | null>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { answer, settle, fail };
}
