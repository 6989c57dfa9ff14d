import type { BusMessage } from './bus.js';

/** What one publish carries: the messages of an account, and where they stand in their publisher's count. */
export interface Envelope {
  /** The publishing process; new each time it starts. No blanks. */
  readonly publisher: string;
  /** Counts the publisher's envelopes of this account, from 1; one without messages repeats the last number. */
  readonly number: number;
  /** How long ago the publisher began to send what it could not hand over since its last success, ms; null where there is nothing such. */
  readonly lossAgeMs: number | null;
  readonly messages: readonly BusMessage[];
}

const VERSION = '1';

/** A message's length in UTF-16 units, with its user where it has one. */
type Entry = number | readonly [length: number, user: string];

/**
 * Text of an envelope: `1 <publisher> <number> <age of a loss in ms, or -> <JSON list of lengths and users>`, a line feed, and the
 * messages' texts one after the other, so that a node parses one short line and never a message.
 */
export function encodeEnvelope({ publisher, number, lossAgeMs, messages }: Envelope): string {
  const entries: Entry[] = messages.map(({ text, user }) => (user === null ? text.length : [text.length, user]));
  let body = '';
  for (const { text } of messages) body += text;
  return `${VERSION} ${publisher} ${number} ${lossAgeMs ?? '-'} ${JSON.stringify(entries)}\n${body}`;
}

/** Reads an envelope; throws where it is none. */
export function decodeEnvelope(text: string): Envelope {
  const end = text.indexOf('\n');
  const [version, publisher, number, loss, ...rest] = text.slice(0, Math.max(0, end)).split(' ');
  if (version !== VERSION || !publisher || !loss) throw new Error(`not an envelope: ${text.slice(0, 60)}`);
  return {
    publisher,
    number: Number(number),
    lossAgeMs: loss === '-' ? null : Number(loss),
    messages: cut(text, end + 1, JSON.parse(rest.join(' ')) as Entry[]),
  };
}

function cut(text: string, start: number, entries: readonly Entry[]): BusMessage[] {
  let at = start;
  return entries.map((entry) => {
    const [length, user] = typeof entry === 'number' ? [entry, null] : entry;
    const message = { text: text.slice(at, at + length), user };
    at += length;
    return message;
  });
}
