import { type Clock, systemClock } from './clock.js';
import { parseServerMessage, type ReadyChannel, type ReadyMessage, type RefusedMessage } from './device-messages.js';
import { encodeFrame, HEADER_BYTES } from './frame-encoder.js';
import { Outbox } from './outbox.js';
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

/** Samples with their place in the channel's numbers. */
export interface NumberedSamples {
  readonly channel: number | string;
  /** Number of the first instant, counted from the device's start; absent: the one after the last pushed. */
  readonly seq?: number;
  /** Device time of the first instant, ms since the epoch; NaN where the device has no clock. */
  readonly ts: number;
  readonly samples: Float64Array;
}

const BUFFER_BYTES = 8 * 2 ** 20;
const WIDEST_SAMPLE = 4;

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
  readonly #abort = new AbortController();
  readonly #nextSeq = new Map<number, number>();
  readonly #offsets = new Map<number, number>();
  /** Samples that came before the first `ready` said what the channels are. */
  #early: NumberedSamples[] = [];
  #earlyBytes = 0;
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
    return this.#outbox.unsentBytes + this.#earlyBytes;
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
    if (samples.samples.some((value) => value === Infinity || value === -Infinity))
      throw new RangeError('a sample is infinite: give NaN or null where a value is missing');
    if (this.#ready) this.#enqueue(samples);
    else this.#keepEarly(samples);
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
      const { code, reason } = await this.#connection(new WebSocket(this.#url()), backoff);
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

  /** Lives through one connection; resolves when it has closed. */
  #connection(socket: Socket, backoff: Backoff): Promise<{ code: number; reason: string }> {
    return new Promise((resolve) => {
      const abandon = () => socket.close();
      this.#abort.signal.addEventListener('abort', abandon);
      socket.onmessage = ({ data }) => this.#receive(socket, data, backoff);
      socket.onerror = () => {};
      socket.onclose = ({ code, reason }) => {
        this.#abort.signal.removeEventListener('abort', abandon);
        this.#socket = null;
        this.#endSent = false;
        resolve({ code, reason });
      };
    });
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

  #keepEarly(samples: NumberedSamples): void {
    this.#early.push(samples);
    this.#earlyBytes += samples.samples.byteLength;
    while (this.#earlyBytes > this.#outbox.limitBytes && this.#early.length > 1) {
      const dropped = this.#early.shift();
      this.#earlyBytes -= dropped?.samples.byteLength ?? 0;
      this.counters.samplesDropped += dropped?.samples.length ?? 0;
    }
  }

  #sendEarly(): void {
    const early = this.#early;
    this.#early = [];
    this.#earlyBytes = 0;
    try {
      for (const samples of early) this.#enqueue(samples);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Encodes samples into as many frames as the service's limit asks for. */
  #enqueue({ channel, seq, ts, samples }: NumberedSamples): void {
    const { index, num_channels, sample_rate_hz } = this.#channel(channel);
    if (samples.length === 0 || samples.length % num_channels !== 0)
      throw new RangeError(
        `${samples.length} samples are no whole number of instants: channel ${index} has ${num_channels} values an instant`,
      );
    const offset = this.#offsets.get(index) ?? 0;
    const first = offset + (seq ?? this.#nextSeq.get(index) ?? 0);
    const instants = samples.length / num_channels;
    const most = Math.floor(
      ((this.#ready?.limits.max_frame_bytes ?? 65_536) - HEADER_BYTES) / WIDEST_SAMPLE / num_channels,
    );
    for (let from = 0; from < instants; from += most) {
      const part = samples.subarray(from * num_channels, Math.min(instants, from + most) * num_channels);
      const bytes = encodeFrame({
        channel: index,
        seq: first + from,
        ts: ts + (from * 1000) / sample_rate_hz,
        samples: part,
      });
      const parcel = {
        channel: index,
        seq: first + from,
        end: first + from + part.length / num_channels,
        width: num_channels,
        bytes,
      };
      this.counters.samplesDropped += this.#outbox.add(parcel);
    }
    this.#nextSeq.set(index, first - offset + instants);
  }

  #channel(channel: number | string): ReadyChannel {
    const channels = this.#ready?.channels ?? [];
    const found = channels.filter(({ index, modality }) => index === channel || modality === channel);
    if (found.length === 1 && found[0]) return found[0];
    const names = channels.map(({ index, modality }) => `${index} (${modality})`).join(', ');
    throw new RangeError(
      `${found.length === 0 ? 'no channel is' : 'several channels are'} ${channel}; the session's channels are ${names || 'not known yet'}`,
    );
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
    if (!this.#ending || this.#endSent || this.backlogBytes > 0) return;
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
