import { type Batch, Batches } from './batches.js';
import { type Clock, systemClock } from './clock.js';
import { deviceConnection } from './device-connection.js';
import {
  findChannel,
  parseServerMessage,
  type ReadyChannel,
  type ReadyMessage,
  type RefusedMessage,
} from './device-messages.js';
import { EarlySamples, type NumberedSamples } from './early-samples.js';
import { FLOAT32_MAX } from './frame-encoder.js';
import { Outbox, parcelsOf } from './outbox.js';
import { Backoff, type BackoffOptions, ClosedError, mayReconnect, pause } from './reconnection.js';
import { findWebSocket, type Socket, type SocketConstructor, socketUrl } from './socket.js';

export interface DeviceOptions {
  /** The service's address: http(s) or ws(s). */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** External device identifier: 1 to 128 of `A-Z a-z 0-9 . _ : -`. */
  readonly deviceId: string;
  /** UUID of a device model of the key's account. */
  readonly deviceModelId: string;
  /** Most bytes of encoded samples that are kept while the service cannot be reached; then the oldest go. Default 8 MiB. */
  readonly bufferBytes?: number;
  /** What is pushed in small pieces is sent in frames of so much data time, and waits for at most as long, ms. Default 100. */
  readonly batchMs?: number;
  /** Default: the runtime's WebSocket, else the package `ws`. */
  readonly WebSocket?: SocketConstructor;
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  /** Hears of every frame that the service refused. */
  readonly onRefused?: (refusal: RefusedMessage) => void;
  /** Hears of every connection that has become ready. */
  readonly onReady?: (ready: ReadyMessage) => void;
}

export interface DeviceCounters {
  /** Connections after the first. */
  reconnects: number;
  framesSent: number;
  /** Frames that the service refused. */
  framesRefused: number;
  /** Samples (values) that were lost because the buffer was full. */
  samplesDropped: number;
}

const BUFFER_BYTES = 8 * 2 ** 20;
const BATCH_MS = 100;
const FRAME_BYTES = 65_536;
const MOST_NUMBERS = 2 ** 32;

/**
 * A device's connection to the service. It connects by itself, keeps what it could not send, goes on where the service says after a
 * reconnect, re-sends what a gateway lost, and holds back when the service is behind.
 */
export class Device {
  readonly counters: DeviceCounters = { reconnects: 0, framesSent: 0, framesRefused: 0, samplesDropped: 0 };
  /** Resolves when the device has ended: with null after `end()`, else with what stopped it. Never rejects. */
  readonly closed: Promise<Error | null>;
  readonly #options: DeviceOptions;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #batches: Batches;
  readonly #abort = new AbortController();
  readonly #nextSeq = new Map<number, number>();
  readonly #offsets = new Map<number, number>();
  /** Samples that came before the first `ready` said what the channels are. */
  readonly #early: EarlySamples;
  #ready: ReadyMessage | null = null;
  #socket: Socket | null = null;
  #failure: Error | null = null;
  #ending = false;
  #endSent = false;
  #ended = false;
  #waiters: (() => void)[] = [];

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#outbox = new Outbox(options.bufferBytes ?? BUFFER_BYTES);
    this.#early = new EarlySamples(this.#outbox.limitBytes);
    this.#batches = new Batches(options.batchMs ?? BATCH_MS, this.#clock, (batch) => {
      this.#enqueue(batch);
      this.#pump();
    });
    this.closed = this.#run().then(
      () => this.#failure,
      (error: Error) => this.#fail(error),
    );
  }

  /** Whether the service takes frames at this moment. */
  get connected(): boolean {
    return this.#socket !== null;
  }

  /** Bytes that wait to be sent. */
  get backlogBytes(): number {
    return this.#outbox.unsentBytes + this.#early.bytes;
  }

  /** The newest `ready` message; waits for the first. Rejects where the device has stopped. */
  async ready(): Promise<ReadyMessage> {
    await this.#until(() => this.#ready !== null);
    if (!this.#ready) throw new Error('the device has stopped');
    return this.#ready;
  }

  /**
   * Sends samples, numbered after the last ones of the channel.
   *
   * @param channel index in the device model, or the modality where only one channel has it
   * @param samples interleaved, whole instants; null and NaN are missing values
   * @param ts device time of the first instant, ms since the epoch; absent where the device has no clock
   * @throws RangeError for an unknown channel, a broken instant or an infinite sample; ClosedError after the service refused the device
   */
  push(channel: number | string, samples: ArrayLike<number | null>, ts: number = Number.NaN): void {
    this.send({ channel, ts, samples: Float64Array.from(samples, (value) => value ?? Number.NaN) });
  }

  /** Counts `instants` as lost by the device. */
  skip(channel: number | string, instants: number): void {
    const { index } = this.#channel(channel);
    this.#nextSeq.set(index, (this.#nextSeq.get(index) ?? 0) + instants);
  }

  /** As `push`, for a caller that numbers the instants itself. */
  send(samples: NumberedSamples): void {
    if (this.#failure) throw this.#failure;
    if (this.#ending) throw new Error('the device has ended its session: make a new Device to go on');
    if (samples.samples.some((value) => Math.abs(value) > FLOAT32_MAX))
      throw new RangeError('a sample is infinite or beyond float32: give NaN or null where a value is missing');
    if (Math.abs(samples.ts) === Infinity)
      throw new RangeError('ts is infinite: leave it out where the device has no clock');
    if (this.#ready) this.#accept(samples);
    else this.counters.samplesDropped += this.#early.add(samples);
    this.#pump();
  }

  /** Resolves when at most `bytes` wait to be sent. Rejects where the device has stopped. */
  drained(bytes = 0): Promise<void> {
    return this.#until(() => this.backlogBytes <= bytes);
  }

  /**
   * Sends what is left, ends the session and closes; resolves when the service has stored and published all its insights.
   *
   * @throws ClosedError where the service refused the device
   */
  async end(): Promise<void> {
    this.#ending = true;
    this.#batches.flushAll();
    this.#pump();
    const failure = await this.closed;
    if (failure) throw failure;
  }

  /** Closes at once; what was not sent is lost, and the session stays open for the service's time of grace. */
  close(): void {
    this.#fail(new ClosedError(1000, 'closed by the device'));
  }

  #fail(error: Error): Error {
    this.#failure ??= error;
    this.#abort.abort();
    this.#socket?.close(1000);
    this.#wake();
    return this.#failure;
  }

  async #run(): Promise<void> {
    const WebSocket = this.#options.WebSocket ?? (await findWebSocket());
    const backoff = new Backoff(this.#options.backoff);
    while (!this.#ended && !this.#failure) {
      const socket = new WebSocket(this.#url());
      const receive = (data: unknown) => this.#receive(socket, data, backoff);
      const { code, reason } = await deviceConnection(socket, this.#abort.signal, this.#clock, receive);
      this.#socket = null;
      this.#endSent = false;
      if (this.#ended || this.#failure) return;
      if (!mayReconnect(code)) throw new ClosedError(code, reason);
      await pause(this.#clock, backoff.next(), this.#abort.signal);
      this.counters.reconnects++;
    }
  }

  #url(): string {
    const { baseUrl, apiKey, deviceId, deviceModelId } = this.#options;
    const query = {
      device_id: deviceId,
      device_model_id: deviceModelId,
      api_key: apiKey,
      clock: String(this.#clock.now()),
    };
    return socketUrl(baseUrl, '/stream/ingest', query);
  }

  #receive(socket: Socket, data: unknown, backoff: Backoff): void {
    const message = parseServerMessage(data);
    if (message?.type === 'ready') {
      backoff.reset();
      this.#start(socket, message);
    } else if (message?.type === 'ack') this.#acknowledge(message.next_seq);
    else if (message?.type === 'error') this.#refused(message);
    else if (message?.type === 'ended') this.#ended = true;
  }

  #start(socket: Socket, ready: ReadyMessage): void {
    const first = this.#ready === null;
    const sameSession = this.#ready?.session_id === ready.session_id;
    this.#ready = ready;
    for (const channel of ready.channels) this.#open(channel, first, sameSession && ready.replay_ms === 0);
    if (sameSession && ready.replay_ms > 0) this.#outbox.replay(ready.replay_ms);
    else this.#outbox.resume();
    this.#socket = socket;
    if (first) this.#sendEarly();
    this.#options.onReady?.(ready);
    this.#pump();
    this.#wake();
  }

  #open({ index, sample_rate_hz, next_seq }: ReadyChannel, first: boolean, exact: boolean): void {
    this.#outbox.setRate(index, sample_rate_hz);
    if (first) this.#offsets.set(index, next_seq);
    else if (exact) this.#outbox.acknowledge(index, next_seq);
  }

  #acknowledge(nextSeq: Readonly<Record<string, number>>): void {
    for (const [index, next] of Object.entries(nextSeq)) this.#outbox.acknowledge(Number(index), next);
    this.#pump();
    this.#wake();
  }

  #refused(refusal: RefusedMessage): void {
    this.counters.framesRefused++;
    this.#options.onRefused?.(refusal);
  }

  #sendEarly(): void {
    try {
      for (const samples of this.#early.take()) this.#accept(samples);
      if (this.#ending) this.#batches.flushAll();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Numbers samples; those that have no numbers of their own may wait for more. */
  #accept({ channel: name, seq, ts, samples }: NumberedSamples): void {
    const channel = this.#channel(name);
    const { index, num_channels } = channel;
    const instants = samples.length / num_channels;
    if (instants < 1 || !Number.isInteger(instants))
      throw new RangeError(
        `${samples.length} samples are no whole number of instants: channel ${index} has ${num_channels} values an instant`,
      );
    const first = (this.#offsets.get(index) ?? 0) + (seq ?? this.#nextSeq.get(index) ?? 0);
    if (!Number.isInteger(first) || first < 0 || first + instants > MOST_NUMBERS)
      throw new RangeError(`number ${first} is not from 0 to 2^32 - 1: end the session before its numbers run out`);
    this.#nextSeq.set(index, first - (this.#offsets.get(index) ?? 0) + instants);
    if (seq === undefined) this.#batches.add(channel, first, ts, samples);
    else {
      this.#batches.flush(index);
      this.#enqueue({ channel: index, seq: first, ts, samples });
    }
  }

  #enqueue(batch: Batch): void {
    const most = this.#ready?.limits.max_frame_bytes ?? FRAME_BYTES;
    for (const parcel of parcelsOf(batch, this.#channel(batch.channel), most))
      this.counters.samplesDropped += this.#outbox.add(parcel);
  }

  #channel(name: number | string): ReadyChannel {
    return findChannel(this.#ready?.channels ?? [], name);
  }

  /** Sends what may be sent, then the end, where it is due. */
  #pump(): void {
    const socket = this.#socket;
    if (!socket || !this.#ready) return;
    const limit = this.#ready.limits.max_unacked_ms;
    while (this.#outbox.unackedMs < limit) {
      const parcel = this.#outbox.take();
      if (!parcel) break;
      socket.send(parcel.bytes);
      this.counters.framesSent++;
    }
    if (!this.#ending || this.#endSent || this.backlogBytes > 0 || !this.#batches.empty) return;
    this.#endSent = true;
    socket.send('{"type":"end"}');
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
