import { Broadcast } from '../bus/redis/broadcast.js';
import { RedisNodes } from '../bus/redis/nodes.js';
import { type Clock, systemClock, type Timer } from '../process/clock.js';
import type { Log } from '../process/log.js';
import { Tally } from '../process/tally.js';
import type { KeyHolder } from './key-check.js';
import { HOLDERS, KEY_CHANNEL, type KeyWord, parseWord, READY, REVOKED, say } from './key-words.js';

/** The source of a gateway's keys: the store. */
export interface KeySource {
  /** Every key that is not revoked, by its hash. */
  holders(): Promise<ReadonlyMap<string, KeyHolder>>;
  /** The hashes of all keys that were ever revoked. */
  revoked(): Promise<readonly string[]>;
  /**
   * The holder of the key with this hash; null if it is unknown, revoked or expired. Rejects if that is not known now.
   */
  holder(hash: string): Promise<KeyHolder | null>;
}

export interface KeyMirrorOptions {
  readonly url: string;
  readonly source: KeySource;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const CHECK_MS = 1000;
const BATCH = 1000;
/** Most keys looked up for nodes at once; a node without an answer closes with 1013. */
const MAX_ANSWERS = 256;

/**
 * A gateway's part of the key check of stand-alone fan-out nodes: copies the store's keys to the mirror in Redis, makes
 * the mirror again when it is gone, answers nodes that do not find a key in it, and announces revocations.
 */
export class KeyMirror {
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #timer: Timer;
  #checking: Promise<void> | undefined;
  #fresh = false;
  /** Revocations that the nodes have not been told of yet. */
  readonly #unsaid = new Set<string>();
  /** Hashes of the keys being looked up: the answer goes to all nodes, so one look-up is enough. */
  readonly #answering = new Set<string>();
  readonly #dropped: Tally;
  readonly #unanswered: Tally;

  constructor(private readonly options: KeyMirrorOptions) {
    const { url, log, clock = systemClock } = options;
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => {
        this.#fresh = false;
        void this.#channel.follow();
        void this.check();
      },
      lost: () => undefined,
      moved: () => undefined,
      changed: () => undefined,
    });
    this.#channel = new Broadcast(this.#nodes, KEY_CHANNEL, clock, (text) => this.#hear(text));
    this.#dropped = new Tally(log, clock, 'messages of fan-out nodes about keys were dropped');
    this.#unanswered = new Tally(log, clock, 'fan-out nodes asked for keys that the store could not look up now');
    this.#timer = clock.every(CHECK_MS, () => void this.check());
  }

  /** Number of messages about keys that were dropped: not in the format of this service, or above a limit. */
  get dropped(): number {
    return this.#dropped.total;
  }

  /** Connects and makes the mirror; resolves after the first attempt, successful or not. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
    await this.check();
  }

  /**
   * A key was revoked, permanently: nodes forget it and close its sockets. Repeating this is harmless, by any gateway.
   * If Redis does not accept it now, it is repeated every second until it does.
   */
  async revoke(hash: string): Promise<void> {
    this.#unsaid.add(hash);
    await this.check();
  }

  /**
   * Sends announcements that are still to be sent, and makes the mirror again if it is missing or this gateway has lost
   * its connection.
   */
  async check(): Promise<void> {
    await this.#checking; // The running check may already have passed the cause of this one.
    this.#checking ??= this.#check()
      .catch((error: unknown) => this.options.log.warn({ err: error }, 'the keys could not be copied to Redis yet'))
      .finally(() => {
        this.#checking = undefined;
      });
    await this.#checking;
  }

  close(): void {
    for (const tally of [this.#dropped, this.#unanswered]) tally.close();
    this.#timer.cancel();
    this.#channel.close();
    this.#nodes.close();
  }

  async #check(): Promise<void> {
    for (const hash of this.#unsaid) await this.#announce(hash);
    const isReady = await this.#nodes.run(READY, (client) => client.exists(READY));
    if (isReady && this.#fresh) return;
    await this.#rebuild();
    this.#fresh = true;
  }

  async #announce(hash: string): Promise<void> {
    await this.#nodes.run(REVOKED, (client) => client.multi().sAdd(REVOKED, hash).hDel(HOLDERS, hash).exec());
    await this.#channel.say(say({ word: 'revoked', hash }));
    this.#unsaid.delete(hash);
  }

  /** Revoked keys first, the marker last: a mirror that is marked complete is complete. */
  async #rebuild(): Promise<void> {
    const { source, log } = this.options;
    const holders = [...(await source.holders())];
    const revoked = await source.revoked();
    await this.#nodes.run(READY, async (client) => {
      for (const hashes of batches(revoked)) await client.sAdd(REVOKED, hashes);
      for (const batch of batches(holders)) {
        await client.hSet(HOLDERS, Object.fromEntries(batch.map(([hash, holder]) => [hash, JSON.stringify(holder)])));
      }
      await client.set(READY, '1');
    });
    log.info({ keys: holders.length, revoked: revoked.length }, 'keys copied to Redis');
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (!message) this.#dropped.add({ channel: KEY_CHANNEL, start: text.slice(0, 60) });
    else if (message.word === 'ask') this.#asked(message.hash);
  }

  #asked(hash: string): void {
    if (this.#answering.has(hash)) return;
    if (this.#answering.size >= MAX_ANSWERS) {
      this.#dropped.add({ channel: KEY_CHANNEL, answering: MAX_ANSWERS });
      return;
    }
    this.#answering.add(hash);
    void this.#answer(hash).finally(() => this.#answering.delete(hash));
  }

  /** Sends nothing if the store cannot answer: without an answer, the node closes with 1013. */
  async #answer(hash: string): Promise<void> {
    try {
      const holder = await this.options.source.holder(hash);
      const answer: KeyWord = holder ? { word: 'yes', hash, holder } : { word: 'no', hash };
      await this.#channel.say(say(answer));
    } catch (error) {
      this.#unanswered.add({ err: error });
    }
  }
}

function* batches<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += BATCH) yield all.slice(at, at + BATCH);
}
