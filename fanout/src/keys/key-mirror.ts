import { BusUnavailable } from '../bus/bus.js';
import { Broadcast } from '../bus/redis/broadcast.js';
import { RedisNodes } from '../bus/redis/nodes.js';
import { type Clock, systemClock, type Timer } from '../process/clock.js';
import type { Log } from '../process/log.js';
import { Tally } from '../process/tally.js';
import { hasExpired, type KeyHolder } from './key-check.js';
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
/** Failures count from this long after the first, ms: the next attempts may succeed. */
const FAILING_MS = 3000;
const BATCH = 1000;
/**
 * A key that expires within this time is not copied, ms: the dashboard's pages take a new one every few minutes, which the
 * store soon forgets, and which nothing would remove from Redis.
 */
const SHORT_MS = 3_600_000;
/** Most keys looked up for nodes at once; a node without an answer closes with 1013. */
const MAX_ANSWERS = 256;

/**
 * A gateway's part of the key check of stand-alone fan-out nodes: copies the store's keys to the mirror in Redis, makes
 * the mirror again when it is gone or overwritten, answers nodes that do not find a key in it, and announces revocations.
 */
export class KeyMirror {
  readonly #clock: Clock;
  readonly #nodes: RedisNodes;
  readonly #channel: Broadcast;
  readonly #timer: Timer;
  #checking: Promise<void> | undefined;
  #fresh = false;
  /** The latest failure, and when the first one since the last success was. */
  #failure: { readonly since: number; readonly cause: unknown } | undefined;
  /** Revocations that the nodes have not been told of yet. */
  readonly #unsaid = new Set<string>();
  /** Hashes of the keys being looked up: the answer goes to all nodes, so one look-up is enough. */
  readonly #answering = new Set<string>();
  readonly #dropped: Tally;
  readonly #unanswered: Tally;

  constructor(private readonly options: KeyMirrorOptions) {
    const { url, log, clock = systemClock } = options;
    this.#clock = clock;
    this.#nodes = new RedisNodes(url, clock, log, {
      ready: () => {
        this.#fresh = false;
        void this.#channel.follow();
        void this.check();
      },
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

  /** Makes the mirror again: keys may have been revoked and erased without an announcement. */
  async renew(): Promise<void> {
    this.#fresh = false;
    await this.check();
  }

  /**
   * Sends announcements that are still to be sent, and makes the mirror again if it is missing or may be outdated.
   */
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

  /** Throws the cause if nothing could be written to the mirror for some seconds. */
  probe(): void {
    if (this.#failure && this.#clock.monotonic() - this.#failure.since > FAILING_MS) throw this.#failure.cause;
  }

  close(): void {
    for (const tally of [this.#dropped, this.#unanswered]) tally.close();
    this.#timer.cancel();
    this.#channel.close();
    this.#nodes.close();
  }

  async #check(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      if (!isOfOtherType(error)) throw error;
      this.options.log.warn({ err: error }, 'the keys in Redis were overwritten by another program: copied again');
      await this.#nodes.run(READY, (client) => client.del([READY, HOLDERS, REVOKED]));
      await this.#refresh();
    }
  }

  async #refresh(): Promise<void> {
    await this.#announce();
    if (this.#fresh && (await this.#isMarked())) return;
    this.#fresh = true; // First: what happens during the copying may require another.
    try {
      await this.#rebuild();
    } catch (error) {
      this.#fresh = false;
      throw error;
    }
  }

  /**
   * Whether the mirror is marked complete. The marker is written again, to notice when Redis refuses writes; the rest is
   * read, to notice when it has another type.
   */
  async #isMarked(): Promise<boolean> {
    const [marked] = await this.#nodes.run(READY, (client) =>
      Promise.all([
        client.set(READY, '1', { condition: 'XX' }),
        client.hGet(HOLDERS, ''),
        client.sIsMember(REVOKED, ''),
      ]),
    );
    return marked !== null;
  }

  #fail(error: unknown): void {
    if (!this.#failure)
      this.options.log.warn(
        { err: error },
        'the keys could not be copied to Redis yet; repeated every second until they are',
      );
    this.#failure = { since: this.#failure?.since ?? this.#clock.monotonic(), cause: error };
  }

  /** The nodes are told first: Redis may carry messages while it refuses writes. */
  async #announce(): Promise<void> {
    const hashes = [...this.#unsaid];
    for (const hash of hashes) await this.#channel.say(say({ word: 'revoked', hash }));
    for (const batch of batches(hashes)) {
      await this.#nodes.run(REVOKED, (client) =>
        Promise.all([client.hDel(HOLDERS, batch), client.sAdd(REVOKED, batch)]),
      );
      for (const hash of batch) this.#unsaid.delete(hash);
    }
  }

  /**
   * Removes the keys that the store does not have (erased, or of another store), then adds those that it has: revoked
   * ones first, the marker last, so that a mirror that is marked complete is complete.
   */
  async #rebuild(): Promise<void> {
    const { source, log } = this.options;
    const mirrored = await this.#mirrored(); // Before the store is read: keys that are issued meanwhile are not in it.
    const holders = await source.holders();
    const revoked = await source.revoked();
    const gone = mirrored.filter((hash) => !holders.has(hash));
    for (const hash of gone) await this.#channel.say(say({ word: 'revoked', hash }));
    await this.#nodes.run(READY, async (client) => {
      for (const batch of batches(gone)) await client.hDel(HOLDERS, batch);
      for (const batch of batches(revoked)) await client.sAdd(REVOKED, batch);
      for (const batch of batches([...holders].filter(([, holder]) => this.#lasts(holder)))) {
        await client.hSet(HOLDERS, Object.fromEntries(batch.map(([hash, holder]) => [hash, JSON.stringify(holder)])));
      }
      await client.set(READY, '1');
    });
    log.info({ keys: holders.size, revoked: revoked.length, gone: gone.length }, 'keys copied to Redis');
  }

  /** The hashes of the keys in the mirror. */
  async #mirrored(): Promise<string[]> {
    const hashes = new Set<string>();
    let cursor = '0';
    do {
      const page = await this.#nodes.run(HOLDERS, (client) => client.hScan(HOLDERS, cursor, { COUNT: BATCH }));
      for (const { field } of page.entries) hashes.add(field);
      cursor = page.cursor;
    } while (cursor !== '0');
    return [...hashes];
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
    void this.#answer(hash);
  }

  #lasts(holder: KeyHolder): boolean {
    return !hasExpired(holder, this.#clock.now() + SHORT_MS);
  }

  /** So that it is known without a question from now on, and is removed with the others. Best effort. */
  async #add(hash: string, holder: KeyHolder): Promise<void> {
    await this.#nodes
      .run(HOLDERS, (client) => client.hSet(HOLDERS, hash, JSON.stringify(holder)))
      .catch(() => undefined);
  }

  /**
   * Sends nothing if the store cannot answer: without an answer, the node closes with 1013. Who asks once the key is looked up
   * may miss this answer, and gets another one.
   */
  async #answer(hash: string): Promise<void> {
    try {
      const holder = await this.options.source.holder(hash).finally(() => this.#answering.delete(hash));
      const answer: KeyWord = holder ? { word: 'yes', hash, holder } : { word: 'no', hash };
      await this.#channel.say(say(answer));
      if (holder && this.#lasts(holder)) await this.#add(hash, holder);
    } catch (error) {
      this.#unanswered.add({ err: error });
    }
  }
}

/** Whether Redis refused a command because the key has the type of another command. */
function isOfOtherType(error: unknown): boolean {
  return error instanceof BusUnavailable && /WRONGTYPE/.test(error.message);
}

function* batches<T>(all: readonly T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += BATCH) yield all.slice(at, at + BATCH);
}
