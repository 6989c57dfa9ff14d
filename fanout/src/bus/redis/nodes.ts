import type { Clock, Timer } from '../../platform/clock.js';
import type { Log } from '../../platform/log.js';
import { messageOf } from '../../platform/message-of.js';
import { shared } from '../../platform/promises.js';
import { BusUnavailable } from '../bus.js';
import { type RedisClient, RedisConnection } from './connection.js';
import { SLOTS, slotOf } from './slot.js';

interface NodesEvents {
  /** A connection was established; it has no subscriptions. */
  ready?(): void;
  /** The connection to a server was lost, with its subscriptions. */
  lost?(url: string): void;
  /** A server has ended the subscription of a sharded channel. */
  moved?(channel: string): void;
  /** The owners of slots have changed. */
  changed?(): void;
}

const REFRESH_MS = 1000;
/** Maximum number of redirections followed for one command. */
const MAX_REDIRECTIONS = 4;

/** One entry of CLUSTER SLOTS: first slot, last slot, the master (host, port, …), its replicas. */
type SlotRange = [first: number, last: number, master: [host: string | null, port: number]];

/**
 * The masters of a Redis Cluster with their slots, or a single server that is not a cluster; a connection to each. The
 * server itself tells which of the two it is, so that one REDIS_URL (for a cluster, several addresses separated by
 * commas) serves both.
 */
export class RedisNodes {
  readonly #seeds: readonly string[];
  readonly #connections = new Map<string, RedisConnection>();
  /** URL by slot; undefined if the server is not a cluster, or this is not known yet. */
  #owners: (string | undefined)[] | undefined;
  #isCluster = true;
  readonly #timer: Timer;

  constructor(
    urls: string,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly events: NodesEvents = {},
  ) {
    this.#seeds = urls.split(',').map((url) => url.trim());
    this.#timer = clock.every(REFRESH_MS, () => void this.#refresh());
  }

  /** Resolves after the first attempt, successful or not. */
  async connect(): Promise<void> {
    await Promise.all(this.#seeds.map((url) => this.#open(url)));
    await this.#refresh();
  }

  /** URL of the server that holds a channel or key. */
  ownerOf(channel: string): string {
    if (!this.#isCluster && this.#seeds.length > 1)
      throw new BusUnavailable('REDIS_URL has several addresses, but the servers are not a cluster: give only one');
    const owner = this.#ownerOf(channel);
    if (owner === undefined) throw new BusUnavailable('Redis Cluster: no master serves the slot now');
    return owner;
  }

  /** Whether a server holds a channel now. */
  holds(url: string, channel: string): boolean {
    return this.#ownerOf(channel) === url;
  }

  /** The client of a server, if its connection is up. */
  on(url: string): RedisClient | undefined {
    const connection = this.#connections.get(url);
    return connection?.isReady ? connection.client : undefined;
  }

  /** A client of any reachable server, for messages that a cluster carries to all its servers. */
  any(): RedisClient {
    for (const connection of this.#connections.values()) if (connection.isReady) return connection.client;
    throw new BusUnavailable('no Redis server can be reached; reconnecting');
  }

  /** Runs a command on the server of its channel or key, following redirections; rejects with `BusUnavailable`. */
  async run<T>(channel: string, command: (client: RedisClient, url: string) => Promise<T>): Promise<T> {
    for (let redirections = 0; ; redirections++) {
      const url = this.ownerOf(channel);
      try {
        return await command(this.#clientOf(url), url);
      } catch (error) {
        const target = movedTo(error);
        if (!target || redirections === MAX_REDIRECTIONS) throw unavailable(error);
        await this.#follow(channel, urlAt(url, target));
      }
    }
  }

  close(): void {
    this.#timer.cancel();
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  #ownerOf(channel: string): string | undefined {
    return this.#owners ? this.#owners[slotOf(channel)] : this.#seeds[0];
  }

  #clientOf(url: string): RedisClient {
    const connection = this.#connections.get(url);
    if (!connection) throw new BusUnavailable('the connection to Redis is closed or not established yet');
    return connection.client;
  }

  async #open(url: string): Promise<void> {
    if (this.#connections.has(url)) return;
    const connection = new RedisConnection(url, this.clock, this.log, {
      ready: () => {
        this.#isCluster = true; // The slots must be read again: another server may have this address now.
        this.events.ready?.();
      },
      lost: () => this.events.lost?.(url),
      moved: (channel) => this.events.moved?.(channel),
    });
    this.#connections.set(url, connection);
    await connection.connect();
  }

  async #follow(channel: string, url: string): Promise<void> {
    this.#owners ??= new Array(SLOTS).fill(undefined);
    this.#owners[slotOf(channel)] = url;
    await this.#open(url);
    this.events.changed?.();
  }

  /** Reads the slots again from the first server that answers. */
  readonly #refresh = shared(() => this.#readSlots());

  async #readSlots(): Promise<void> {
    if (!this.#isCluster) return;
    for (const [url, connection] of this.#connections) {
      if (!connection.isReady) continue;
      try {
        const ranges = (await connection.client.sendCommand(['CLUSTER', 'SLOTS'])) as unknown as SlotRange[];
        return await this.#install(ranges, url);
      } catch (error) {
        if (isNoCluster(error)) return this.#becomeSingle();
      }
    }
  }

  #becomeSingle(): void {
    this.#isCluster = false;
    this.#owners = undefined;
  }

  async #install(ranges: readonly SlotRange[], asked: string): Promise<void> {
    const owners: (string | undefined)[] = new Array(SLOTS).fill(undefined);
    for (const [first, last, [host, port]] of ranges) {
      owners.fill(urlAt(asked, { host: host ?? '', port }), first, last + 1);
    }
    const before = this.#owners;
    this.#owners = owners;
    await this.#keep(new Set([...this.#seeds, ...owners.filter((url) => url !== undefined)]));
    if (before?.some((url, slot) => url !== owners[slot])) this.events.changed?.();
  }

  async #keep(urls: ReadonlySet<string>): Promise<void> {
    for (const [url, connection] of this.#connections) {
      if (urls.has(url)) continue;
      connection.close();
      this.#connections.delete(url);
    }
    await Promise.all([...urls].map((url) => this.#open(url)));
  }
}

/**
 * The URL of another server of the same cluster: same scheme and credentials. An empty host means that of the server
 * asked.
 */
function urlAt(url: string, { host, port }: { host: string; port: number }): string {
  const other = new URL(url);
  if (host !== '') other.hostname = host.includes(':') ? `[${host}]` : host;
  other.port = `${port}`;
  return other.href;
}

/** The target of a MOVED error: `MOVED <slot> <host>:<port>`. */
function movedTo(error: unknown): { host: string; port: number } | undefined {
  const match = error instanceof Error ? /^MOVED \d+ (.*):(\d+)$/.exec(error.message) : null;
  return match ? { host: match[1] ?? '', port: Number(match[2]) } : undefined;
}

function isNoCluster(error: unknown): boolean {
  return error instanceof Error && /cluster support disabled|unknown command/i.test(error.message);
}

function unavailable(error: unknown): BusUnavailable {
  if (error instanceof BusUnavailable) return error;
  return new BusUnavailable(`Redis refused the command: ${messageOf(error)}`, { cause: error });
}
