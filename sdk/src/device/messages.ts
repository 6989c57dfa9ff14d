import type {
  AckMessage,
  EndedMessage,
  NoticeMessage,
  PongMessage,
  ReadyMessage,
  ErrorMessage as RefusedMessage,
} from '../generated/types.gen.js';
import { type Form, fieldsOf, hasForm, listOf } from '../json.js';
import { check } from '../options.js';

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
  return hasForm(message, FORMS[String(message.type)] ?? {}) ? (message as unknown as ServerMessage) : {};
}

/** The fields that clients need, by the type of the message. */
const FORMS: Readonly<Record<string, Form>> = {
  ready: {
    replay_ms: 0,
    limits: { max_frame_bytes: 0, max_unacked_ms: 0 },
    channels: listOf({ index: 0, num_channels: 0, next_seq: 0, sample_rate_hz: 0 }),
  },
  ack: { next_seq: {} },
};

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
  check(found !== undefined && others.length === 0, 'channel', `one of those of ready(): ${names}`, name, RangeError);
  return found;
}
