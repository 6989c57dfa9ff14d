import type { BusMessage } from '../bus.js';

/** The contents of one publish: messages of an account, and their position in their publisher's count. */
export interface Envelope {
  /** The publishing process; new each time it starts. 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly publisher: string;
  /** Counts the publisher's envelopes of this account, from 1; one without messages repeats the last number. */
  readonly number: number;
  /**
   * Time since the publisher began to send the messages that it could not deliver since its last success, ms; null if
   * there are none.
   */
  readonly lossAgeMs: number | null;
  /** At most `MAX_MESSAGES`, none of them empty. */
  readonly messages: readonly BusMessage[];
}

/** A publisher with more messages sends more envelopes. */
export const MAX_MESSAGES = 4096;
/** Maximum length of an envelope's text, UTF-16 units: far more than this many insights need. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Maximum length of a user's name, UTF-16 units: 200 characters in the store. */
const MAX_USER = 400;
/** Version, publisher, number, age of a loss; the entries follow. */
const HEAD = /^1 ([\w-]{1,64}) (\d{1,16}) (-|\d[\d.e+-]{0,24}) (\[.*\])$/s;

/** A message's length in UTF-16 units, with its user if it has one. */
type Entry = number | readonly [length: number, user: string];

/**
 * Text of an envelope: `1 <publisher> <number> <age of a loss in ms, or -> <JSON list of lengths and users>`, a line
 * feed, and the messages' texts one after the other, so that a node parses one short line and never a message.
 */
export function encodeEnvelope({ publisher, number, lossAgeMs, messages }: Envelope): string {
  const entries: Entry[] = messages.map(({ text, user }) => (user === null ? text.length : [text.length, user]));
  let body = '';
  for (const { text } of messages) body += text;
  return `1 ${publisher} ${number} ${lossAgeMs ?? '-'} ${JSON.stringify(entries)}\n${body}`;
}

/**
 * Parses an envelope; undefined if the text is not one, or larger than any that a publisher makes. Anyone who can reach
 * Redis can send anything.
 */
export function decodeEnvelope(text: string): Envelope | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const end = text.indexOf('\n');
  const [, publisher, count, loss, list] = HEAD.exec(text.slice(0, Math.max(0, end))) ?? [];
  if (publisher === undefined || list === undefined) return undefined;
  const number = Number(count);
  const lossAgeMs = loss === '-' ? null : Number(loss);
  const messages = cut(text, end + 1, parsed(list));
  if (!messages || !Number.isSafeInteger(number) || !Number.isFinite(lossAgeMs ?? 0)) return undefined;
  return { publisher, number, lossAgeMs, messages };
}

/** The messages, if their lengths add up to the length of the text; otherwise undefined. */
function cut(text: string, start: number, entries: readonly unknown[] | undefined): BusMessage[] | undefined {
  if (!entries || entries.length > MAX_MESSAGES) return undefined;
  const messages: BusMessage[] = [];
  let at = start;
  for (const entry of entries) {
    const [length, user] = typeof entry === 'number' ? [entry, null] : Array.isArray(entry) ? entry : [];
    if (!isLength(length) || !isUser(user)) return undefined;
    messages.push({ text: text.slice(at, at + length), user });
    at += length;
  }
  return at === text.length ? messages : undefined;
}

function isLength(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}

function isUser(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= MAX_USER);
}

function parsed(list: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(list) as unknown[];
  } catch {
    return undefined;
  }
}
