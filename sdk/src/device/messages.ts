import { fieldsOf, hasFields, isObject } from '../json.js';
import { check } from '../options.js';

/** A channel as the service announces it. */
export interface ReadyChannel {
  /** Position in the device model: frames refer to the channel by it. */
  readonly index: number;
  /** Id of the channel. */
  readonly ch_id: string;
  /** Name of the modality. */
  readonly modality: string;
  /** Sample instants per second, as declared. */
  readonly sample_rate_hz: number;
  /** Bits per sample. */
  readonly bit_depth: number;
  /** Sub-channels: values in one sample instant. */
  readonly num_channels: number;
  /** Number of the instant at which the channel continues. */
  readonly next_seq: number;
}

/** The first message of a connection: the session, its channels and its limits. */
export interface ReadyMessage {
  /** Kind of the message. */
  readonly type: 'ready';
  /** The session that was opened or resumed. */
  readonly session_id: string;
  /** Whether the session was open already. */
  readonly resumed: boolean;
  /** The service's clock, ms since the epoch. */
  readonly server_time: number;
  /** The session's channels. */
  readonly channels: readonly ReadyChannel[];
  /**
   * Length of the data that the device sends again because this gateway has none of them, ms of data time; 0 for none.
   */
  readonly replay_ms: number;
  /** The limits of the service. */
  readonly limits: {
    /** Maximum length of a frame, bytes. */
    readonly max_frame_bytes: number;
    /** Maximum data time that may be unacknowledged, ms. */
    readonly max_unacked_ms: number;
    /** Time between acknowledgements while data arrive, ms. */
    readonly ack_interval_ms: number;
  };
}

interface AckMessage {
  readonly type: 'ack';
  readonly next_seq: Readonly<Record<string, number>>;
  readonly server_time: number;
}

/** One frame was refused; the connection stays open. */
export interface RefusedMessage {
  /** Kind of the message. */
  readonly type: 'error';
  /** Cause, such as `bad_value`, `unknown_channel`, `too_late`, `in_future` or `too_fast` (stored data without ts). */
  readonly code: string;
  /** The fault, in words. */
  readonly detail: string;
  /** The frame's channel, if it could be read. */
  readonly channel?: number;
  /** The frame's number, if it could be read. */
  readonly seq?: number;
}

/** The data are accepted, but a problem reduces their value; `over` when the problem is over. */
export interface NoticeMessage {
  /** Kind of the message. */
  readonly type: 'notice';
  /** `rate_off`, `ts_unsteady`, `ts_back`, `order_wrong`, `channel_late`, `all_duplicates`, `all_lost`, `frames_overlap`, `not_analysed`, `already_stored`, `device_id_twice`, `no_reading`, or another. */
  readonly code: string;
  /** The problem and how to correct it, in words. */
  readonly detail: string;
  /** Index of the channel. Absent if the notice is about the whole session. */
  readonly channel?: number;
  /** Present when the problem is over. */
  readonly over?: true;
  /** Of `rate_off`: the rate of the data, Hz. */
  readonly measured_hz?: number;
  /** Of `rate_off`: the rate of the device model, Hz. */
  readonly declared_hz?: number;
  /** Of `all_lost`: the number that should have followed. */
  readonly expected_seq?: number;
  /** Of `not_analysed`: the modalities that the account's algorithms use. */
  readonly modalities?: readonly string[];
  /** Of `already_stored`: the closed session that has data of the same time. */
  readonly session_id?: string;
  /** Of `no_reading`: the type of insight without a trusted reading. */
  readonly insight?: string;
  /** Of `no_reading`: the code of the reason, such as `no_contact`, `saturated`, `bad_scale`, `hum` or `motion`. */
  readonly reason?: string;
  /** Of `no_reading`: the algorithm that came closest to a reading. What was seen follows as numbers, by name. */
  readonly algorithm?: string;
  /** A number that belongs to the code. */
  readonly [field: string]: unknown;
}

type ServerMessage =
  | ReadyMessage
  | AckMessage
  | RefusedMessage
  | NoticeMessage
  | { readonly type: 'ended'; readonly session_id: string }
  | { readonly type: 'pong'; readonly t?: number };

/**
 * Parses a message of the service. The result has no type if the message lacks the fields that clients need, because the
 * peer may be another server. Clients ignore types that they do not know.
 */
export function parseServerMessage(data: unknown): ServerMessage | { readonly type?: undefined } {
  const message = fieldsOf(data);
  const { type, next_seq } = message;
  const isRight =
    type === 'ready'
      ? isReady(message)
      : type !== 'ack' || (isObject(next_seq) && Object.values(next_seq).every(Number.isInteger));
  return isRight ? (message as unknown as ServerMessage) : {};
}

function isReady(message: Readonly<Record<string, unknown>>): boolean {
  const { channels, limits } = message;
  return (
    hasFields(message, { replay_ms: 'number' }) &&
    hasFields(limits, { max_frame_bytes: 'number', max_unacked_ms: 'number' }) &&
    Array.isArray(channels) &&
    channels.every(isChannel)
  );
}

function isChannel(channel: unknown): boolean {
  if (!isObject(channel)) return false;
  const { index, num_channels: width, next_seq, sample_rate_hz: rate } = channel;
  const areWhole = [index, width, next_seq].every((n) => Number.isInteger(n) && Number(n) >= 0 && Number(n) <= 2 ** 32);
  return areWhole && width !== 0 && typeof rate === 'number' && rate > 1e-3 && rate < 1e6;
}

/**
 * The channel with this index, or the only one of this modality.
 *
 * @throws RangeError if there is none, or several
 */
export function findChannel<Channel extends ReadyChannel>(
  channels: readonly Channel[],
  name: number | string,
): Channel {
  const [found, ...others] = channels.filter(({ index, modality }) => index === name || modality === name);
  const names = channels.map(({ index, modality }) => `${index} (${modality})`).join(', ');
  check(
    found !== undefined && others.length === 0,
    'channel',
    `one of ${names || 'those that ready() gives'}`,
    name,
    RangeError,
  );
  return found;
}
