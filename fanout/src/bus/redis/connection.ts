import { createClient, ErrorReply } from 'redis';
import type { Clock, Timer } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import { messageOf } from '../../platform/message-of.js';
import { BusUnavailable } from '../bus.js';

export type RedisClient = ReturnType<typeof openClient>;

interface ConnectionEvents {
  /** The connection was established: it has no subscriptions yet. */
  ready(): void;
  /** The connection was lost, with all its subscriptions; it is being established again. */
  lost(): void;
  /** The server has ended the subscription of a sharded channel, because its slot has moved. */
  moved(channel: string): void;
}

const CONNECT_LIMIT_MS = 3000;
/** Maximum time for connection and handshake together, ms. */
const HANDSHAKE_LIMIT_MS = 5000;
const WATCH_MS = 1000;
/** A server that has not answered a HELLO for this long counts as lost, ms. */
const SILENCE_LIMIT_MS = 3000;
const MAX_BACKOFF_MS = 1000;

/**
 * One connection to one Redis server. Nothing is queued while it is down and no subscription is silently restored: its
 * users are told of the loss. Every second the server is asked HELLO, which every user of Redis may ask, whatever else is
 * refused: no answer means that it is lost, and a replica is left, because the address may belong to another server now.
 */
export class RedisConnection {
  #client: RedisClient | undefined;
  #closed = false;
  #failures = 0;
  /** Why the server cannot be used, while it cannot. */
  #cause: string | undefined;
  #askedAt: number | undefined;
  readonly #watch: Timer;
  #retry: Timer | undefined;

  constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly events: ConnectionEvents,
  ) {
    this.#watch = clock.every(WATCH_MS, () => this.#check());
  }

  get isReady(): boolean {
    return this.#client !== undefined;
  }

  /** The client, while the connection is up; throws `BusUnavailable` otherwise. */
  get client(): RedisClient {
    if (this.#client) return this.#client;
    const why = this.#cause === undefined ? '' : ` (${this.#cause})`;
    throw new BusUnavailable(`Redis at ${serverOf(this.url)} cannot be reached${why}; reconnecting`);
  }

  /**
   * Tries to connect; resolves after the first attempt, successful or not. Failed attempts are repeated without end.
   */
  async connect(): Promise<void> {
    const client = openClient(this.url);
    client.on('error', (error: Error) => this.#drop(client, error));
    client.on('sharded-channel-moved', (channel: string) => this.events.moved(channel));
    let late: Error | undefined;
    const limit = this.clock.after(HANDSHAKE_LIMIT_MS, () => {
      late = new Error(`no answer to the handshake for ${HANDSHAKE_LIMIT_MS} ms`);
      client.destroy();
    });
    try {
      await client.connect();
      await assertMaster(client);
      this.#take(client);
    } catch (error) {
      client.destroy();
      this.#again(late ?? error);
    } finally {
      limit.cancel();
    }
  }

  close(): void {
    this.#closed = true;
    this.#watch.cancel();
    this.#retry?.cancel();
    const client = this.#client;
    this.#client = undefined;
    client?.destroy();
  }

  #take(client: RedisClient): void {
    if (this.#closed) {
      client.destroy();
      return;
    }
    this.#client = client;
    this.#failures = 0;
    this.#cause = undefined;
    this.#askedAt = undefined;
    this.log.info({ redis: serverOf(this.url) }, 'connected to Redis');
    this.events.ready();
  }

  /** Every error ends the connection: after one in the decoder, messages may be missing. */
  #drop(client: RedisClient, error: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.destroy();
    this.events.lost();
    this.#again(error);
  }

  #again(error: unknown): void {
    if (this.#closed) return;
    const cause = causeOf(error);
    if (cause !== this.#cause) this.log.warn({ redis: serverOf(this.url), err: error }, 'Redis cannot be reached');
    this.#cause = cause;
    const backoff = Math.min(MAX_BACKOFF_MS, 50 * 2 ** this.#failures);
    this.#failures += 1;
    this.#retry = this.clock.after(backoff * (0.5 + Math.random() / 2), () => void this.connect());
  }

  #check(): void {
    const client = this.#client;
    if (!client) return;
    const now = this.clock.monotonic();
    if (this.#askedAt === undefined) {
      this.#askedAt = now;
      assertMaster(client).then(
        () => {
          if (this.#client === client) this.#askedAt = undefined;
        },
        (error: Error) => this.#drop(client, error),
      );
    } else if (now - this.#askedAt > SILENCE_LIMIT_MS) {
      this.#drop(client, new Error(`no answer for ${now - this.#askedAt} ms`));
    }
  }
}

/**
 * Rejects if the server is a replica, outside a cluster: what is published there does not reach the others; or a
 * sentinel, which carries no messages. An error is an answer, too: of a server that does not tell its role.
 */
async function assertMaster(client: RedisClient): Promise<void> {
  try {
    const { mode, role } = await client.hello();
    if (mode === 'sentinel') throw new Error('this is a Redis Sentinel: give the address of the master');
    if (mode === 'standalone' && role === 'replica') throw new Error('the server is a replica, not the master');
  } catch (error) {
    if (!(error instanceof ErrorReply)) throw error;
  }
}

/**
 * Timeout 0 means none: the default would make publishing 7 times as expensive (a timer and a signal for each command).
 */
function openClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_LIMIT_MS },
  });
}

/** Why an attempt failed, in words. A name with several IP addresses fails with an error of each, in any order. */
function causeOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(causeOf).sort().join('; ');
  return messageOf(error);
}

/** Host and port of a Redis URL, without its credentials. */
function serverOf(url: string): string {
  return new URL(url).host;
}
