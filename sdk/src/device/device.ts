import { checkMs, MS } from '../instant.js';
import { CLOCK_SET_MS, DEVICE_CLOSE_MS, DEVICE_PING_MS, EARLIEST_MS, SECONDS_UNTIL } from '../limits.js';
import { check, checkOptions, isCount } from '../options.js';
import { Connection, type ConnectionOptions, PING } from '../socket/connection.js';
import { ClosedError } from '../socket/reconnection.js';
import { type Socket, socketUrl } from '../socket/socket.js';
import { Batches } from './batches.js';
import { type DeviceCounters, type DeviceSettings, SETTINGS } from './device-options.js';
import { checkNumbers, checkValues, SAMPLE } from './frame-encoder.js';
import { findChannel, type NoticeMessage, parseServerMessage, type ReadyMessage } from './messages.js';
import { Backlog, type Batch, Outbox } from './outbox.js';

const END = '{"type":"end"}';

/** Samples with their position in the channel's numbers. */
export interface NumberedSamples {
  /** Index of the channel in the device model, or its modality if only one channel has it. */
  readonly channel: number | string;
  /** Number of the first instant, counted from the device's start; absent: the one after the last pushed. */
  readonly seq?: number;
  /** Device time of the first instant, ms since the epoch; NaN if the device has no clock. */
  readonly ts: number;
  /** Interleaved, whole instants; NaN is a missing value. */
  readonly samples: Float64Array;
}

/**
 * A device's connection to the service. It connects by itself, keeps the samples that it could not send, continues
 * after a reconnect where the service says, sends again the data that a gateway lost, and waits when the service is
 * behind. If its clock is set so far ahead that the service refuses its times, it goes on in another session.
 */
export class Device extends Connection {
  /** Counters since the device was created. */
  readonly counters: DeviceCounters = { reconnects: 0, framesSent: 0, framesRefused: 0, samplesDropped: 0 };
  /**
   * Resolves when the device has ended: with null after `end()`, otherwise with the error that stopped it. Never
   * rejects.
   */
  readonly closed: Promise<Error | null>;
  readonly #options: DeviceSettings & ConnectionOptions;
  /** Earliest time of samples, ms: of this century, if the device's clock was set when the device was created. */
  readonly #earliest: number | undefined;
  readonly #outbox: Outbox;
  readonly #batches: Batches;
  /** Samples pushed before the first `ready`, which announces the channels. */
  readonly #early: Backlog<NumberedSamples & { readonly bytes: Float64Array }>;
  readonly #noReadings = new Map<string, NoticeMessage>();
  #ready: ReadyMessage | null = null;
  /** The socket, while it may be sent to. */
  #socket: Socket | null = null;
  /** The reason why there is no first connection, once it is late or impossible. */
  #unreachable: Error | null = null;
  #isEnding = false;
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

  /** @internal Use `device()` of a client. */
  constructor(settings: DeviceSettings, sockets: ConnectionOptions) {
    checkOptions('a device', settings, SETTINGS);
    const options = { ...settings, ...sockets };
    super(options, DEVICE_PING_MS, DEVICE_CLOSE_MS);
    this.#options = options;
    this.#earliest = this.clock.now() > EARLIEST_MS ? EARLIEST_MS : undefined;
    const { bufferBytes = 8 * 2 ** 20 } = options;
    this.#outbox = new Outbox(bufferBytes);
    this.#early = new Backlog(bufferBytes);
    this.#batches = new Batches(this.clock, (batch) => this.#enqueue(batch));
    this.closed = this.run().then(() => this.failure);
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
    await this.until(() => this.#ready !== null || this.#unreachable !== null);
    if (!this.#ready) throw this.failure ?? this.#unreachable;
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
    check(typeof ts === 'number', 'ts', `${MS}, or left out if the device has no clock`, ts);
    this.send({ channel, ts, samples: valuesOf(samples) });
  }

  /** Like `push`, for a caller that numbers the instants itself. */
  send(samples: NumberedSamples): void {
    if (this.failure) throw this.failure;
    if (this.#isEnding) throw new Error('the device has ended its session: make a new one');
    checkChannel(samples.channel);
    checkValues(samples.ts, samples.samples);
    this.#checkTime(samples.ts);
    if (this.#ready) this.#accept(samples);
    else this.#lose(this.#early.add({ ...samples, bytes: samples.samples }));
    this.#pump();
  }

  /** Resolves when at most `bytes` wait to be sent. Rejects if the device has stopped. */
  async drained(bytes = 0): Promise<void> {
    const isDrained = () => this.backlogBytes <= bytes;
    await this.until(isDrained);
    if (this.failure && !isDrained()) throw this.failure;
  }

  /**
   * Sends the remaining samples, ends the session and closes; resolves when the service has stored and published all
   * its insights.
   *
   * @throws ClosedError if the service refused the device
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#batches.flushAll();
    this.#pump();
    const failure = await this.closed;
    if (failure) throw failure;
  }

  /** Closes at once; samples that were not sent are lost, and the session stays open for the service's grace period. */
  close(): void {
    this.stop(new ClosedError(1000, 'closed by the device'));
  }

  /** @throws RangeError for a time that is not in ms since the epoch, as far as the device's clock can tell */
  #checkTime(ts: number): void {
    if (!Number.isNaN(ts) && this.clock.now() > SECONDS_UNTIL) checkMs('ts', ts, this.#earliest);
  }

  /** @internal */
  protected override late(error: Error): void {
    this.#unreachable = error;
    this.wake();
  }

  /**
   * @internal Data given to an open socket still arrive; of the data given to one that closed, only the acknowledged
   * ones are certain.
   */
  protected override stop(error: Error | null): void {
    if (!this.over && !this.#ended) {
      this.#batches.flushAll();
      if (this.#socket?.readyState !== 1) this.#outbox.resume(0);
      this.#lose(this.#early.items);
      this.counters.samplesDropped += this.#outbox.unsentSamples;
    }
    super.stop(error);
  }

  #lose(lost: readonly NumberedSamples[]): void {
    for (const { samples } of lost) this.counters.samplesDropped += samples.length;
  }

  /** @internal */
  protected override async address(): Promise<string> {
    const { baseUrl, apiKey, deviceId, deviceModelId } = this.#options;
    this.#attemptClock = this.#clockOffset;
    return socketUrl(baseUrl, 'ingest', {
      device_id: deviceId,
      device_model_id: deviceModelId,
      api_key: apiKey,
      clock: this.clock.now(),
    });
  }

  /** @internal */
  protected override ping(socket: Socket): boolean {
    this.#outbox.ping();
    socket.send(PING);
    return true;
  }

  /** @internal */
  protected override async hasMissed(): Promise<boolean> {
    return true;
  }

  /** @internal */
  protected override async left(): Promise<boolean> {
    const isRenewing = this.#renewing;
    if (this.#ended) this.stop(null);
    this.#socket = null;
    this.#endSent = this.#renewing = false;
    return isRenewing;
  }

  /** @internal */
  protected override receive(data: unknown, socket: Socket): void {
    const message = parseServerMessage(data);
    if (message.type === 'ready') this.#start(socket, message);
    else if (message.type === 'error') {
      this.counters.framesRefused++;
      this.#options.onRefused?.(message);
      if (message.code === 'in_future' && this.#clockWasSet) this.#renew();
    } else if (message.type === 'notice') this.#notice(message);
    else if (message.type === 'ended') this.#ended = !this.#renewing;
    else if (message.type === 'ack') this.#outbox.ack(message.next_seq);
    else if (message.type === 'pong') this.#outbox.pong(); // Refused data are never acknowledged, and must not hold others back.
    this.#pump();
    this.wake();
  }

  #notice(notice: NoticeMessage): void {
    const { code, insight, over } = notice;
    if (code === 'no_reading' && insight !== undefined) {
      if (over) this.#noReadings.delete(insight);
      else this.#noReadings.set(insight, notice);
    }
    this.#options.onNotice?.(notice);
  }

  get #clockOffset(): number {
    return this.clock.now() - performance.now();
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
    if (!this.#endSent) this.#socket?.send(END);
    this.#socket = null;
  }

  #start(socket: Socket, ready: ReadyMessage): void {
    const { session_id, resumed, replay_ms } = ready;
    const isFirst = this.#ready === null;
    const isSame = this.#ready?.session_id === session_id;
    this.#ready = ready;
    this.#noReadings.clear(); // The service says them again.
    if (!isSame) this.#sessionClock = resumed ? Number.NaN : this.#attemptClock;
    const known = this.#outbox.channels;
    this.#outbox.channels = ready.channels.map((announced) => {
      const { index, next_seq } = announced;
      const fresh = { origin: next_seq, next: 0, acked: -1, sent: -1, answered: -1 };
      const channel = known.find((one) => one.index === index) ?? fresh;
      return Object.assign(channel, announced, isSame && replay_ms === 0 && { acked: next_seq });
    });
    this.#outbox.resume(isSame ? replay_ms : 0);
    this.#socket = socket;
    if (isFirst) this.#sendEarly();
    else this.counters.reconnects++;
    this.tell('live');
  }

  /**
   * Leaves out what was stamped before the clock was set: nobody knows its time, and the service closes a device for good
   * whose frames it refuses by the thousand.
   */
  #sendEarly(): void {
    let taken = 0;
    try {
      for (const samples of this.#early.items) {
        if (samples.ts < EARLIEST_MS && this.clock.now() > EARLIEST_MS) this.#lose([samples]);
        else this.#accept(samples);
        taken++;
      }
      if (this.#isEnding) this.#batches.flushAll();
    } finally {
      this.#early.remove(taken);
    }
  }

  /**
   * Numbers samples; samples without their own numbers may wait for more.
   *
   * @throws RangeError for an unknown channel, an incomplete instant, or a number outside of the protocol's
   */
  #accept({ channel: name, seq, ts, samples }: NumberedSamples): void {
    const channel = findChannel(this.#outbox.channels, name);
    const { num_channels: width, origin } = channel;
    const instants = samples.length / width;
    const must = `whole instants, ${width} values each`;
    check(isCount(instants) && instants > 0, 'samples', must, samples.length, RangeError);
    const own = seq ?? channel.next;
    const batch = { channel, seq: origin + own, ts, samples };
    checkNumbers(batch.seq, instants);
    channel.next = own + instants;
    if (seq === undefined) this.#batches.add(batch);
    else {
      this.#batches.flush(channel);
      this.#enqueue(batch);
    }
  }

  /** Called once there are channels, which `ready` announces. */
  #enqueue(batch: Batch): void {
    if (this.#ready) this.counters.samplesDropped += this.#outbox.add(batch, this.#ready.limits.max_frame_bytes);
    this.#sendWaiting();
  }

  /**
   * Sends the frames that may be sent, then the end, if it is due. Must not be called while samples are being added to
   * the outbox.
   */
  #pump(): void {
    this.#sendWaiting();
    if (!this.#socket || this.over || !this.#isEnding || this.#endSent || this.backlogBytes > 0) return;
    this.#endSent = true;
    this.#socket.send(END);
  }

  #sendWaiting(): void {
    if (!this.#socket || !this.#ready || this.over) return;
    while (this.#outbox.unackedMs < this.#ready.limits.max_unacked_ms) {
      const frame = this.#outbox.take();
      if (!frame) break;
      this.#socket.send(frame);
      this.counters.framesSent++;
    }
  }
}

/** @throws RangeError for a channel that no device model can have */
function checkChannel(channel: unknown): void {
  const isRight = isCount(channel) || (typeof channel === 'string' && /^[a-z0-9_]{1,64}$/.test(channel));
  check(isRight, 'channel', 'an index in the device model, or a modality', channel, RangeError);
}

/**
 * Samples as numbers; NaN is a missing one.
 *
 * @throws TypeError for bytes, and for other values than numbers and null
 */
function valuesOf(samples: ArrayLike<number | null>): Float64Array {
  const { length, byteLength } = (samples ?? {}) as Partial<Uint8Array>;
  const must = 'numbers, not bytes: decode them, as with new Int16Array(buffer)';
  check(typeof length === 'number' && length !== byteLength, 'samples', must, samples);
  return Float64Array.from(samples, (value) => {
    const number = value === null ? Number.NaN : value;
    check(typeof number === 'number', 'a sample', SAMPLE, value);
    return number;
  });
}
