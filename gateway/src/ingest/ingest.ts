import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { LIMITS } from '@device-insights/contract/ingest';
import { hasExpired, type KeyCheck } from '@device-insights/fanout/key-check';
import type { Timer } from '@device-insights/fanout/platform/clock';
import { countOne } from '@device-insights/fanout/platform/count';
import { within } from '@device-insights/fanout/platform/deadline';
import { FairScheduler } from '@device-insights/fanout/platform/fair-scheduler';
import { PendingSockets } from '@device-insights/fanout/platform/pending-sockets';
import { refuseHandshake } from '@device-insights/fanout/platform/refusal';
import { WebSocketServer } from 'ws';
import { CloseError } from '../errors.js';
import { infoLines } from '../info-lines.js';
import type { Heartbeat } from '../peers/heartbeat.js';
import type { Inspection } from '../peers/inspection.js';
import { Queue, QueueFull } from '../queue.js';
import { RefusedDevices } from '../refused-devices.js';
import { StoreUnavailable } from '../store/store.js';
import type { TakeUpload } from '../upload.js';
import { admit, holderOf, keyHashOf, refusedDevice } from './admission.js';
import { CLOSE_GRACE_MS, Connection, DeviceSocket, type Transport } from './connection.js';
import { EARLIEST_MS } from './frame.js';
import { IngestCounters } from './metrics.js';
import { SessionScheduler } from './session-scheduler.js';
import { clockShift, type Joined, Sessions, type SessionsOptions } from './sessions.js';
import { Upload } from './upload.js';

interface IngestOptions extends Omit<SessionsOptions, 'scheduler' | 'counters'> {
  readonly keys: KeyCheck;
  readonly heartbeat: Pick<Heartbeat, 'renew'>;
}

/** Interval at which overdue gaps, expired keys and unfinished messages are checked, ms. */
const TICK_MS = 500;
/** A tick that is this late shows that the process stood still, and has not read what came meanwhile, ms. */
const STANDSTILL_MS = 1000;
const UNSET_CLOCK = 'the clock of the gateway is before the year 2000: set it';
const STALE_CLOCK = "the gateway was paused, so 'clock' may be outdated; connect again with the current time";
/**
 * Maximum time for the key check, device model and session together, ms: taking a session over from another gateway
 * takes some seconds.
 */
const ADMISSION_LIMIT_MS = 20_000;
/** Maximum number of parts of one message, beside its size: 64 KiB in fragments of 1 KiB, or a frame in packets of 128 bytes. */
const PIECES = { maxFragments: 64, maxBufferedChunks: 512 };
/**
 * Options of `ws` that its types do not have yet: how long a peer has to answer a close frame, ms, and no limit of pings
 * but that of `Connection`, which closes with a code.
 */
const UNTYPED = { closeTimeout: CLOSE_GRACE_MS, maxPendingAutoPongs: 0 };
/** Maximum number of sockets of one account that wait at a time: after a restart, all devices of a gateway (MAX_SESSIONS) reconnect. */
const MOST_JOINING = 2048;
const TOO_MANY_JOINING = `more than ${MOST_JOINING} devices of this account are connecting at the same time; try again`;
/** Time that a drain waits for the store, and then for the peers' close frames, ms. */
const DRAIN_MS = 5000;

/** The devices' sockets and sessions of one gateway; call its `handleUpgrade` for upgrades of `/stream/ingest`. */
export class Ingest {
  readonly counters = new IngestCounters();
  readonly refused = new RefusedDevices();
  readonly #options: IngestOptions;
  readonly #server: WebSocketServer;
  readonly #sessions: Sessions;
  readonly #open = new Set<Transport>();
  readonly #pending: PendingSockets<Transport>;
  /** Thousands may connect at once, so they are accepted in turns; their key, and so their account, is not known yet. */
  readonly #upgrades = new FairScheduler();
  /**
   * Sockets whose key is good and which wait to join a session: joining takes writes to the store, and no account may keep the
   * devices of others waiting for long.
   */
  readonly #joins = new Queue({ each: () => MOST_JOINING, waiting: 0 });
  readonly #ticks: Timer;
  readonly #stopWatchingKeys: () => void;
  #tickedAt: number;
  #stoodStill = false;
  #draining = false;

  constructor({ log, ...others }: IngestOptions) {
    const info = infoLines(log, others.clock);
    const options = { ...others, log: { info, warn: log.warn.bind(log), error: log.error.bind(log) } };
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: LIMITS.max_frame_bytes,
      WebSocket: DeviceSocket,
      ...PIECES,
      ...UNTYPED,
    });
    this.#server.on('wsClientError', refuseHandshake);
    this.#pending = new PendingSockets(options.log);
    const scheduler = new SessionScheduler(options.publisher);
    const { counters } = this;
    this.#sessions = new Sessions({ ...options, scheduler, counters });
    this.#tickedAt = options.clock.monotonic();
    this.#ticks = options.clock.every(TICK_MS, () => this.#tick());
    this.#stopWatchingKeys = options.keys.onRevoked(
      (hash) => this.#revoke(hash),
      () => [...this.#open].flatMap(({ keyHash }) => keyHash ?? []),
    );
  }

  /** Open sockets, including those not yet admitted. */
  get connections(): number {
    return this.#open.size;
  }

  /** Sessions that this gateway serves, including those without a connection. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** The current state of a session that this gateway serves; null if it serves no session with that id. */
  inspect(session: string, channel: number | null): Inspection | null {
    return this.#sessions.find(session)?.inspect(channel) ?? null;
  }

  /**
   * Handles an HTTP upgrade of `/stream/ingest`. It is accepted, so that a refusal is a close code; the answer is 503
   * if too many sockets wait.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const at = this.#options.clock.now();
    this.#upgrades.once('', () => this.#accept(request, socket, head, at));
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer, at: number): void {
    if (this.#pending.refuseIfFull(socket)) return;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const connection = new Connection(ws, socket, this.#options.clock);
      this.#open.add(connection);
      this.#pending.add(connection);
      void connection.gone.then(() => {
        this.#open.delete(connection);
        this.#pending.delete(connection);
      });
      void this.#admit(request, connection, at);
    });
  }

  /** The same frames as by a socket, from the body of a request. The key is in the header. */
  readonly upload: TakeUpload = async (request, key) => {
    const connection = new Upload(request, key);
    this.#open.add(connection);
    void connection.gone.then(() => this.#open.delete(connection));
    const at = this.#options.clock.now();
    const joined = connection.closed ? null : await this.#admit(request, connection, at);
    void connection.gone.then(() => joined?.session.close());
    const result = await connection.result();
    const summary = await this.#options.store.sessionSummary(result.sessionId);
    const counts = summary.map(({ type, readings }) => [type, Object.values(readings).reduce((sum, n) => sum + n, 0)]);
    const { continues = [], session } = joined ?? {};
    return { ...result, nextSeq: session?.nextSeq ?? {}, insights: Object.fromEntries(counts), continues };
  };

  /** Throws an error with the cause if devices cannot be served now. */
  check(): void {
    if (this.#draining) throw new Error('the service is shutting down');
    if (!this.#options.publisher.accepting) throw new Error('insights wait for the store; devices are paused');
    if (this.#isClockUnset()) throw new Error(UNSET_CLOCK);
  }

  /** Applies the changes that other gateways made to sessions; call once a second. Rejects as the store does. */
  sweep(): Promise<void> {
    return this.#sessions.sweep();
  }

  /**
   * From now on, refuses connections with 1012; stores and publishes the received data, records the sessions' progress,
   * leaves the sessions open in the store for another gateway, and closes all sockets with 1012. Resolves when they are
   * closed.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#ticks.cancel();
    const uploads = [...this.#open].filter(({ upload }) => upload !== null);
    for (const upload of uploads) upload.close('restarting');
    await Promise.all(uploads.map(({ gone }) => gone)); // No other gateway continues their sessions: they are closed.
    const sessions = [...this.#sessions.all()];
    await within(DRAIN_MS, Promise.allSettled(sessions.map((session) => session.suspend())), this.#options.clock);
    for (const session of sessions) session.leave('restarting');
    for (const connection of this.#open) connection.close('restarting');
    while (this.#open.size > 0) await Promise.all([...this.#open].map(({ gone }) => gone));
    this.#stopWatchingKeys();
  }

  /** Admits a device to its session; closes the connection and returns null if it is refused. */
  async #admit(request: IncomingMessage, connection: Transport, at: number): Promise<Joined | null> {
    const limit = this.#options.clock.after(ADMISSION_LIMIT_MS, () => connection.close('overloaded'));
    const hasWaited = this.#hasStoodStill();
    let account: string | null = null;
    try {
      this.#refuseIfUnable();
      const { keys, store, heartbeat } = this.#options;
      connection.keyHash = keyHashOf(request);
      const holder = await holderOf(connection.keyHash, keys);
      connection.expiresAt = holder.expiresAt;
      account = holder.account;
      this.#pending.delete(connection); // Joining may take long, and the places are few.
      return await this.#joins.run(holder.account, async () => {
        const admission = await admit(request, holder, at, store, connection.upload);
        if (hasWaited && clockShift(admission) !== 0) throw new CloseError('overloaded', STALE_CLOCK);
        this.#sessions.refuseIfFull(admission);
        await heartbeat.renew();
        const joined = await this.#sessions.join(admission, connection);
        this.#serve(connection, joined);
        return joined;
      });
    } catch (error) {
      const refusal = this.#refusalOf(error);
      countOne(this.counters.refusedDevices, refusal.reason);
      connection.close(refusal.reason, refusal.message);
      const refused = refusedDevice(request, refusal);
      if (account !== null) this.refused.add(account, refused, at);
      const isKeys = refused.keyPrefix !== null && refusal.reason === 'authenticationFailed';
      this.#options.log.warn({ ...refused, account }, isKeys ? 'an API key was refused' : 'a device was refused');
      return null;
    } finally {
      limit.cancel();
      this.#pending.delete(connection); // Also if it is refused: it may not answer the close frame for long.
    }
  }

  #refuseIfUnable(): void {
    if (this.#draining) throw new CloseError('restarting');
    if (!this.#options.publisher.accepting) throw new CloseError('overloaded', 'the store does not answer; try again');
    if (this.#isClockUnset()) throw new CloseError('overloaded', UNSET_CLOCK);
  }

  /**
   * A computer without a battery for its clock gets the time from the network, some time after its start. Until then all
   * times of a device would be refused for good, as those in the future, or as those before 2000.
   */
  #isClockUnset(): boolean {
    return this.#options.clock.now() < EARLIEST_MS;
  }

  #serve(connection: Transport, { session, resumed, replayMs }: Joined): void {
    if (this.#draining) session.leave('restarting');
    connection.onMessage = (data, isBinary) => session.take(connection, data, isBinary);
    void connection.gone.then(() => session.detach(connection));
    const next = session.nextSeq;
    connection.send({
      type: 'ready',
      session_id: session.row.id,
      resumed,
      server_time: this.#options.clock.now(),
      channels: session.row.channels.map((channel, index) => ({ index, ...channel, next_seq: next[index] ?? 0 })),
      replay_ms: replayMs,
      limits: LIMITS,
    });
    session.greet();
    const { deviceId, accountId } = session.row;
    this.#options.log.info({ session: session.row.id, accountId, deviceId, resumed, replayMs }, 'device connected');
    connection.resume();
  }

  #refusalOf(error: unknown): CloseError {
    if (error instanceof CloseError) return error;
    if (error instanceof QueueFull) return new CloseError('overloaded', TOO_MANY_JOINING);
    if (!(error instanceof StoreUnavailable)) this.#options.log.error({ err: error }, 'a device could not be admitted');
    return new CloseError('overloaded', 'the device could not be admitted now; try again');
  }

  #revoke(hash: string): void {
    for (const connection of this.#open) if (connection.keyHash === hash) connection.close('authenticationFailed');
  }

  /** Uses the current wall clock: a timer set at admission would not notice that the clock was set. */
  #closeExpired(now: number): void {
    for (const connection of this.#open) if (hasExpired(connection, now)) connection.close('authenticationFailed');
  }

  #tick(): void {
    this.#closeExpired(this.#options.clock.now());
    if (!this.#isAfterStandstill()) for (const session of this.#sessions.all()) session.tick();
    for (const connection of this.#open) connection.look();
  }

  /** True for one tick after a standstill: the sockets are read before the next one. */
  #isAfterStandstill(): boolean {
    const now = this.#options.clock.monotonic();
    this.#stoodStill = !this.#stoodStill && this.#isLate(now);
    this.#tickedAt = now;
    return this.#stoodStill;
  }

  /** Whether the process stood still just now: what it reads may have waited. The sockets may be read before the tick. */
  #hasStoodStill(): boolean {
    return this.#stoodStill || this.#isLate(this.#options.clock.monotonic());
  }

  #isLate(now: number): boolean {
    return now - this.#tickedAt > TICK_MS + STANDSTILL_MS;
  }
}
