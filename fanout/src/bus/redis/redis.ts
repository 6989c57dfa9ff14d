import { randomUUID } from 'node:crypto';
import { type Clock, systemClock, type Timer } from '../../platform/clock.js';
import { within } from '../../platform/deadline.js';
import type { Log } from '../../platform/log.js';
import { deferred } from '../../platform/promises.js';
import { type Bus, type BusListener, type BusMessage, type BusSubscription, BusUnavailable } from '../bus.js';
import { Broadcast } from './broadcast.js';
import type { RedisClient } from './connection.js';
import { Follower } from './follower.js';
import { RedisNodes } from './nodes.js';
import { Publisher } from './publisher.js';
import { channelOf, Upstream } from './upstream.js';

export interface RedisBusOptions {
  /**
   * `redis://` or `rediss://` URL of a server (7.0 or later) or of one or more servers of a cluster, separated by
   * commas.
   */
  readonly url: string;
  readonly log: Log;
  /**
   * Whether this process serves subscribers: it then announces this every second, and counts in every process's
   * `nodesAlive`.
   */
  readonly serves?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface RedisBus extends Bus {
  /** Number of processes that serve subscribers and were heard from lately, including this one. */
  readonly nodesAlive: number;
  /**
   * Number of messages from Redis that were dropped: not in the format of this service, or from more processes than the
   * limit.
   */
  readonly dropped: number;
}

const BEAT_MS = 1000;
/** A node that has been silent for this long is not counted. */
const NODE_SILENCE_MS = 3000;
/** Channel on which publishers and nodes announce that they live, or end. */
const CONTROL_CHANNEL = 'di:control';
const CONTROL_WORD = /^(beat|bye|node-beat|node-bye) ([\w-]{1,64})$/;
/** Maximum number of nodes counted at once. */
const MAX_NODES = 1000;

/**
 * Opens a bus over Redis; resolves after the first attempt to connect, successful or not: attempts continue until it is
 * closed.
 */
export async function createRedisBus(options: RedisBusOptions): Promise<RedisBus> {
  const bus = new ShardedBus(options);
  await bus.connect();
  return bus;
}

/**
 * Sharded pub/sub with a channel for each account. Publishing and following have separate connections, so that neither
 * delays the other.
 */
class ShardedBus implements RedisBus {
  dropped = 0;
  readonly #clock: Clock;
  readonly #commands: RedisNodes;
  readonly #subscriptions: RedisNodes;
  readonly #publisher: Publisher;
  readonly #follower: Follower;
  readonly #upstreams = new Map<string, Upstream>();
  readonly #control: Broadcast;
  readonly #beat: Timer;
  #lastTick: number;
  readonly #id = randomUUID();
  /** Time of each node's last message. */
  readonly #nodes = new Map<string, number>();
  #closed = false;

  constructor(private readonly options: RedisBusOptions) {
    const { url, log, clock = systemClock } = options;
    this.#clock = clock;
    this.#commands = new RedisNodes(url, clock, log);
    this.#subscriptions = new RedisNodes(url, clock, log, {
      ready: () => void this.#control.follow(),
      lost: (server) => this.#onLost(server),
      moved: (channel) => this.#endWhere((upstream) => upstream.channel === channel, 'its slot has moved'),
      changed: () => this.#endWhere((upstream) => !this.#standsRight(upstream), 'its slot has moved'),
    });
    this.#control = new Broadcast(this.#subscriptions, CONTROL_CHANNEL, clock, (text) => this.#hear(text));
    this.#publisher = new Publisher((account, text) => this.#send(account, text), clock);
    this.#follower = new Follower(clock, (upstream, cause) => this.#end(upstream, cause), this.#drop);
    this.#lastTick = clock.monotonic();
    this.#beat = clock.every(BEAT_MS, () => this.#onTick());
  }

  get nodesAlive(): number {
    return this.#nodes.size;
  }

  async connect(): Promise<void> {
    await Promise.all([this.#commands.connect(), this.#subscriptions.connect()]);
    await this.#control.follow();
    this.#onBeat();
  }

  async publish(account: string, messages: readonly BusMessage[]): Promise<void> {
    this.#refuseWhenClosed();
    if (messages.length > 0) await this.#publisher.publish(account, messages);
  }

  async declareLoss(account: string): Promise<void> {
    this.#refuseWhenClosed();
    this.#publisher.declareLoss(account);
  }

  async subscribe(account: string, listener: BusListener): Promise<BusSubscription> {
    this.#refuseWhenClosed();
    const upstream = this.#upstreams.get(account) ?? this.#open(account);
    const place: BusListener = { messages: (batch) => listener.messages(batch), loss: () => listener.loss() };
    upstream.listeners.add(place);
    await upstream.confirmed;
    return { cancel: () => this.#cancel(upstream, place) };
  }

  async probe(timeoutMs: number): Promise<void> {
    this.#refuseWhenClosed();
    const channel = `di:canary:${randomUUID()}`;
    const client = await this.#subscriptions.run(channel, async (it) => it);
    try {
      if (!(await within(timeoutMs, this.#roundTrip(client, channel), this.#clock)))
        throw new BusUnavailable(`a probe message did not come back from Redis within ${timeoutMs} ms`);
    } finally {
      client.sUnsubscribe(channel).catch(() => undefined); // If the connection is lost, so is the subscription.
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#beat.cancel();
    await this.#publisher.close();
    await this.#say('bye').catch(() => undefined);
    this.#follower.close();
    this.#control.close();
    this.#commands.close();
    this.#subscriptions.close();
    this.#upstreams.clear();
  }

  #open(account: string): Upstream {
    const upstream = new Upstream(account, (to, text) => this.#follower.take(to, text));
    this.#upstreams.set(account, upstream);
    this.#follower.follow(upstream);
    upstream.confirmed = this.#subscribe(upstream);
    upstream.confirmed.catch(() => this.#forget(upstream));
    return upstream;
  }

  async #subscribe(upstream: Upstream): Promise<void> {
    await this.#subscriptions.run(upstream.channel, async (client, url) => {
      upstream.url = url;
      await client.sSubscribe(upstream.channel, upstream.onText);
    });
    upstream.since = this.#clock.monotonic();
    if (upstream.over) throw new BusUnavailable('the channel was lost while the subscription was being made');
  }

  #cancel(upstream: Upstream, place: BusListener): void {
    upstream.listeners.delete(place);
    if (upstream.listeners.size > 0 || upstream.over) return;
    this.#forget(upstream);
    this.#unsubscribe(upstream);
  }

  /** A loss: the listeners are told and receive nothing more; a new subscription starts fresh. */
  #end(upstream: Upstream, cause: string): void {
    if (upstream.over) return;
    this.#forget(upstream);
    this.#unsubscribe(upstream);
    this.options.log.warn(
      { account: upstream.account, cause },
      'live insights may be lost: subscribers must reconcile',
    );
    for (const listener of upstream.listeners) listener.loss();
  }

  #onLost(server: string): void {
    this.#endWhere((upstream) => upstream.url === server, 'its connection to Redis was lost');
    void this.#control.follow();
  }

  #endWhere(concerned: (upstream: Upstream) => boolean, cause: string): void {
    for (const upstream of [...this.#upstreams.values()]) if (concerned(upstream)) this.#end(upstream, cause);
  }

  #forget(upstream: Upstream): void {
    upstream.over = true;
    this.#follower.forget(upstream);
    if (this.#upstreams.get(upstream.account) === upstream) this.#upstreams.delete(upstream.account);
  }

  /**
   * Best effort: later messages of the channel are dropped, and a lost connection has ended the subscription anyway.
   */
  #unsubscribe({ channel, url, onText }: Upstream): void {
    this.#subscriptions
      .on(url)
      ?.sUnsubscribe(channel, onText)
      .catch(() => undefined);
  }

  #standsRight({ channel, url }: Upstream): boolean {
    return url === '' || this.#subscriptions.holds(url, channel);
  }

  async #send(account: string, text: string): Promise<void> {
    const channel = channelOf(account);
    await this.#commands.run(channel, (client) => client.sPublish(channel, text));
  }

  async #roundTrip(client: RedisClient, channel: string): Promise<void> {
    const back = deferred();
    await client.sSubscribe(channel, () => back.resolve());
    await this.#commands.run(channel, (publisher) => publisher.sPublish(channel, ''));
    await back.promise;
  }

  #onTick(): void {
    this.#onBeat();
    const now = this.#clock.monotonic();
    const late = now - this.#lastTick > 2 * BEAT_MS;
    this.#lastTick = now;
    if (late) return; // This process has stood still: heartbeats that arrived meanwhile have still to be read.
    for (const [id, heard] of this.#nodes) if (now - heard >= NODE_SILENCE_MS) this.#nodes.delete(id);
  }

  #onBeat(): void {
    this.#say('beat').catch(() => undefined); // Other processes notice a missing heartbeat by themselves.
  }

  async #say(word: 'beat' | 'bye'): Promise<void> {
    const control = this.#commands.any();
    if (this.#publisher.active) await control.publish(CONTROL_CHANNEL, `${word} ${this.#publisher.id}`);
    if (this.options.serves) await control.publish(CONTROL_CHANNEL, `node-${word} ${this.#id}`);
  }

  #hear(text: string): void {
    const [, word, id = ''] = (text.length < 100 && CONTROL_WORD.exec(text)) || [];
    if (word === 'beat') this.#follower.beat(id);
    else if (word === 'bye') this.#follower.goodbye(id);
    else if (word === 'node-beat') this.#note(id);
    else if (word === 'node-bye') this.#nodes.delete(id);
    else this.#drop({ channel: CONTROL_CHANNEL, start: text.slice(0, 60) });
  }

  #note(node: string): void {
    if (this.#nodes.has(node) || this.#nodes.size < MAX_NODES) this.#nodes.set(node, this.#clock.monotonic());
    else this.#drop({ channel: CONTROL_CHANNEL, nodes: MAX_NODES });
  }

  readonly #drop = (fields: object): void => {
    this.dropped += 1;
    this.options.log.warn(fields, 'a message from Redis was dropped');
  };

  #refuseWhenClosed(): void {
    if (this.#closed) throw new BusUnavailable('the bus is closed: the process is shutting down');
  }
}
