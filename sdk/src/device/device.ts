import { type Clock, systemClock } from '../clock.js';
import { checkMs, EARLIEST_MS, SECONDS_UNTIL } from '../instant.js';
import { limitFirstConnection, lostConnection, StatefulConnection } from '../socket/connection-status.js';
import { diagnose } from '../socket/diagnosis.js';
import { Backoff, ClosedError, mayReconnect, pause } from '../socket/reconnection.js';
import type { ServiceAccess } from '../socket/service-address.js';
import { type CloseInfo, findWebSocket, type Socket, socketUrl } from '../socket/socket.js';
import { type Batch, Batches } from './batches.js';
import { deviceConnection } from './connection.js';
import { checkOptions, type DeviceCounters, type DeviceOptions } from './device-options.js';
import { EarlySamples, type NumberedSamples } from './early-samples.js';
import { FLOAT32_MAX } from './frame-encoder.js';
import {
  findChannel,
  type NoticeMessage,
  parseServerMessage,
  type ReadyChannel,
  type ReadyMessage,
} from './messages.js';
import { Numbering } from './numbering.js';
import { Outbox, parcelsOf } from './outbox.js';

const BUFFER_BYTES = 8 * 2 ** 20;
const BATCH_MS = 100;
const CONNECT_WITHIN_MS = 10_000;
const FRAME_BYTES = 65_536;
/** A device's clock was set if it moved by more than this against a stopwatch, ms; a drift takes weeks for it. */
const CLOCK_SET_MS = 30_000;

/**
 * A device's connection to the service. It connects by itself, keeps the samples that it could not send, continues
 * after a reconnect where the service says, sends again the data that a gateway lost, and waits when the service is
 * behind. If its clock is set so far ahead that the service refuses its times, it goes on in another session.
 */
export class Device extends StatefulConnection {
  /** Counters since the device was created. */
  readonly counters: DeviceCounters = { reconnects: 0, framesSent: 0, framesRefused: 0, samplesDropped: 0 };
  /**
   * Resolves when the device has ended: with null after `end()`, otherwise with the error that stopped it. Never
   * rejects.
   */
  readonly closed: Promise<Error | null>;
  readonly #options: DeviceOptions;
  readonly #access: ServiceAccess;
  readonly #clock: Clock;
  /** Whether the device's clock was set before the device was created. */
  readonly #hadTime: boolean;
  readonly #outbox: Outbox;
  readonly #batches: Batches;
  readonly #abort = new AbortController();
  readonly #numbering = new Numbering();
  /** Samples pushed before the first `ready`, which announces the channels. */
  readonly #early: EarlySamples;
  readonly #noReadings = new Map<string, NoticeMessage>();
  #ready: ReadyMessage | null = null;
  #socket: Socket | null = null;
  #failure: Error | null = null;
  /** The reason why there is no first connection, once it is late or impossible. */
  #unreachable: Error | null = null;
  #liftLimit = () => {};
  #ending = false;
  #endSent = false;
  #ended = false;
  /**
   * The device's clock less a stopwatch, ms: at the last attempt to connect, and when the session was opened; NaN if an
   * earlier run of the device opened it.
   */
  #attemptClock = 0;
  #sessionClock = 0;
  /** Whether this session is being ended so that another one can follow. */
  #renewing = false;
  #waiters: (() => void)[] = [];

  /** @throws TypeError that says which option is missing, malformed or does not exist */
  constructor(options: DeviceOptions) {
    super(options.onStatus);
    this.#options = options;
    this.#access = checkOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.#hadTime = this.#clock.now() > EARLIEST_MS;
    this.#outbox = new Outbox(options.bufferBytes ?? BUFFER_BYTES);
    this.#early = new EarlySamples(this.#outbox.limitBytes);
    this.#batches = new Batches(options.batchMs ?? BATCH_MS, this.#clock, (batch) => {
      this.#enqueue(batch);
      this.#sendWaiting();
    });
    const { connectWithinMs = CONNECT_WITHIN_MS } = options;
    this.#liftLimit = limitFirstConnection(this.#clock, connectWithinMs, this, (error) => this.#despair(error));
    this.closed = this.#run()
      .catch((error: Error) => this.#fail(error))
      .then(() => {
        this.#tellClosed();
        return this.#failure;
      });
  }

  /**
   * Why there is no trusted reading now: the newest notice `no_reading` of each type of insight that the data allow and that has none, with
   * its `insight`, `reason` and `detail`.
   */
  get noReadings(): readonly NoticeMessage[] {
    return [...this.#noReadings.values()];
  }

  /** Bytes that wait to be sent. */
  get backlogBytes(): number {
    return this.#outbox.unsentBytes + this.#early.bytes;
  }

  /**
   * The newest `ready` message; waits for the first.
   *
   * @throws ConnectionError if it does not arrive within `connectWithinMs`, or if something other than the service
   * answers: the device continues to try; ClosedError if the device has stopped
   */
  async ready(): Promise<ReadyMessage> {
    await this.#until(() => this.#ready !== null || this.#unreachable !== null);
    if (!this.#ready) throw this.#unreachable ?? new Error('the device has stopped');
    return this.#ready;
  }

  /**
   * Sends samples, numbered after the last ones of the channel. The channels are known once the device is `ready()`:
   * samples of a channel that does not exist, or of incomplete instants, that were pushed before it stop the device
   * then, and `closed`, `onStatus` and the next call have the RangeError.
   *
   * @param channel index in the device model, or the modality if only one channel has it
   * @param samples interleaved, whole instants; null and NaN are missing values. Not their bytes: those are refused
   * @param ts device time of the first instant, ms since the epoch; left out (or NaN) if the device has no clock
   * @throws TypeError for a sample or a ts that is not a number (undefined included), and for bytes; RangeError for an
   * unknown channel, an incomplete instant, an infinite sample, and a ts in seconds, in microseconds or since the
   * device's start; ClosedError after the service refused the device
   */
  push(channel: number | string, samples: ArrayLike<number | null>, ts?: number): void;
  push(channel: number | string, samples: ArrayLike<number | null>, ...times: [ts?: number]): void {
    const [ts = times.length === 0 ? Number.NaN : undefined] = times;
    if (typeof ts !== 'number')
      throw new TypeError(
        `ts must be a number, ms since the epoch; its type is ${typeof ts}: leave it out if the device has no clock`,
      );
    this.send({ channel, ts, samples: valuesOf(samples) });
  }

  /**
   * Counts `instants` as lost by the device.
   *
   * @throws RangeError for an unknown channel, or a number of instants that is not whole
   */
  skip(channel: number | string, instants: number): void {
    this.#numbering.skip(this.#channel(channel).index, instants);
  }

  /** Like `push`, for a caller that numbers the instants itself. */
  send(samples: NumberedSamples): void {
    if (this.#failure) throw this.#failure;
    if (this.#ending) throw new Error('the device has ended its session: make a new Device to go on');
    if (samples.samples.some((value) => Math.abs(value) > FLOAT32_MAX))
      throw new RangeError('a sample is infinite or too large for float32: use NaN or null for a missing value');
    this.#checkTime(samples.ts);
    checkChannel(samples.channel);
    if (this.#ready) this.#accept(samples);
    else this.counters.samplesDropped += this.#early.add(samples);
    this.#pump();
  }

  /** Resolves when at most `bytes` wait to be sent. Rejects if the device has stopped. */
  drained(bytes = 0): Promise<void> {
    return this.#until(() => this.backlogBytes <= bytes);
  }

  /**
   * Sends the remaining samples, ends the session and closes; resolves when the service has stored and published all
   * its insights.
   *
   * @throws ClosedError if the service refused the device
   */
  async end(): Promise<void> {
    this.#ending = true;
    this.#batches.flushAll();
    this.#pump();
    const failure = await this.closed;
    if (failure) throw failure;
  }

  /** Closes at once; samples that were not sent are lost, and the session stays open for the service's grace period. */
  close(): void {
    this.#fail(new ClosedError(1000, 'closed by the device'));
  }

  /** @throws RangeError for a time that is not in ms since the epoch, as far as the device's clock can tell */
  #checkTime(ts: number): void {
    if (Math.abs(ts) === Infinity) throw new RangeError('ts is infinite: leave it out if the device has no clock');
    if (this.#clock.now() > SECONDS_UNTIL) checkMs('ts', ts);
    if (ts < EARLIEST_MS && this.#hadTime)
      throw new RangeError(
        `ts is ${ts}, which is before 2000: if it counts from the device's start, add the time of the start in ms since the epoch`,
      );
  }

  #despair(error: Error): void {
    this.#unreachable = error;
    this.#wake();
  }

  #fail(error: Error): Error {
    if (this.#failure) return this.#failure;
    this.#failure = error;
    this.#liftLimit();
    if (!this.#ended) this.#countLost();
    this.#abort.abort();
    this.#socket?.close(1000);
    this.#wake();
    this.#tellClosed();
    return error;
  }

  #tellClosed(): void {
    try {
      this.tell('closed', this.#failure);
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  /**
   * Data given to an open socket still arrive; of the data given to one that closed, only the acknowledged ones are
   * certain.
   */
  #countLost(): void {
    this.#batches.flushAll();
    if (this.#socket?.readyState !== 1) this.#outbox.resume();
    this.counters.samplesDropped += this.#early.samples + this.#outbox.unsentSamples;
  }

  async #run(): Promise<void> {
    const WebSocket = this.#options.WebSocket ?? (await findWebSocket());
    const backoff = new Backoff(this.#options.backoff);
    while (!this.#ended && !this.#failure) {
      this.#attemptClock = this.#clockOffset;
      const socket = new WebSocket(this.#url());
      const receive = (data: unknown) => this.#try(() => this.#receive(socket, data, backoff));
      const ask = () => this.#outbox.ask();
      const info = await deviceConnection(socket, this.#abort.signal, this.#clock, receive, ask);
      this.#socket = null;
      this.#endSent = false;
      if (this.#ended || this.#failure) return;
      if (this.#renewing) {
        this.#renewing = false;
        this.tell('connecting');
        continue;
      }
      if (!mayReconnect(info.code)) throw new ClosedError(info.code, info.reason);
      const error = await this.#explain(info);
      const waitMs = backoff.next();
      this.tell('waiting', error, this.#clock.now() + waitMs);
      await pause(this.#clock, waitMs, this.#abort.signal);
      this.tell('connecting', error);
    }
  }

  /** A caller's function that throws stops the device: thrown into a socket, the error could stop that alone. */
  #try(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Why a connection ended. A wrong address does not stop the device: its network may answer for other addresses. */
  async #explain(info: CloseInfo): Promise<Error> {
    if (this.#ready !== null || info.code !== 1006) return lostConnection(info);
    const { error, isWrongAddress } = await diagnose(this.#access.baseUrl, this.#options, this.#abort.signal);
    if (isWrongAddress) this.#despair(error);
    return error;
  }

  #url(): string {
    const { baseUrl, apiKey } = this.#access;
    const { deviceId, deviceModelId } = this.#options;
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
    else if (message?.type === 'error') {
      this.counters.framesRefused++;
      this.#options.onRefused?.(message);
      if (message.code === 'in_future' && this.#clockWasSet) this.#renew();
    } else if (message?.type === 'notice') this.#notice(message);
    else if (message?.type === 'pong') this.#settle();
    else if (message?.type === 'ended') this.#ended = !this.#renewing;
  }

  #notice(notice: NoticeMessage): void {
    const { code, insight, over } = notice;
    if (code === 'no_reading' && insight !== undefined) {
      if (over) this.#noReadings.delete(insight);
      else this.#noReadings.set(insight, notice);
    }
    this.#options.onNotice?.(notice);
  }

  /** Refused data are never acknowledged, and must not hold others back. */
  #settle(): void {
    this.#outbox.settle();
    this.#pump();
    this.#wake();
  }

  get #clockOffset(): number {
    return this.#clock.now() - performance.now();
  }

  /** Whether the clock was set since the session was opened, as far as this is known. */
  get #clockWasSet(): boolean {
    return !(Math.abs(this.#clockOffset - this.#sessionClock) <= CLOCK_SET_MS);
  }

  /**
   * Ends the session, to send in another one what the service refused: it compares times with its own by the clock that
   * the device had when the session was opened.
   */
  #renew(): void {
    this.#renewing = true;
    if (!this.#endSent) this.#socket?.send('{"type":"end"}');
    this.#socket = null;
  }

  #start(socket: Socket, ready: ReadyMessage): void {
    const first = this.#ready === null;
    const sameSession = this.#ready?.session_id === ready.session_id;
    this.#ready = ready;
    this.#noReadings.clear(); // The service says them again.
    if (!sameSession) this.#sessionClock = ready.resumed ? Number.NaN : this.#attemptClock;
    for (const channel of ready.channels) this.#open(channel, first, sameSession && ready.replay_ms === 0);
    if (sameSession && ready.replay_ms > 0) this.#outbox.replay(ready.replay_ms);
    else this.#outbox.resume();
    this.#socket = socket;
    if (!first) this.counters.reconnects++;
    this.#liftLimit();
    if (first) this.#sendEarly();
    this.tell('live');
    this.#options.onReady?.(ready);
    this.#pump();
    this.#wake();
  }

  #open({ index, sample_rate_hz, next_seq }: ReadyChannel, first: boolean, exact: boolean): void {
    this.#outbox.setRate(index, sample_rate_hz);
    if (first) this.#numbering.begin(index, next_seq);
    else if (exact) this.#outbox.acknowledge(index, next_seq);
  }

  #acknowledge(nextSeq: Readonly<Record<string, number>>): void {
    for (const [index, next] of Object.entries(nextSeq)) this.#outbox.acknowledge(Number(index), next);
    this.#pump();
    this.#wake();
  }

  /**
   * Leaves out what was stamped before the clock was set: nobody knows its time, and the service closes a device for good
   * whose frames it refuses by the thousand.
   */
  #sendEarly(): void {
    try {
      for (const samples of this.#early.take())
        if (samples.ts < EARLIEST_MS && this.#clock.now() > EARLIEST_MS)
          this.counters.samplesDropped += samples.samples.length;
        else this.#accept(samples);
      if (this.#ending) this.#batches.flushAll();
    } catch (error) {
      this.#fail(error as Error); // A RangeError of `#accept`.
    }
  }

  /** Numbers samples; samples without their own numbers may wait for more. */
  #accept({ channel: name, seq, ts, samples }: NumberedSamples): void {
    const channel = this.#channel(name);
    const first = this.#numbering.take(channel, samples.length, seq);
    if (seq === undefined) this.#batches.add(channel, first, ts, samples);
    else {
      this.#batches.flush(channel.index);
      this.#enqueue({ channel: channel.index, seq: first, ts, samples });
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

  /**
   * Sends the frames that may be sent, then the end, if it is due. Must not be called while samples are being added to
   * the outbox.
   */
  #pump(): void {
    this.#sendWaiting();
    const socket = this.#socket;
    if (!socket || this.#failure || !this.#ending || this.#endSent || this.backlogBytes > 0) return;
    this.#endSent = true;
    socket.send('{"type":"end"}');
  }

  #sendWaiting(): void {
    const socket = this.#socket;
    if (!socket || !this.#ready || this.#failure) return;
    while (this.#outbox.unackedMs < this.#ready.limits.max_unacked_ms) {
      const parcel = this.#outbox.take();
      if (!parcel) break;
      socket.send(parcel.bytes);
      this.counters.framesSent++;
    }
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

/** @throws RangeError for a channel that no device model can have */
function checkChannel(channel: unknown): void {
  const isIndex = Number.isInteger(channel) && Number(channel) >= 0;
  if (!isIndex && !(typeof channel === 'string' && /^[a-z0-9_]{1,64}$/.test(channel)))
    throw new RangeError(
      `no channel is ${channel}: give its index in the device model, or its modality, such as ppg_green`,
    );
}

/**
 * Samples as numbers; NaN is a missing one.
 *
 * @throws TypeError for bytes, and for other values than numbers and null
 */
function valuesOf(samples: ArrayLike<number | null>): Float64Array {
  const { length, BYTES_PER_ELEMENT: width } = samples as Partial<Uint8Array>;
  if (typeof length !== 'number' || width === 1)
    throw new TypeError(
      'samples must be numbers, not bytes: decode them, such as with new Int16Array(buffer); Array.from(bytes) if each byte is a sample',
    );
  return Float64Array.from(samples, numberOf);
}

/** A sample as a number; NaN is a missing one. */
function numberOf(value: number | null | undefined): number {
  if (typeof value === 'number') return value;
  if (value !== null && value !== undefined)
    throw new TypeError(`a sample must be a number or null; one is a ${typeof value}: ${JSON.stringify(value)}`);
  return Number.NaN;
}
