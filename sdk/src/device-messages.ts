/** A channel as the service announces it. */
export interface ReadyChannel {
  readonly index: number;
  readonly ch_id: string;
  readonly modality: string;
  readonly sample_rate_hz: number;
  readonly bit_depth: number;
  readonly num_channels: number;
  readonly next_seq: number;
}

/** The first message of a connection (ingest protocol, section 1). */
export interface ReadyMessage {
  readonly type: 'ready';
  readonly session_id: string;
  readonly resumed: boolean;
  readonly server_time: number;
  readonly channels: readonly ReadyChannel[];
  readonly replay_ms: number;
  readonly limits: {
    readonly max_frame_bytes: number;
    readonly max_unacked_ms: number;
    readonly ack_interval_ms: number;
  };
}

export interface AckMessage {
  readonly type: 'ack';
  readonly next_seq: Readonly<Record<string, number>>;
  readonly server_time: number;
}

/** One frame was refused; the connection stays. */
export interface RefusedMessage {
  readonly type: 'error';
  readonly code: string;
  readonly detail: string;
  readonly channel?: number;
  readonly seq?: number;
}

export type ServerMessage =
  | ReadyMessage
  | AckMessage
  | RefusedMessage
  | { readonly type: 'ended'; readonly session_id: string }
  | { readonly type: 'pong'; readonly t?: number };

/** Reads a message of the service; null for what this version does not know, which is to be ignored. */
export function parseServerMessage(data: unknown): ServerMessage | null {
  if (typeof data !== 'string') return null;
  const message = parseJson(data);
  if (typeof message !== 'object' || message === null || !('type' in message)) return null;
  return ['ready', 'ack', 'error', 'ended', 'pong'].includes(String(message.type)) ? (message as ServerMessage) : null;
}

/**
 * The channel with this index, or the only one of this modality.
 *
 * @throws RangeError where there is none, or several
 */
export function findChannel(channels: readonly ReadyChannel[], name: number | string): ReadyChannel {
  const found = channels.filter(({ index, modality }) => index === name || modality === name);
  if (found.length === 1 && found[0]) return found[0];
  const names = channels.map(({ index, modality }) => `${index} (${modality})`).join(', ');
  const what = found.length === 0 ? 'no channel is' : 'several channels are';
  throw new RangeError(`${what} ${name}; the session's channels are ${names || 'not known yet'}`);
}

/** JSON, or null where a text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
