import { BusUnavailable } from './bus/bus.js';
import { Broadcast } from './bus/redis-broadcast.js';
import { RedisNodes } from './bus/redis-nodes.js';
import { type Clock, systemClock } from './clock.js';
import type { Log } from './fanout.js';
import { HOLDERS, KEY_CHANNEL, parseHolder, parseWord, READY, REVOKED, say } from './key-words.js';
import type { KeyCheck, KeyHolder } from './keys.js';

export interface MirroredKeysOptions {
  readonly url: string;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** How long a gateway may take to answer, ms; a node's admission allows 5 s in all. */
const ANSWER_LIMIT_MS = 3000;
const BATCH = 1000;

interface Question {
  readonly answer: Promise<KeyHolder | null>;
  readonly settle: (holder: KeyHolder | null) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The key check of a stand-alone node: the mirror that the gateways keep in Redis, and the gateways themselves where it does not
 * know a key. Only a gateway's no makes a key bad; their silence, or that of Redis, is no answer.
 */
export class MirroredKeys implements KeyCheck {
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #clock: Clock;
  readonly #questions = new Map<string, Question>();
  readonly #listeners = new Set<(hash: string) => void>();
  /** Keys that were good: looked at again when revocations may have been missed. */
  readonly #good = new Set<string>();

  constructor({ url, log, clock = systemClock }: MirroredKeysOptions) {
    this.#clock = clock;
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => void this.#channel.follow(),
      lost: () => void this.#channel.follow(),
      moved: () => undefined,
      changed: () => undefined,
    });
    const hear = (text: string) => this.#hear(text);
    this.#channel = new Broadcast(this.#nodes, KEY_CHANNEL, clock, hear, () => void this.#catchUp());
  }

  /** Resolves after the first attempt to connect, whatever came of it. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
  }

  async holder(hash: string): Promise<KeyHolder | null> {
    const [revoked, text] = await this.#nodes.run(HOLDERS, (client) =>
      Promise.all([client.sIsMember(REVOKED, hash), client.hGet(HOLDERS, hash)]),
    );
    if (revoked) return null;
    const holder = (text && parseHolder(text)) || (await this.#ask(hash));
    if (holder) this.#good.add(hash);
    return holder;
  }

  /** Rejects where the mirror cannot be read, or is not complete: no gateway has made it yet, or Redis was emptied. */
  async probe(): Promise<void> {
    const isReady = await this.#nodes.run(READY, (client) => client.exists(READY));
    if (!isReady) throw new BusUnavailable('no gateway has mirrored the keys to Redis yet');
  }

  onRevoked(run: (hash: string) => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  close(): void {
    this.#channel.close();
    this.#nodes.close();
  }

  /** Asks the gateways; those who ask for the same key meanwhile share the answer. */
  #ask(hash: string): Promise<KeyHolder | null> {
    const open = this.#questions.get(hash);
    if (open) return open.answer;
    const question = newQuestion();
    this.#questions.set(hash, question);
    const error = new BusUnavailable('no gateway has answered for a key that the mirror does not know');
    const limit = this.#clock.after(ANSWER_LIMIT_MS, () => question.fail(error));
    this.#channel.say(say({ word: 'ask', hash })).catch(question.fail);
    return question.answer.finally(() => {
      limit.cancel();
      this.#questions.delete(hash);
    });
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (message?.word === 'revoked') this.#revoke(message.hash);
    else if (message?.word === 'yes') this.#questions.get(message.hash)?.settle(message.holder);
    else if (message?.word === 'no') this.#questions.get(message.hash)?.settle(null);
  }

  #revoke(hash: string): void {
    this.#good.delete(hash);
    for (const run of this.#listeners) run(hash);
  }

  /** After the channel was lost: asks for each key that was good whether it has been revoked meanwhile. */
  async #catchUp(): Promise<void> {
    const good = [...this.#good];
    for (let at = 0; at < good.length; at += BATCH) {
      const hashes = good.slice(at, at + BATCH);
      const revoked = await this.#nodes.run(REVOKED, (client) => client.smIsMember(REVOKED, hashes)).catch(() => []); // Lost again: the next time it is followed there will be another look.
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
