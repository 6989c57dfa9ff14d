import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { WebSocketServer } from 'ws';
import type { Bus } from './bus/bus.js';
import { Channel, type Scope } from './channel.js';
import { textFrame } from './frame.js';
import { hashKey, keysInQuery, onlyKey, prefixOf } from './keys/api-key.js';
import type { KeyCheck, KeyHolder } from './keys/key-check.js';
import { clientAddress } from './platform/client-address.js';
import { type Clock, systemClock, type Timer } from './platform/clock.js';
import { countOne } from './platform/count.js';
import { FairScheduler } from './platform/fair-scheduler.js';
import type { Log } from './platform/log.js';
import { PendingSockets } from './platform/pending-sockets.js';
import { refuseHandshake } from './platform/refusal.js';
import { CLOSE_GRACE_MS, MAX_CLIENT_MESSAGE_BYTES, Subscriber, SubscriberSocket } from './subscriber.js';
import { SubscriberRegistry } from './subscriber-registry.js';

/** Maximum time for key check and upstream subscription together, ms. */
const ADMISSION_LIMIT_MS = 5000;
const LOSS = 'insights may have been missed; connect again and read them over REST';
const NOT_NOW = 'the subscriber could not be admitted now; try again';
const MAY_NOT_READ = 'the key lacks the permission "read": use a key that has it';
const LAG_CHECK_MS = 1000;
/** Unsent bytes of all subscribers of an account, of which each may have an equal share, and the least share. */
const MAX_ACCOUNT_BYTES = 64 * 1024 * 1024;
const MIN_SHARE_BYTES = 64 * 1024;
/** Time over which subscribers that may have missed messages are closed, ms. */
const HOLE_WINDOW_MS = 3000;
const SERVER_OPTIONS = {
  noServer: true,
  clientTracking: false,
  autoPong: false, // The subscriber answers.
  perMessageDeflate: false,
  maxPayload: MAX_CLIENT_MESSAGE_BYTES,
  maxFragments: 16,
  maxBufferedChunks: 64,
  closeTimeout: 2 * CLOSE_GRACE_MS, // For a peer that closes; sockets that are closed here are cut off earlier, in turns.
  WebSocket: SubscriberSocket,
};
const STATUS_FRAME = textFrame(JSON.stringify({ status: 'subscribed' }));

export interface FanoutOptions {
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly keys: KeyCheck;
  readonly log: Log;
  /** A subscriber whose oldest unfinished write is older than this is closed (1013), ms. Default 10 s. */
  readonly maxLagMs?: number;
  /** A subscriber with more unsent bytes than this is closed (1013). Default 4 MiB. */
  readonly maxBufferedBytes?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * The counters of the subscriber sockets of one node since its start. Summed over all messages, each subscriber that
 * was connected when a message was sent counts as delivered to, dropped or filtered (`connected` = `delivered` +
 * `dropped` + `filtered`, once nothing is in flight).
 */
class Counters {
  /** Messages multiplied by the subscribers of their account at that time. */
  connected = 0;
  /** Deliveries that the kernel accepted. */
  delivered = 0;
  /** Deliveries that failed: the subscriber's socket was closing or evicted, or its account published too much. */
  dropped = 0;
  /**
   * Deliveries that were not made because the message does not belong to the subscriber's user, or was published before
   * the subscriber came.
   */
  filtered = 0;
  /** Subscribers closed because they were too slow. */
  evicted = 0;
  /** Losses that the bus has reported: each stands for an unknown number of messages of one account. */
  losses = 0;
  /** Subscribers that were never admitted, by the reason that they were told. */
  readonly refused = new Map<CloseReason, number>();
}

/**
 * The subscriber sockets of one node, mounted in the gateway or alone, over a bus and a key check. Call its `handleUpgrade` for
 * upgrades of `/stream/subscribe`.
 */
export class Fanout {
  readonly counters = new Counters();
  readonly #server = new WebSocketServer(SERVER_OPTIONS);
  readonly clock: Clock;
  readonly scheduler = new FairScheduler();
  readonly #pending: PendingSockets<Subscriber>;
  readonly bus: FanoutOptions['bus'];
  /** The accounts that have subscribers on this node. */
  readonly #channels = new Map<string, Channel>();
  readonly #maxLagMs: number;
  readonly #maxBufferedBytes: number;
  /** Registered before the key is checked, so that a revocation meanwhile is not missed. */
  readonly #registry = new SubscriberRegistry();
  readonly #lagCheck: Timer;
  readonly #stopRevocations: () => void;
  #draining: Promise<void> | undefined;
  #whenEmpty: () => void = () => undefined;

  constructor(private readonly options: FanoutOptions) {
    this.bus = options.bus;
    this.clock = options.clock ?? systemClock;
    this.#pending = new PendingSockets(options.log);
    this.#server.on('wsClientError', refuseHandshake);
    this.#maxLagMs = options.maxLagMs ?? 10_000;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? 4 * 1024 * 1024;
    this.#stopRevocations = options.keys.onRevoked(
      (hash) => this.#revoke(hash),
      () => this.#registry.keys(),
    );
    this.#lagCheck = this.clock.every(LAG_CHECK_MS, () => {
      this.#checkLags();
      this.#closeExpired();
    });
  }

  /** Open subscriber sockets, including those not yet admitted. */
  get connections(): number {
    return this.#registry.size;
  }

  /** Age of the oldest write that the kernel has not completely accepted, over all subscribers, ms. */
  get lagMs(): number {
    const now = this.clock.monotonic();
    let lag = 0;
    for (const subscriber of this.#registry) lag = Math.max(lag, subscriber.lagMs(now));
    return lag;
  }

  /**
   * Handles an HTTP upgrade of `/stream/subscribe`. It is accepted, so that a refusal is a close code; the answer is
   * 503 if too many sockets wait. Thousands may connect at once, so they are accepted in turns; their key, and so their
   * account, is not known yet.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.scheduler.once('', () => this.#accept(request, socket, head));
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#pending.refuseIfFull(socket)) return;
    const key = onlyKey(keysInQuery(request.url ?? ''));
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const subscriber = new Subscriber(ws, socket, this);
      this.#pending.add(subscriber);
      if (this.#draining) this.#refuse(subscriber, 'restarting');
      else if (key === null) this.#refuse(subscriber, 'authenticationFailed');
      else void this.#admit(subscriber, hashKey(key), request);
    });
  }

  /** Call once for each subscriber, when its socket is closed. */
  onClose(subscriber: Subscriber): void {
    const { scope } = subscriber;
    this.#pending.delete(subscriber);
    scope?.channel.release(subscriber, scope);
    this.#registry.remove(subscriber);
    this.#checkEmpty();
  }

  /** The subscribers of an account may have missed messages, and receive nothing more. */
  onLoss(subscribers: readonly Subscriber[]): void {
    closeSpread(subscribers, LOSS, HOLE_WINDOW_MS, this.clock);
  }

  /**
   * The kernel has not completely accepted the subscriber's last write. The more subscribers an account has, the earlier
   * those that do not read are evicted.
   */
  onBehind(subscriber: Subscriber): void {
    const share = Math.max(MIN_SHARE_BYTES, MAX_ACCOUNT_BYTES / (subscriber.scope?.channel.size || 1));
    if (subscriber.bufferedBytes > Math.min(this.#maxBufferedBytes, share)) this.#evict(subscriber);
  }

  /** The channel serves nobody any more: a later subscriber needs a new one. */
  onEnd(channel: Channel): void {
    if (this.#channels.get(channel.account) === channel) this.#channels.delete(channel.account);
  }

  /**
   * From now on, refuses connections with 1012; closes the open sockets with 1012, spread over `windowMs`; resolves
   * when all are closed.
   */
  drain(windowMs: number): Promise<void> {
    this.#draining ??= this.#drain(windowMs);
    return this.#draining;
  }

  async #drain(windowMs: number): Promise<void> {
    this.options.log.info({ connections: this.connections, windowMs }, 'draining the subscriber sockets');
    closeSpread(this.#registry, CLOSE.restarting.meaning, windowMs, this.clock);
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
      this.#checkEmpty();
    });
    this.#lagCheck.cancel();
    this.#stopRevocations();
  }

  /**
   * Key, upstream subscription, status; only then messages. If one of them is not available within the limit, the code
   * is 1013.
   */
  async #admit(subscriber: Subscriber, hash: string, request: IncomingMessage): Promise<void> {
    this.#registry.add(subscriber, hash);
    const limit = this.clock.after(ADMISSION_LIMIT_MS, () => this.#refuse(subscriber, 'overloaded', NOT_NOW));
    try {
      const holder = await this.options.keys.holder(hash);
      if (holder?.permissions.includes('read')) await this.#subscribe(subscriber, holder);
      else this.#refuseKey(subscriber, request, holder ? MAY_NOT_READ : undefined);
    } catch (error) {
      this.options.log.warn({ err: error }, 'subscriber refused for now: the key check or the bus is not available');
      this.#refuse(subscriber, 'overloaded', NOT_NOW);
    } finally {
      limit.cancel();
    }
  }

  #refuseKey(subscriber: Subscriber, request: IncomingMessage, detail?: string): void {
    const keyPrefix = prefixOf(onlyKey(keysInQuery(request.url ?? '')) ?? '');
    this.options.log.warn({ address: clientAddress(request), keyPrefix }, 'an API key was refused');
    this.#refuse(subscriber, 'authenticationFailed', detail);
  }

  /** It is not pending any more: it needs no key, and may not answer the close frame for long. */
  #refuse(subscriber: Subscriber, reason: CloseReason, detail?: string): void {
    this.#pending.delete(subscriber);
    if (!subscriber.open) return;
    countOne(this.counters.refused, reason);
    subscriber.close(reason, detail);
  }

  async #subscribe(subscriber: Subscriber, holder: KeyHolder): Promise<void> {
    if (!subscriber.open) return;
    if (subscriber.group) subscriber.group.expiresAt = holder.expiresAt;
    const scope = this.#scopeOf(holder);
    subscriber.scope = scope;
    await scope.channel.confirmed;
    if (!subscriber.open) return;
    subscriber.write(STATUS_FRAME, 0, this.clock.monotonic());
    scope.channel.add(subscriber, scope);
    this.#pending.delete(subscriber);
  }

  /** A place for the holder of a key: the account's upstream subscription lives as long as there are places. */
  #scopeOf({ account, user }: KeyHolder): Scope {
    const channel = this.#channels.get(account) ?? new Channel(account, this);
    this.#channels.set(account, channel);
    return channel.reserve(user);
  }

  #checkEmpty(): void {
    if (this.#registry.size === 0) this.#whenEmpty();
  }

  #revoke(hash: string): void {
    for (const subscriber of this.#registry.withKey(hash)) subscriber.close('authenticationFailed');
  }

  /** Uses the current wall clock: a timer set at admission would not notice that the clock was set. */
  #closeExpired(): void {
    for (const subscriber of this.#registry.expired(this.clock.now())) subscriber.close('authenticationFailed');
  }

  #checkLags(): void {
    const now = this.clock.monotonic();
    for (const subscriber of this.#registry) {
      subscriber.look();
      if (subscriber.lagMs(now) > this.#maxLagMs) this.#evict(subscriber);
    }
  }

  /** A subscriber that is too slow is closed, so that the data that it leaves unread do not accumulate here. */
  #evict(subscriber: Subscriber): void {
    if (!subscriber.open) return;
    this.counters.evicted += 1;
    const lagMs = subscriber.lagMs(this.clock.monotonic());
    const found = { lagMs, bytes: subscriber.bufferedBytes, accountId: subscriber.scope?.channel.account };
    this.options.log.warn(found, 'subscriber evicted: too slow to follow');
    subscriber.close('overloaded', 'the subscriber reads too slowly');
  }
}

/** Closes subscribers with 1012, evenly over `windowMs`, so that their reconnects do not arrive all at once. */
function closeSpread(subscribers: Iterable<Subscriber>, detail: string, windowMs: number, clock: Clock): void {
  const all = [...subscribers];
  for (const [index, subscriber] of all.entries()) {
    clock.after((windowMs * index) / all.length, () => subscriber.close('restarting', detail));
  }
}
