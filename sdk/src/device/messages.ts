import type {
  AckMessage,
  EndedMessage,
  NoticeMessage,
  PongMessage,
  ReadyMessage,
  ErrorMessage as RefusedMessage,
} from '../generated/types.gen.js';
import { fieldsOf, hasFields, isObject } from '../json.js';
import { check, isCount } from '../options.js';

export type { NoticeMessage, ReadyMessage, RefusedMessage };
/** A channel as the service announces it. */
export type ReadyChannel = ReadyMessage['channels'][number];

type ServerMessage = ReadyMessage | AckMessage | RefusedMessage | NoticeMessage | EndedMessage | PongMessage;

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
    hasFields(message, { replay_ms: 0 }) &&
    hasFields(limits, { max_frame_bytes: 0, max_unacked_ms: 0 }) &&
    Array.isArray(channels) &&
    channels.every(isChannel)
  );
}

function isChannel(channel: unknown): boolean {
  if (!isObject(channel)) return false;
  const { index, num_channels: width, next_seq, sample_rate_hz: rate } = channel;
  const areWhole = [index, width, next_seq].every((n) => isCount(n) && n <= 2 ** 32);
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
