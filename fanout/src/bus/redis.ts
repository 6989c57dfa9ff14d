import { randomUUID } from 'node:crypto';
import { type Clock, systemClock, type Timer } from '../clock.js';
import type { Log } from '../fanout.js';
import { type Bus, type BusListener, type BusMessage, type BusSubscription, BusUnavailable } from './bus.js';
import { Broadcast } from './redis-broadcast.js';
import type { RedisClient } from './redis-connection.js';
import { Follower } from './redis-follower.js';
import { RedisNodes } from './redis-nodes.js';
import { Publisher } from './redis-publisher.js';
import { channelOf, Upstream } from './redis-upstream.js';

export interface RedisBusOptions {
  /** `redis://` or `rediss://` URL of a server (7.0 or later) or of one or more servers of a cluster, separated by commas. */
  readonly url: string;
  readonly log: Log;
  /** Whether this process serves subscribers: it then says so every second, and counts in everybody's `nodesAlive`. */
  readonly serves?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface RedisBus extends Bus {
  /** How many processes that serve subscribers have been heard of lately, this one included. */
  readonly nodesAlive: number;
}

const BEAT_MS = 1000;
/** A node that has not been heard of for this long is not counted. */
const NODE_SILENCE_MS = 3000;
/** Where publishers and nodes say that they live, or go. */
const CONTROL_CHANNEL = 'di:control';

/** Opens a bus over Redis; resolves after the first attempt to connect, whatever came of it: attempts go on until it is closed. */
export async function createRedisBus(options: RedisBusOptions): Promise<RedisBus> {
  const bus = new ShardedBus(options);
  await bus.connect();
  return bus;
}

/** Sharded pub/sub, a channel an account; publishing and following have connections of their own, so that neither delays the other. */
class ShardedBus implements RedisBus {
  readonly #clock: Clock;
  readonly #commands: RedisNodes;
  readonly #subscriptions: RedisNodes;
  readonly #publisher: Publisher;
  readonly #follower: Follower;
  readonly #upstreams = new Map<string, Upstream>();
  readonly #control: Broadcast;
  readonly #beat: Timer;
  readonly #id = randomUUID();
  /** When each node was last heard of. */
  readonly #nodes = new Map<string, number>();
  #closed = false;

  constructor(private readonly options: RedisBusOptions) {
    const { url, log, clock = systemClock } = options;
    const nothing = () => undefined;
    this.#clock = clock;
    this.#commands = new RedisNodes(url, clock, log, {
      ready: nothing,
      lost: nothing,
      moved: nothing,
      changed: nothing,
    });
    this.#subscriptions = new RedisNodes(url, clock, log, {
      ready: () => void this.#control.follow(),
      lost: (server) => this.#onLost(server),
      moved: (channel) => this.#endWhere((upstream) => upstream.channel === channel, 'its slot has moved'),
      changed: () => this.#endWhere((upstream) => !this.#standsRight(upstream), 'its slot has moved'),
    });
    this.#control = new Broadcast(this.#subscriptions, CONTROL_CHANNEL, clock, (text) => this.#hear(text));
    this.#publisher = new Publisher((account, text) => this.#send(account, text), clock);
    this.#follower = new Follower(clock, (upstream, cause) => this.#end(upstream, cause));
    this.#beat = clock.every(BEAT_MS, () => this.#onBeat());
  }

  get nodesAlive(): number {
    const before = this.#clock.now() - NODE_SILENCE_MS;
    for (const [id, heard] of this.#nodes) if (heard < before) this.#nodes.delete(id);
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

  async subscribe(account: string, listener: BusListener): Promise<BusSubscription> {
    this.#refuseWhenClosed();
    const upstream = this.#upstreams.get(account) ?? this.#open(account);
    const place: BusListener = { messages: (batch) => listener.messages(batch), hole: () => listener.hole() };
    upstream.listeners.add(place);
    await upstream.confirmed;
    return { cancel: () => this.#cancel(upstream, place) };
  }

  async probe(timeoutMs: number): Promise<void> {
    this.#refuseWhenClosed();
    const channel = `di:canary:${randomUUID()}`;
    const client = await this.#subscriptions.run(channel, async (it) => it);
    try {
      await this.#within(timeoutMs, this.#roundTrip(client, channel));
    } finally {
      client.sUnsubscribe(channel).catch(() => undefined); // Where the connection is gone, so is the subscription.
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
    upstream.since = this.#clock.now();
    if (upstream.over) throw new BusUnavailable('the channel was lost while it was being subscribed');
  }

  #cancel(upstream: Upstream, place: BusListener): void {
    upstream.listeners.delete(place);
    if (upstream.listeners.size > 0 || upstream.over) return;
    this.#forget(upstream);
    this.#unsubscribe(upstream);
  }

  /** A hole: whoever listens is told and gets nothing more; a new subscription starts afresh. */
  #end(upstream: Upstream, cause: string): void {
    if (upstream.over) return;
    this.#forget(upstream);
    this.#unsubscribe(upstream);
    this.options.log.warn(
      { account: upstream.account, cause },
      'live insights may be lost: subscribers must reconcile',
    );
    for (const listener of upstream.listeners) listener.hole();
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

  /** Best effort: what still comes for it is dropped, and a lost connection has forgotten it anyway. */
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
    let back: () => void = () => undefined;
    const came = new Promise<void>((resolve) => {
      back = resolve;
    });
    await client.sSubscribe(channel, back);
    await this.#commands.run(channel, (publisher) => publisher.sPublish(channel, ''));
    await came;
  }

  async #within(timeoutMs: number, run: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const error = new BusUnavailable(`a canary did not come back from Redis within ${timeoutMs} ms`);
      timer = this.#clock.after(timeoutMs, () => reject(error));
    });
    await Promise.race([run, late]).finally(() => timer?.cancel());
  }

  #onBeat(): void {
    this.#say('beat').catch(() => undefined); // A beat that is not heard is what a beat is for.
  }

  async #say(word: 'beat' | 'bye'): Promise<void> {
    const control = this.#commands.any();
    if (this.#publisher.active) await control.publish(CONTROL_CHANNEL, `${word} ${this.#publisher.id}`);
    if (this.options.serves) await control.publish(CONTROL_CHANNEL, `node-${word} ${this.#id}`);
  }

  #hear(text: string): void {
    const [word, id = ''] = text.split(' ');
    if (word === 'beat') this.#follower.beat(id);
    else if (word === 'bye') this.#follower.goodbye(id);
    else if (word === 'node-beat') this.#nodes.set(id, this.#clock.now());
    else if (word === 'node-bye') this.#nodes.delete(id);
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new BusUnavailable('the bus is closed: the process is going down');
  }
}
