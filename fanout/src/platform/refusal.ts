import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Detail of the answer (426) to a request for a socket without an upgrade. */
export const USE_WEBSOCKET =
  'this is a WebSocket: connect with ws:// or wss://; a proxy must pass the headers Upgrade and Connection';

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

/** Answers a request in the form of all errors (Node's own answers have no body), and closes its connection. */
export function refuseRequest(response: ServerResponse, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  response.writeHead(status, { ...headersOf(body), Connection: 'close' }).end(body);
}

/** Answers an upgrade that `ws` refuses (its `wsClientError` event). */
export function refuseHandshake(error: Error, socket: Duplex): void {
  refuse(socket, 400, `the WebSocket handshake is not valid: ${error.message}`);
}

/** Answers a request that Node's HTTP parser refuses (the server's `clientError` event). */
export function refuseUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const response = responseOf(socket);
  const isOfEarlier = response && (response.headersSent || response.req.complete);
  if (error.code === 'ECONNRESET' || isOfEarlier) return void socket.destroy();
  const [status, detail] = refusalOf(error.code);
  refuse(socket, status, detail);
}

function answer(status: number, body: string, headers: Readonly<Record<string, string>>): string {
  const all = { ...headersOf(body), Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

function headersOf(body: string): Readonly<Record<string, string>> {
  return {
    'X-Request-Id': randomUUID(),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
  };
}

/** The response to the latest request of each connection. */
const latest = new WeakMap<Duplex, ServerResponse>();

/** Records the latest response of each of a server's connections. */
export function trackAnswers(server: Server): void {
  server.prependListener('request', ({ socket }, response) => void latest.set(socket, response));
}

/**
 * The response that a connection still owes; none if its requests are answered. While there is one to an earlier request,
 * nothing else may be sent: it would be read as that one, or as a part of it.
 */
export function responseOf(socket: Duplex): ServerResponse | undefined {
  const response = latest.get(socket);
  return response?.writableFinished ? undefined : response;
}

function refusalOf(code: string | undefined): readonly [status: number, detail: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the headers are too long: send fewer or shorter ones'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request took too long to arrive: send it faster'];
  return [400, 'the request must be valid HTTP/1.1'];
}
