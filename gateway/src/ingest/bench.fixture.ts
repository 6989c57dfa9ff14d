import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { TO_DEVICE } from '@device-insights/contract/ingest';
import { createCore } from '@device-insights/dsp-wasm';
import type { BusMessage } from '@device-insights/fanout/bus';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import { PERMISSIONS } from '@device-insights/fanout/key-check';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { CoreLoad } from '../analysis/core-load.js';
import type { InsightType, StoredInsight } from '../insight.js';
import { keyRow, newKey } from '../keys/key.js';
import { KeyRing } from '../keys/key-ring.js';
import { Heartbeat } from '../peers/heartbeat.js';
import { Heartbeats } from '../peers/heartbeats.js';
import { Publisher } from '../publisher/publisher.js';
import { openUnthreadedStore } from '../store/embedded/temporary-store.fixture.js';
import { type DeviceModel, type ModalityChannel, type Session, type Store, StoreUnavailable } from '../store/store.js';
import { addedModel } from '../store/suite/samples.js';
import { binary, channel, int16 } from './frames.fixture.js';
import { Ingest } from './ingest.js';

export const T0 = 1_763_600_000_000;

/** A message of the server, with the fields that tests use. */
export interface ServerMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Ready extends ServerMessage {
  readonly session_id: string;
  readonly resumed: boolean;
  readonly replay_ms: number;
  readonly channels: readonly { readonly next_seq: number }[];
}

const sent = z.union(Object.values(TO_DEVICE));

/** A device's side of a socket, written only from the protocol. */
export class TestDevice {
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly received: ServerMessage[] = [];
  #waiters: (() => void)[] = [];
  #pings = 0;

  constructor(readonly ws: WebSocket) {
    ws.on('error', () => undefined);
    ws.on('message', (data) => {
      const message = JSON.parse(String(data)) as ServerMessage;
      expect(sent.parse(message), 'a message of the contract').to.deep.equal(message);
      this.received.push(message);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      ws.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#wake();
      });
    });
  }

  send(message: object | Uint8Array): void {
    this.ws.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  /** Sends instants of channel 0 whose times follow from their numbers at 100 Hz. */
  samples(seq: number, instants: number, fields: object = {}): void {
    const samples = Array.from({ length: instants }, (_, i) => 1000 + Math.round(300 * Math.sin((seq + i) / 13)));
    this.send({ type: 'samples', channel: 0, seq, ts: T0 + seq * 10, samples, ...fields });
  }

  /** The next unread message of a type; earlier messages are dropped. Rejects if the socket closes first. */
  async next<T extends ServerMessage>(type: string): Promise<T> {
    for (;;) {
      const index = this.received.findIndex((message) => message.type === type);
      const [message] = index < 0 ? [] : this.received.splice(0, index + 1).slice(-1);
      if (message) return message as T;
      if (this.ws.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for ${type}`);
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  ready(): Promise<Ready> {
    return this.next<Ready>('ready');
  }

  /** Resolves with the messages of the service once it has handled everything sent so far. */
  async handled(): Promise<ServerMessage[]> {
    const t = `ping ${this.#pings++}`;
    this.send({ type: 'ping', t });
    const isPong = (message: ServerMessage) => message.type === 'pong' && message.t === t;
    while (!this.received.some(isPong)) {
      if (this.ws.readyState === WebSocket.CLOSED) throw new Error('closed');
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    return this.received.splice(0).filter((message) => !isPong(message));
  }

  async code(): Promise<number> {
    return (await this.closed).code;
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

export interface Gateway {
  readonly ingest: Ingest;
  readonly keys: KeyRing;
  readonly publisher: Publisher;
  readonly store: Store;
  readonly name: string;
  readonly server: Server;
  readonly url: string;
}

/** The log lines so far. */
export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly text: string;
}

interface BenchOptions {
  readonly graceMs?: number;
  readonly maxSessions?: number;
  readonly maxAccountSessions?: number;
  readonly maxDailySessions?: number;
}

/**
 * One or more gateways on one embedded store, with real publisher, bus and signal core; the clock is advanced by hand.
 */
export class Bench {
  readonly account = { id: randomUUID(), name: 'acme', algorithms: null, createdAt: T0 };
  readonly bus = createMemoryBus();
  readonly published: BusMessage[] = [];
  readonly logged: Logged[] = [];
  readonly #gateways: Gateway[] = [];
  readonly #devices: TestDevice[] = [];
  /** The service's ends of the connections. */
  readonly sockets: Duplex[] = [];
  readonly store: Store;
  /** Whether the store commits no insights, as if another process held its lock. */
  locked = false;

  private constructor(
    readonly clock: ManualClock,
    readonly directory: string,
    store: Store,
    readonly options: BenchOptions,
  ) {
    const commit: Store['commit'] = (parts) =>
      this.locked ? Promise.reject(new StoreUnavailable('the store is locked')) : store.commit(parts);
    this.store = { ...store, commit };
  }

  static async open(options: BenchOptions = {}): Promise<Bench> {
    const directory = await mkdtemp(join(tmpdir(), 'ingest-'));
    const clock = new ManualClock(T0);
    const bench = new Bench(clock, directory, await openUnthreadedStore(directory, clock), options);
    await bench.store.createAccount(bench.account);
    const messages = (batch: readonly BusMessage[]) => bench.published.push(...batch);
    await bench.bus.subscribe(bench.account.id, { messages, loss: () => undefined });
    return bench;
  }

  /** A gateway; the first one has the store of the bench, each later one a connection of its own. */
  async gateway(name = 'gateway-a'): Promise<Gateway> {
    const { clock, bus, directory } = this;
    const store = this.#gateways.length === 0 ? this.store : await openUnthreadedStore(directory, clock);
    const log = this.#log();
    const keys = new KeyRing(store, clock, log);
    const publisher = new Publisher({ store, bus, clock, log, restMs: 0 });
    const core = await createCore({ maxSessions: this.options.maxSessions ?? 8 });
    const load = new CoreLoad(core);
    const { graceMs = 60_000, maxSessions = 8, maxAccountSessions = maxSessions } = this.options;
    const limits = { maxSessions, maxAccountSessions, maxDailySessions: this.options.maxDailySessions ?? 1000 };
    const heartbeat = new Heartbeat(store, name, clock);
    const heartbeats = new Heartbeats(store, clock);
    const parts = {
      store,
      heartbeats,
      keys,
      publisher,
      core: load,
      clock,
      log,
      gateway: name,
      heartbeat,
      graceMs,
      limits,
    };
    const ingest = new Ingest(parts);
    const server = createServer();
    server.on('upgrade', (request, socket, head) => {
      this.sockets.push(socket);
      ingest.handleUpgrade(request, socket, head);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await heartbeat.beat();
    const url = `ws://127.0.0.1:${portOf(server)}/stream/ingest`;
    const gateway = { ingest, keys, publisher, store, name, server, url };
    this.#gateways.push(gateway);
    return gateway;
  }

  /** A key, in full. */
  async key({
    user = null as string | null,
    accountId = this.account.id,
    expiresAt = null as number | null,
  } = {}): Promise<{ id: string; key: string }> {
    const key = newKey();
    const row = keyRow(key, { accountId, user, createdAt: T0, expiresAt, permissions: PERMISSIONS });
    await this.store.addKey(row);
    return { id: row.id, key };
  }

  async model(channels: readonly ModalityChannel[] = [channel()], accountId = this.account.id): Promise<DeviceModel> {
    return addedModel(this.store, { accountId, channels, createdAt: T0, updatedAt: T0 });
  }

  /** Connects with exactly these query parameters. */
  connect(
    { url }: Gateway,
    query: Record<string, string> | [string, string][],
    headers: Record<string, string> = {},
  ): TestDevice {
    const device = new TestDevice(new WebSocket(`${url}?${new URLSearchParams(query)}`, { headers }));
    this.#devices.push(device);
    return device;
  }

  /** A device that may connect again and again. */
  async device(gateway: Gateway, { channels = [channel()], user = null as string | null, deviceId = 'band-1' } = {}) {
    const model = await this.model(channels);
    const { key, id } = await this.key({ user });
    const query = { device_id: deviceId, device_model_id: model.id, api_key: key };
    const connect = (more: Record<string, string> = {}, at = gateway) => this.connect(at, { ...query, ...more });
    return { model, key, keyId: id, query, connect };
  }

  /** The same, connected, with its session. */
  async session(gateway: Gateway, options: Parameters<Bench['device']>[1] = {}) {
    const made = await this.device(gateway, options);
    const first = made.connect();
    const { session_id } = await first.ready();
    return { ...made, first, session_id };
  }

  async row(id: string): Promise<Session> {
    const session = await this.store.session(id);
    if (!session) throw new Error(`there is no session ${id}`);
    return session;
  }

  /**
   * Ends a device's session. The clock advances meanwhile, because every reading needs a millisecond of its own as its
   * stamp.
   */
  async end(device: TestDevice): Promise<ServerMessage> {
    let ended: ServerMessage | null = null;
    device.send({ type: 'end' });
    void device.next('ended').then((message) => {
      ended = message;
    });
    await until(() => {
      this.clock.advance(5);
      return ended !== null;
    });
    return ended ?? { type: 'none' };
  }

  /** All insights of a session of one type, by time. */
  async insights(id: string, type: InsightType = 'hr'): Promise<StoredInsight[]> {
    const found: StoredInsight[] = [];
    for await (const batch of this.store.sessionInsights(id)) found.push(...batch);
    return found.filter((insight) => insight.type === type);
  }

  async close(): Promise<void> {
    for (const { ws } of this.#devices) ws.terminate();
    for (const socket of this.sockets) socket.destroy(); // A paused socket does not notice that its peer has gone.
    for (const { server, store } of this.#gateways) {
      await new Promise((resolve) => server.close(resolve));
      if (store !== this.store) await store.close();
    }
    await this.store.close();
    await rm(this.directory, { recursive: true, maxRetries: 10 });
  }

  #log() {
    const at = (level: Logged['level']) => (fields: object, text: string) => {
      this.logged.push({ level, fields, text });
    };
    return { info: at('info'), warn: at('warn'), error: at('error') };
  }
}

/** Sends a pulse in binary frames of this many instants, whose times follow from the numbers. */
export function stream(device: TestDevice, from: number, to: number, { start = T0, instants = 100 } = {}): void {
  for (let seq = from; seq < to; seq += instants)
    device.send(binary({ seq, ts: start + seq * 10 }, pulse(seq, instants)));
}

/** Payload of a pulse at 100 Hz with 72 beats per minute, int16. */
export function pulse(seq: number, instants: number): Buffer {
  return int16(
    ...Array.from({ length: instants }, (_, i) => {
      const t = (seq + i) / 100;
      return Math.round(10_000 + 1000 * Math.cos(2.4 * Math.PI * t) + 300 * Math.cos(4.8 * Math.PI * t + 1));
    }),
  );
}
