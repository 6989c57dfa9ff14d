import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Clock, systemClock, type Timer } from './clock.js';
import { Counters } from './counters.js';
import { sharedDeflateOffer } from './deflate-offer.js';
import type { Fanout, FanoutOptions } from './fanout.js';
import { textFrame } from './frame.js';
import { Hub } from './hub.js';
import { type KeyHolder, keyHashOf } from './keys.js';
import { Roster } from './roster.js';
import { closeSpread } from './spread.js';
import { Subscriber, type SubscriberHome, SubscriberSocket } from './subscriber.js';

/** A subscriber's own messages are read and ignored, up to this size. */
const MAX_CLIENT_MESSAGE_BYTES = 4096;
/** Key check and upstream subscription together, ms. */
const ADMISSION_LIMIT_MS = 5000;
const LAG_CHECK_MS = 1000;
/** Those who may have missed messages are closed over this time, ms. */
const HOLE_WINDOW_MS = 3000;
const SERVER_OPTIONS = {
  noServer: true,
  clientTracking: false,
  autoPong: false, // The subscriber answers.
  maxPayload: MAX_CLIENT_MESSAGE_BYTES,
  WebSocket: SubscriberSocket,
};
const SHARED_DEFLATE = { serverNoContextTakeover: true, clientNoContextTakeover: true };
const STATUS_FRAME = textFrame(JSON.stringify({ status: 'subscribed' }));

/** The subscriber sockets of one node, from upgrade to close. */
export class FanoutNode implements Fanout, SubscriberHome {
  readonly counters = new Counters();
  readonly #plainServer = new WebSocketServer({ ...SERVER_OPTIONS, perMessageDeflate: false });
  readonly #deflatingServer = new WebSocketServer({ ...SERVER_OPTIONS, perMessageDeflate: SHARED_DEFLATE });
  readonly clock: Clock;
  readonly #hub: Hub;
  readonly #maxLagMs: number;
  readonly #maxBufferedBytes: number;
  /** From before the key is checked: a revocation meanwhile is not missed. */
  readonly #roster = new Roster();
  readonly #lagCheck: Timer;
  readonly #stopRevocations: () => void;
  #draining: Promise<void> | undefined;
  #whenEmpty: () => void = () => undefined;

  constructor(private readonly options: FanoutOptions) {
    this.clock = options.clock ?? systemClock;
    this.#maxLagMs = options.maxLagMs ?? 10_000;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? 4 * 1024 * 1024;
    this.#hub = new Hub({
      bus: options.bus,
      clock: this.clock,
      counters: this.counters,
      flushMs: options.flushMs ?? 0,
      onHole: (subscribers) => closeSpread(subscribers, 'restarting', HOLE_WINDOW_MS, this.clock),
      onBehind: (subscriber) => this.#checkBuffer(subscriber),
    });
    this.#stopRevocations = options.keys.onRevoked((hash) => this.#revoke(hash));
    this.#lagCheck = this.clock.every(LAG_CHECK_MS, () => this.#checkLags());
  }

  get connections(): number {
    return this.#roster.size;
  }

  get lagMs(): number {
    const now = this.clock.now();
    let lag = 0;
    for (const subscriber of this.#roster) lag = Math.max(lag, subscriber.lagMs(now));
    return lag;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const hash = keyHashOf(request.url ?? '');
    const offer = sharedDeflateOffer(request.headers['sec-websocket-extensions']);
    if (offer) request.headers['sec-websocket-extensions'] = offer; // Of several offers, the one to be taken up.
    const server = offer ? this.#deflatingServer : this.#plainServer;
    server.handleUpgrade(request, socket, head, (ws) => {
      const subscriber = new Subscriber(ws, socket, this);
      if (this.#draining) subscriber.close('restarting');
      else if (hash === null) subscriber.close('authenticationFailed');
      else void this.#admit(subscriber, hash);
    });
  }

  onClose(subscriber: Subscriber): void {
    const { scope } = subscriber;
    scope?.channel.release(subscriber, scope);
    this.#roster.remove(subscriber);
    this.#checkEmpty();
  }

  drain(windowMs: number): Promise<void> {
    this.#draining ??= this.#drain(windowMs);
    return this.#draining;
  }

  async #drain(windowMs: number): Promise<void> {
    this.options.log.info({ connections: this.connections, windowMs }, 'draining the subscriber sockets');
    closeSpread(this.#roster, 'restarting', windowMs, this.clock);
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
      this.#checkEmpty();
    });
    this.#lagCheck.cancel();
    this.#stopRevocations();
  }

  /** Key, upstream subscription, status: only then messages. What cannot be had within the limit is 1013. */
  async #admit(subscriber: Subscriber, hash: string): Promise<void> {
    this.#roster.add(subscriber, hash);
    const limit = this.clock.after(ADMISSION_LIMIT_MS, () => subscriber.close('overloaded'));
    try {
      const holder = await this.options.keys.holder(hash);
      if (holder) await this.#seat(subscriber, holder);
      else subscriber.close('authenticationFailed');
    } catch (error) {
      this.options.log.warn({ err: error }, 'subscriber refused for now: its key or its channel cannot be had');
      subscriber.close('overloaded');
    } finally {
      limit.cancel();
    }
  }

  async #seat(subscriber: Subscriber, holder: KeyHolder): Promise<void> {
    if (!subscriber.open) return;
    const scope = this.#hub.reserve(holder);
    subscriber.scope = scope;
    await scope.channel.confirmed;
    if (!subscriber.open) return;
    subscriber.write(STATUS_FRAME, 0, this.clock.now());
    scope.channel.add(subscriber, scope);
  }

  #checkEmpty(): void {
    if (this.#roster.size === 0) this.#whenEmpty();
  }

  #revoke(hash: string): void {
    for (const subscriber of this.#roster.withKey(hash)) subscriber.close('authenticationFailed');
  }

  #checkBuffer(subscriber: Subscriber): void {
    if (subscriber.bufferedBytes > this.#maxBufferedBytes) this.#evict(subscriber);
  }

  #checkLags(): void {
    const now = this.clock.now();
    for (const subscriber of this.#roster) if (subscriber.lagMs(now) > this.#maxLagMs) this.#evict(subscriber);
  }

  /** A subscriber that cannot follow is let go, so that what it leaves unread does not pile up here. */
  #evict(subscriber: Subscriber): void {
    if (!subscriber.open) return;
    this.counters.evicted += 1;
    const lagMs = subscriber.lagMs(this.clock.now());
    this.options.log.warn({ lagMs, bytes: subscriber.bufferedBytes }, 'subscriber evicted: too slow to follow');
    subscriber.close('overloaded');
  }
}
