import type { ModalityChannel } from '../store/store.js';
import { checkFrame, EARLIEST_MS, type Fault, type Frame, fault } from './frame.js';

/** A text message of a device. */
type DeviceMessage =
  | { readonly type: 'samples'; readonly frame: Frame }
  | { readonly type: 'end' }
  | { readonly type: 'ping'; readonly t?: Scalar };

type Scalar = string | number | boolean | null;

const INT32 = 3;
const FLOAT32 = 4;

/**
 * Decodes a text message. Pure, never throws.
 * @param channels the session's channels, in order of their index
 * @param earliest times before this one are refused, ms: `EARLIEST_MS` by the device's own clock
 */
export function decodeText(
  text: string,
  channels: readonly ModalityChannel[],
  earliest: number = EARLIEST_MS,
): DeviceMessage | Fault {
  let message: unknown;
  try {
    message = JSON.parse(text.replace(/^\uFEFF/, '')); // a byte order mark may be ignored (RFC 8259, 8.1)
  } catch (error) {
    return notJson(text, String(error));
  }
  if (!isRecord(message)) return fault('bad_message', 'a message must be an object with a type');
  if (message.type === 'samples') return samples(message, channels, earliest);
  if (message.type === 'end') return { type: 'end' };
  if (message.type === 'ping') return ping(message);
  return fault('bad_message', 'type must be samples, end or ping');
}

/** Strings, numbers and words of a text that may be JSON. An unterminated string extends to the end. */
const TOKENS = /"(?:[^"\\]|\\.)*\\?(?:"|$)|-?\d[\d.eE+-]*|-?[A-Za-z_]\w*/gs;
const WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** The first word that JSON does not have, such as the NaN of Python's `json.dumps`, or else the parser's message. */
function notJson(text: string, message: string): Fault {
  const first = [...text.matchAll(TOKENS)].find(([token]) => isForeign(token));
  if (!first) return fault('bad_json', `a text message must be a JSON object: ${message}`, position(text));
  const word = first[0].slice(0, 20);
  const detail = `${word} at character ${first.index} is not JSON: send null for a missing value, and names in double quotes`;
  return fault('bad_json', detail, position(text));
}

/** Whether a token is a word that JSON does not have. */
function isForeign(token: string): boolean {
  return /^-?[A-Za-z_]/.test(token) && !WORDS.has(token);
}

/** The channel and the number in a text that is not JSON, if they can be read. */
function position(text: string): { channel?: number; seq?: number } {
  const [channel, seq] = [/"channel"\s*:\s*(\d{1,10})\s*[,}]/, /"seq"\s*:\s*(\d{1,10})\s*[,}]/].map(
    (form) => form.exec(text)?.[1],
  );
  return { ...(channel && { channel: Number(channel) }), ...(seq && { seq: Number(seq) }) };
}

function ping({ t }: Record<string, unknown>): DeviceMessage | Fault {
  if (t === undefined) return { type: 'ping' };
  if (isScalar(t)) return { type: 'ping', t };
  return fault('bad_message', 't of a ping must be a number, a string, true, false or null');
}

function samples(
  message: Record<string, unknown>,
  channels: readonly ModalityChannel[],
  earliest: number,
): DeviceMessage | Fault {
  const { channel, seq, ts = null, samples: values } = message;
  if (typeof channel !== 'number' || !Number.isInteger(channel))
    return fault('bad_message', 'channel must be an integer');
  if (typeof seq !== 'number') return fault('bad_message', 'seq must be a number', { channel });
  const at = { channel, seq };
  if (ts !== null && typeof ts !== 'number') return fault('bad_message', 'ts must be a number or null', at);
  if (!Array.isArray(values) || !values.every(isSample)) {
    return fault('bad_message', 'samples must be an array of numbers and nulls', at);
  }
  const width = channels[channel]?.num_channels ?? 1;
  const unchecked = { channel, seq, ts, ...encode(values), instants: values.length / width };
  const frame = checkFrame(unchecked, channels, earliest);
  return 'fault' in frame ? frame : { type: 'samples', frame };
}

/**
 * Encodes the samples of a text frame: int32 if all are integers of that size, so that raw counts stay exact; otherwise
 * float32, whose mantissa of 24 bits rounds counts beyond 2^24 (for frames with missing or fractional values). A value
 * too large for float32 becomes an infinity, which the frame's check refuses.
 */
function encode(values: readonly (number | null)[]): Pick<Frame, 'encoding' | 'payload'> {
  const integral = values.every((value) => value !== null && Number.isInteger(value) && value === (value | 0));
  const payload = new DataView(new ArrayBuffer(values.length * 4));
  for (const [i, value] of values.entries()) {
    if (integral) payload.setInt32(i * 4, value ?? 0, true);
    else payload.setFloat32(i * 4, value ?? Number.NaN, true);
  }
  return { encoding: integral ? INT32 : FLOAT32, payload: new Uint8Array(payload.buffer) };
}

function isSample(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
