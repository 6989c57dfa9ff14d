import { Broadcast } from './bus/redis-broadcast.js';
import { RedisNodes } from './bus/redis-nodes.js';
import { type Clock, systemClock, type Timer } from './clock.js';
import type { Log } from './fanout.js';
import { HOLDERS, KEY_CHANNEL, type KeyWord, parseWord, READY, REVOKED, say } from './key-words.js';
import type { KeyHolder } from './keys.js';

/** Where a gateway has its keys: the store. */
export interface KeySource {
  /** Every key that is not revoked, by its hash. */
  holders(): Promise<ReadonlyMap<string, KeyHolder>>;
  /** The hashes of all keys that were ever revoked. */
  revoked(): Promise<readonly string[]>;
  /** Who holds the key with this hash; null where it is unknown or revoked. Rejects where that cannot be told now. */
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

/**
 * A gateway's half of the key check of stand-alone fan-out nodes: mirrors the store's keys into Redis, makes the mirror anew
 * whenever it is gone, answers nodes that do not find a key in it, and announces revocations.
 */
export class KeyMirror {
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #timer: Timer;
  #checking: Promise<void> | undefined;
  #fresh = false;
  /** Revocations that the nodes have not been told of yet. */
  readonly #unsaid = new Set<string>();

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
    this.#timer = clock.every(CHECK_MS, () => void this.check());
  }

  /** Connects and makes the mirror; resolves after the first attempt, whatever came of it. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
    await this.check();
  }

  /**
   * A key was revoked, which is final: nodes forget it and close its sockets. Harmless when said again, by any gateway. Where Redis
   * does not take it now, it is said again every second until it does.
   */
  async revoke(hash: string): Promise<void> {
    this.#unsaid.add(hash);
    await this.check();
  }

  /** Says what is still to be said, and makes the mirror anew where it is missing or this gateway has lost sight of it. */
  async check(): Promise<void> {
    await this.#checking; // A check under way may have passed what this one is for.
    this.#checking ??= this.#check()
      .catch((error: unknown) => this.options.log.warn({ err: error }, 'the keys could not be mirrored to Redis yet'))
      .finally(() => {
        this.#checking = undefined;
      });
    await this.#checking;
  }

  close(): void {
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

  /** Revoked keys first, the marker last: a mirror that is marked ready lacks nothing. */
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
    log.info({ keys: holders.length, revoked: revoked.length }, 'keys mirrored to Redis');
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (message?.word === 'ask') void this.#answer(message.hash);
  }

  /** Says nothing where the store cannot tell: silence makes the node say 1013. */
  async #answer(hash: string): Promise<void> {
    try {
      const holder = await this.options.source.holder(hash);
      const answer: KeyWord = holder ? { word: 'yes', hash, holder } : { word: 'no', hash };
      await this.#channel.say(say(answer));
    } catch (error) {
      this.options.log.warn({ err: error }, 'a node asked for a key that the store could not look up now');
    }
  }
}

function* batches<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += BATCH) yield all.slice(at, at + BATCH);
}
