import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Time that a peer has to read its answer from a socket that is being closed, ms. */
const LINGER_MS = 1000;

/**
 * Answers on a socket that has no `ServerResponse`, in the form of all errors, and closes it: nothing more is read from
 * it, and after a short time for the peer to read the answer its descriptor is free, whether or not the peer closes.
 *
 * @param detail says what to do
 */
export function refuse(
  socket: Duplex,
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) return void socket.destroy();
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
  socket.pause();
  socket.end(answer(status, JSON.stringify({ detail }), headers));
}

/** Answers an upgrade that `ws` refuses (its `wsClientError` event). */
export function refuseHandshake(error: Error, socket: Duplex): void {
  refuse(socket, 400, `the WebSocket handshake is not valid: ${error.message}`);
}

/** Answers a request that Node's HTTP parser refuses (the server's `clientError` event). */
export function refuseUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || isAnswering(socket)) return void socket.destroy();
  const [status, detail] = refusalOf(error.code);
  refuse(socket, status, detail);
}

function answer(status: number, body: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({
    'X-Request-Id': randomUUID(),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

/**
 * Whether the answer to an earlier request is being sent: another answer would be read as a part of it. Node shows this
 * only in an undocumented field.
 */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { readonly _httpMessage?: ServerResponse | null };
  return response?.headersSent === true;
}

function refusalOf(code: string | undefined): readonly [status: number, detail: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the headers are too long: send fewer or shorter ones'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request took too long to arrive: send it faster'];
  return [400, 'the request must be valid HTTP/1.1'];
}
