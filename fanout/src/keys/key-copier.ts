import { BusUnavailable } from '../bus/bus.js';
import { Broadcast } from '../bus/redis/broadcast.js';
import { RedisNodes } from '../bus/redis/nodes.js';
import { type Clock, systemClock, type Timer } from '../platform/clock.js';
import type { Log } from '../platform/log.js';
import { hasExpired, type KeyHolder } from './key-check.js';
import { KEY_CHANNEL, KEYS, type KeyWord, MARK, parseWord, REVOKED } from './key-copy.js';

/** The source of a gateway's keys: the store. */
export interface KeySource {
  /** The holder of every key, by its hash; null for those that are revoked. */
  all(): Promise<ReadonlyMap<string, KeyHolder | null>>;
  /**
   * The holder of the key with this hash; null if it is unknown, revoked or expired. Rejects if that is not known now.
   */
  holder(hash: string): Promise<KeyHolder | null>;
}

interface KeyCopierOptions {
  readonly url: string;
  readonly source: KeySource;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const CHECK_MS = 1000;
/** Failures count from this long after the first, ms: the next attempts may succeed. */
const FAILING_MS = 3000;
const BATCH = 1000;
/**
 * A key that expires within this time is not copied, ms: the dashboard's pages take a new one every few minutes, which the
 * store soon forgets, and which nothing would remove from Redis.
 */
const SHORT_MS = 3_600_000;
/** Maximum number of keys looked up for nodes at once; a node without an answer closes with 1013. */
const MAX_ANSWERS = 256;

/**
 * A gateway's part of the key check of stand-alone fan-out nodes: copies the store's keys to a hash in Redis, writes it
 * again when it is missing, answers nodes that do not find a key in it, and announces revocations.
 */
export class KeyCopier {
  readonly #clock: Clock;
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #timer: Timer;
  #checking: Promise<void> | undefined;
  #isCopied = false;
  /** The latest failure, and when the first one since the last success was. */
  #failure: { readonly since: number; readonly cause: unknown } | undefined;
  /** Revocations that are not in Redis yet. */
  readonly #revoked = new Set<string>();
  /** Hashes of the keys being looked up: the answer goes to all nodes, so one look-up is enough. */
  readonly #answering = new Set<string>();

  constructor(private readonly options: KeyCopierOptions) {
    const { url, log, clock = systemClock } = options;
    this.#clock = clock;
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => {
        void this.#channel.follow();
        void this.renew();
      },
    });
    this.#channel = new Broadcast(this.#nodes, KEY_CHANNEL, clock, (text) => this.#hear(text));
    this.#timer = clock.every(CHECK_MS, () => void this.check());
  }

  /** Number of messages about keys that were dropped: not in the format of this service, or above a limit. */
  dropped = 0;

  /** Connects and copies; resolves after the first attempt, successful or not. */
  async start(): Promise<void> {
    await this.#nodes.connect();
    await this.#channel.follow();
    await this.check();
  }

  /**
   * A key was revoked, permanently: nodes close its sockets. Repeating this is harmless, by any gateway. If Redis does
   * not accept it now, it is repeated every second until it does.
   */
  async revoke(hash: string): Promise<void> {
    this.#revoked.add(hash);
    await this.check();
  }

  /** Copies all keys again: some may have been revoked and erased without an announcement. */
  async renew(): Promise<void> {
    this.#isCopied = false;
    await this.check();
  }

  /** Announces revocations that are not in Redis yet, and copies the keys if they are missing or may be outdated. */
  async check(): Promise<void> {
    await this.#checking; // The running check may already have passed the cause of this one.
    this.#checking ??= this.#check()
      .then(
        () => {
          this.#failure = undefined;
        },
        (error: unknown) => this.#fail(error),
      )
      .finally(() => {
        this.#checking = undefined;
      });
    await this.#checking;
  }

  /** Throws the cause if nothing could be written to Redis for some seconds. */
  probe(): void {
    if (this.#failure && this.#clock.monotonic() - this.#failure.since > FAILING_MS) throw this.#failure.cause;
  }

  close(): void {
    this.#timer.cancel();
    this.#channel.close();
    this.#nodes.close();
  }

  /** The nodes are told first: Redis may carry messages while it refuses writes. */
  async #check(): Promise<void> {
    const revoked = [...this.#revoked];
    await this.#announce(revoked);
    if (await this.#isMissing()) this.#isCopied = false;
    await this.#write(revoked.map((hash) => [hash, REVOKED]));
    for (const hash of revoked) this.#revoked.delete(hash);
    if (this.#isCopied) return;
    this.#isCopied = true; // First: what happens during the copying may require another.
    try {
      await this.#copy();
    } catch (error) {
      this.#isCopied = false;
      throw error;
    }
  }

  /** Whether the copy was gone, or overwritten by another program. The mark is written each time, to notice that Redis refuses writes. */
  async #isMissing(): Promise<boolean> {
    const mark = () => this.#nodes.run(KEYS, (client) => client.hSet(KEYS, MARK, '1'));
    try {
      return (await mark()) > 0;
    } catch (error) {
      if (!isOfOtherType(error)) throw error;
      this.options.log.warn({ err: error }, 'the keys in Redis were overwritten by another program: copied again');
      await this.#nodes.run(KEYS, (client) => client.del(KEYS));
      return (await mark()) > 0;
    }
  }

  #fail(error: unknown): void {
    if (!this.#failure)
      this.options.log.warn({ err: error }, 'the keys could not be copied to Redis; trying again every second');
    this.#failure = { since: this.#failure?.since ?? this.#clock.monotonic(), cause: error };
  }

  async #announce(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) await this.#say({ word: 'revoked', hash });
  }

  /**
   * Removes the keys that the store does not have (erased, or of another store), and writes those that it has. A key that
   * is revoked meanwhile is announced later, by every gateway.
   */
  async #copy(): Promise<void> {
    const { source, log } = this.options;
    // Before the store is read: keys that are issued meanwhile are not in it.
    const copied = await this.#nodes.run(KEYS, (client) => client.hGetAll(KEYS));
    const keys = await source.all();
    const hashes = Object.keys(copied).filter((hash) => hash !== MARK);
    await this.#announce(hashes.filter((hash) => copied[hash] !== REVOKED && !keys.get(hash)));
    const gone = hashes.filter((hash) => !keys.has(hash));
    if (gone.length > 0) await this.#nodes.run(KEYS, (client) => client.hDel(KEYS, gone));
    await this.#write(
      [...keys].flatMap(([hash, holder]) => {
        if (holder === null) return [[hash, REVOKED]];
        return this.#lasts(holder) ? [[hash, JSON.stringify(holder)]] : [];
      }),
    );
    log.info({ keys: keys.size, gone: gone.length }, 'keys copied to Redis');
  }

  async #write(entries: readonly (readonly [hash: string, value: string])[]): Promise<void> {
    for (let at = 0; at < entries.length; at += BATCH) {
      const batch = Object.fromEntries(entries.slice(at, at + BATCH));
      await this.#nodes.run(KEYS, (client) => client.hSet(KEYS, batch));
    }
  }

  #say(message: KeyWord): Promise<void> {
    return this.#channel.say(JSON.stringify(message));
  }

  #hear(text: string): void {
    const message = parseWord(text);
    if (!message) this.#drop({ channel: KEY_CHANNEL, start: text.slice(0, 60) });
    else if (message.word === 'ask') this.#asked(message.hash);
  }

  #asked(hash: string): void {
    if (this.#answering.has(hash)) return;
    if (this.#answering.size >= MAX_ANSWERS) {
      this.#drop({ channel: KEY_CHANNEL, answering: MAX_ANSWERS });
      return;
    }
    this.#answering.add(hash);
    void this.#answer(hash);
  }

  #drop(fields: object): void {
    this.dropped += 1;
    this.options.log.warn(fields, 'a message of a fan-out node about keys was dropped');
  }

  #lasts(holder: KeyHolder): boolean {
    return !hasExpired(holder, this.#clock.now() + SHORT_MS);
  }

  /**
   * Sends nothing if the store cannot answer: without an answer, the node closes with 1013. Who asks once the key is looked up
   * may miss this answer, and gets another one.
   */
  async #answer(hash: string): Promise<void> {
    try {
      const holder = await this.options.source.holder(hash).finally(() => this.#answering.delete(hash));
      await this.#say(holder ? { word: 'yes', hash, holder } : { word: 'no', hash });
      if (holder && this.#lasts(holder))
        // So that it is known without a question from now on; not if it was revoked meanwhile.
        await this.#nodes.run(KEYS, (client) => client.hSetNX(KEYS, hash, JSON.stringify(holder)));
    } catch (error) {
      this.options.log.warn({ err: error }, 'a fan-out node asked for a key that the store could not look up now');
    }
  }
}

/** Whether Redis refused a command because the key has the type of another command. */
function isOfOtherType(error: unknown): boolean {
  return error instanceof BusUnavailable && /WRONGTYPE/.test(error.message);
}
