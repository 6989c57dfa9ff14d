import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { CLOSE, type CloseReason } from './close-codes.js';
import { Counters } from './counters.js';
import { sharedDeflateOffer } from './deflate-offer.js';
import type { Fanout, FanoutOptions } from './fanout.js';
import { textFrame } from './frame.js';
import { Hub } from './hub.js';
import { hashKey, keysInQuery, onlyKey } from './keys/api-key.js';
import type { KeyHolder } from './keys/key-check.js';
import { clientAddress } from './process/client-address.js';
import { type Clock, systemClock, type Timer } from './process/clock.js';
import { countOne } from './process/count.js';
import { Lobby } from './process/lobby.js';
import { refuseHandshake } from './process/refusal.js';
import { Tally } from './process/tally.js';
import { Turns } from './process/turns.js';
import { Roster } from './roster.js';
import { closeSpread } from './spread.js';
import {
  CLOSE_GRACE_MS,
  MAX_CLIENT_MESSAGE_BYTES,
  Subscriber,
  type SubscriberHome,
  SubscriberSocket,
} from './subscriber.js';

/** Longest time for key check and upstream subscription together, ms. */
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
  maxPayload: MAX_CLIENT_MESSAGE_BYTES,
  maxFragments: 16,
  maxBufferedChunks: 64,
  closeTimeout: 2 * CLOSE_GRACE_MS, // For a peer that closes; those that are closed here are cut off in turns, before.
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
  readonly turns = new Turns();
  readonly #lobby: Lobby<Subscriber>;
  readonly #hub: Hub;
  readonly #maxLagMs: number;
  readonly #maxBufferedBytes: number;
  /** Registered before the key is checked, so that a revocation meanwhile is not missed. */
  readonly #roster = new Roster();
  readonly #lagCheck: Timer;
  readonly #stopRevocations: () => void;
  readonly #refused: Tally;
  readonly #evicted: Tally;
  #draining: Promise<void> | undefined;
  #whenEmpty: () => void = () => undefined;

  constructor(private readonly options: FanoutOptions) {
    this.clock = options.clock ?? systemClock;
    this.#lobby = new Lobby(options.log);
    for (const it of [this.#plainServer, this.#deflatingServer]) it.on('wsClientError', refuseHandshake);
    this.#maxLagMs = options.maxLagMs ?? 10_000;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? 4 * 1024 * 1024;
    this.#hub = new Hub({
      bus: options.bus,
      clock: this.clock,
      counters: this.counters,
      turns: this.turns,
      flushMs: options.flushMs ?? 0,
      onLoss: (subscribers) => closeSpread(subscribers, LOSS, HOLE_WINDOW_MS, this.clock),
      onBehind: (subscriber) => this.#checkBuffer(subscriber),
    });
    this.#stopRevocations = options.keys.onRevoked(
      (hash) => this.#revoke(hash),
      () => this.#roster.keys(),
    );
    this.#refused = new Tally(
      options.log,
      this.clock,
      'subscribers refused for now: the key check or the bus is not available',
    );
    this.#evicted = new Tally(options.log, this.clock, 'subscribers evicted: too slow to follow');
    this.#lagCheck = this.clock.every(LAG_CHECK_MS, () => {
      this.#checkLags();
      this.#closeExpired();
    });
  }

  get connections(): number {
    return this.#roster.size;
  }

  get lagMs(): number {
    const now = this.clock.monotonic();
    let lag = 0;
    for (const subscriber of this.#roster) lag = Math.max(lag, subscriber.lagMs(now));
    return lag;
  }

  /** Thousands may connect at once, so they are accepted in turns; their key, and so their account, is not known yet. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.turns.once('', () => this.#accept(request, socket, head));
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#lobby.turnsAway(socket)) return;
    const key = onlyKey(keysInQuery(request.url ?? ''));
    const offer = sharedDeflateOffer(request.headers['sec-websocket-extensions']);
    if (offer) request.headers['sec-websocket-extensions'] = offer; // The offer, of several, that is accepted.
    const server = offer ? this.#deflatingServer : this.#plainServer;
    server.handleUpgrade(request, socket, head, (ws) => {
      const subscriber = new Subscriber(ws, socket, this);
      this.#lobby.enter(subscriber);
      if (this.#draining) this.#refuse(subscriber, 'restarting');
      else if (key === null) this.#refuse(subscriber, 'authenticationFailed');
      else void this.#admit(subscriber, hashKey(key), request);
    });
  }

  onClose(subscriber: Subscriber): void {
    const { scope } = subscriber;
    this.#lobby.leave(subscriber);
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
    closeSpread(this.#roster, CLOSE.restarting.meaning, windowMs, this.clock);
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
      this.#checkEmpty();
    });
    this.#lagCheck.cancel();
    this.#refused.close();
    this.#evicted.close();
    this.#stopRevocations();
  }

  /**
   * Key, upstream subscription, status; only then messages. If one of them is not available within the limit, the code
   * is 1013.
   */
  async #admit(subscriber: Subscriber, hash: string, request: IncomingMessage): Promise<void> {
    this.#roster.add(subscriber, hash);
    const limit = this.clock.after(ADMISSION_LIMIT_MS, () => this.#refuse(subscriber, 'overloaded', NOT_NOW));
    try {
      const holder = await this.options.keys.holder(hash);
      if (holder?.permissions.includes('read')) await this.#seat(subscriber, holder);
      else this.#refuseKey(subscriber, request, holder ? MAY_NOT_READ : undefined);
    } catch (error) {
      this.#refused.add({ err: error });
      this.#refuse(subscriber, 'overloaded', NOT_NOW);
    } finally {
      limit.cancel();
    }
  }

  #refuseKey(subscriber: Subscriber, request: IncomingMessage, detail?: string): void {
    this.options.log.warn({ address: clientAddress(request) }, 'an API key was refused');
    this.#refuse(subscriber, 'authenticationFailed', detail);
  }

  /** It gives up its place in the lobby at once: it needs no key, and may not answer the close frame for long. */
  #refuse(subscriber: Subscriber, reason: CloseReason, detail?: string): void {
    this.#lobby.leave(subscriber);
    if (!subscriber.open) return;
    countOne(this.counters.refused, reason);
    subscriber.close(reason, detail);
  }

  async #seat(subscriber: Subscriber, holder: KeyHolder): Promise<void> {
    if (!subscriber.open) return;
    if (subscriber.group) subscriber.group.expiresAt = holder.expiresAt;
    const scope = this.#hub.reserve(holder);
    subscriber.scope = scope;
    await scope.channel.confirmed;
    if (!subscriber.open) return;
    subscriber.write(STATUS_FRAME, 0, this.clock.monotonic());
    scope.channel.add(subscriber, scope);
    this.#lobby.leave(subscriber);
  }

  #checkEmpty(): void {
    if (this.#roster.size === 0) this.#whenEmpty();
  }

  #revoke(hash: string): void {
    for (const subscriber of this.#roster.withKey(hash)) subscriber.close('authenticationFailed');
  }

  /** Uses the current wall clock: a timer set at admission would not notice that the clock was set. */
  #closeExpired(): void {
    for (const subscriber of this.#roster.expired(this.clock.now())) subscriber.close('authenticationFailed');
  }

  /** The more subscribers an account has, the earlier those that do not read are evicted. */
  #checkBuffer(subscriber: Subscriber): void {
    const share = Math.max(MIN_SHARE_BYTES, MAX_ACCOUNT_BYTES / (subscriber.scope?.channel.size || 1));
    if (subscriber.bufferedBytes > Math.min(this.#maxBufferedBytes, share)) this.#evict(subscriber);
  }

  #checkLags(): void {
    const now = this.clock.monotonic();
    for (const subscriber of this.#roster) {
      subscriber.look();
      if (subscriber.lagMs(now) > this.#maxLagMs) this.#evict(subscriber);
    }
  }

  /** A subscriber that is too slow is closed, so that the data that it leaves unread do not accumulate here. */
  #evict(subscriber: Subscriber): void {
    if (!subscriber.open) return;
    this.counters.evicted += 1;
    const lagMs = subscriber.lagMs(this.clock.monotonic());
    this.#evicted.add({ lagMs, bytes: subscriber.bufferedBytes, accountId: subscriber.scope?.channel.account });
    subscriber.close('overloaded', 'the subscriber reads too slowly');
  }
}
