import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { KeyCheck } from '@device-insights/fanout';
import { WebSocketServer } from 'ws';
import type { OpenAnalysis } from '../analysis/analysis.js';
import type { Clock, Timer } from '../clock.js';
import { within } from '../deadline.js';
import { CloseError } from '../errors.js';
import type { Publisher } from '../publisher/publisher.js';
import { type Store, StoreUnavailable } from '../store/store.js';
import { admit, keyHashOf } from './admission.js';
import { Connection } from './connection.js';
import { type Joined, Sessions } from './sessions.js';
import { Turns } from './turns.js';

/** What ingest logs; pino's logger fits. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** What devices are told in `ready`. */
export interface IngestLimits {
  /** A larger message closes the connection (1009). */
  readonly max_frame_bytes: number;
  /** Data time that a device may have unacknowledged before it should wait, ms. */
  readonly max_unacked_ms: number;
  readonly ack_interval_ms: number;
}

export interface IngestOptions {
  readonly store: Store;
  readonly keys: KeyCheck;
  readonly publisher: Publisher;
  readonly openAnalysis: OpenAnalysis;
  readonly clock: Clock;
  readonly log: Log;
  /** This process, as owner of sessions: different from every other one's. */
  readonly gateway: string;
  /** How long a session stays open without a connection, ms. */
  readonly graceMs: number;
  readonly limits?: Partial<IngestLimits>;
}

const LIMITS: IngestLimits = { max_frame_bytes: 65_536, max_unacked_ms: 30_000, ack_interval_ms: 500 };
/** How often stale holes are looked for, ms. */
const TICK_MS = 500;
/** TCP asks a silent device after this long whether it is still there, ms: one that vanished must not stay connected. */
const KEEP_ALIVE_MS = 60_000;
/** How long a drain waits for the store, ms, and then for the peers' close frames. */
const DRAIN_MS = 5000;

/** The devices' sockets and sessions of one gateway. */
export class Ingest {
  readonly #options: IngestOptions;
  readonly #limits: IngestLimits;
  readonly #server: WebSocketServer;
  readonly #sessions: Sessions;
  readonly #open = new Set<Connection>();
  readonly #ticks: Timer;
  readonly #stopWatchingKeys: () => void;
  #draining = false;
  #onEmpty: () => void = () => undefined;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#server = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      maxPayload: this.#limits.max_frame_bytes,
    });
    const turns = new Turns(options.publisher);
    this.#sessions = new Sessions({ ...options, limits: this.#limits, turns });
    this.#ticks = options.clock.every(TICK_MS, () => this.#tick());
    this.#stopWatchingKeys = options.keys.onRevoked((hash) => this.#revoke(hash));
  }

  /** Open sockets, those not yet admitted included. */
  get connections(): number {
    return this.#open.size;
  }

  /** Takes an HTTP upgrade of `/stream/ingest`: always accepted, so that a refusal is a close code. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const at = this.#options.clock.now();
    if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const connection = new Connection(ws, this.#options.clock);
      this.#open.add(connection);
      ws.once('close', () => this.#forget(connection));
      void this.#admit(request, connection, at);
    });
  }

  /** Throws, saying why, where devices cannot be served now. */
  check(): void {
    if (this.#draining) throw new Error('the service is going down');
    if (!this.#options.publisher.accepting) throw new Error('insights wait for the store; readers of devices pause');
  }

  /** Follows what other gateways do with sessions; to be called once a second. Rejects as the store does. */
  sweep(): Promise<void> {
    return this.#sessions.sweep();
  }

  /**
   * From now on refuses with 1012; stores and publishes what was received, records the sessions' progress, leaves them
   * open in the store for another gateway, and closes all sockets with 1012. Resolves when they are gone.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#ticks.cancel();
    const sessions = [...this.#sessions.all()];
    await within(DRAIN_MS, Promise.allSettled(sessions.map((session) => session.suspend())), this.#options.clock);
    for (const session of sessions) session.leave('restarting');
    for (const connection of this.#open) connection.close('restarting');
    await this.#emptied();
    this.#stopWatchingKeys();
  }

  async #admit(request: IncomingMessage, connection: Connection, at: number): Promise<void> {
    try {
      this.#refuseIfUnable();
      connection.keyHash = keyHashOf(request);
      const admission = await admit(request, connection.keyHash, at, this.#options);
      this.#serve(connection, await this.#sessions.join(admission, connection));
    } catch (error) {
      this.#close(connection, error);
    }
  }

  #refuseIfUnable(): void {
    if (this.#draining) throw new CloseError('restarting');
    if (!this.#options.publisher.accepting) throw new CloseError('overloaded', 'the store does not answer; try again');
  }

  #serve(connection: Connection, { session, resumed, replayMs }: Joined): void {
    if (this.#draining) session.leave('restarting');
    connection.ws.on('message', (data, isBinary) => session.take(connection, { data: data as Buffer, isBinary }));
    connection.ws.once('close', () => session.detach(connection));
    if (connection.gone) session.detach(connection);
    const next = session.nextSeq;
    connection.send({
      ...{ type: 'ready', session_id: session.row.id, resumed, server_time: this.#options.clock.now() },
      channels: session.row.channels.map((channel, index) => ({ index, ...channel, next_seq: next[index] ?? 0 })),
      ...{ replay_ms: replayMs, limits: this.#limits },
    });
    const { deviceId, accountId } = session.row;
    this.#options.log.info({ session: session.row.id, accountId, deviceId, resumed, replayMs }, 'device connected');
    connection.resume();
  }

  #close(connection: Connection, error: unknown): void {
    const known = error instanceof CloseError || error instanceof StoreUnavailable;
    if (!known) this.#options.log.error({ err: error }, 'a device could not be admitted');
    const refusal = error instanceof CloseError ? error : new CloseError('overloaded', 'not possible now; try again');
    connection.close(refusal.reason, refusal.message);
  }

  #revoke(hash: string): void {
    for (const connection of this.#open) if (connection.keyHash === hash) connection.close('authenticationFailed');
  }

  #tick(): void {
    for (const session of this.#sessions.all()) session.tick();
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#onEmpty();
  }

  #emptied(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}

/** The ingest side of a gateway; call its `handleUpgrade` for upgrades of `/stream/ingest`. */
export function createIngest(options: IngestOptions): Ingest {
  return new Ingest(options);
}
