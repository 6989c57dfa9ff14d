import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from './log.js';
import { refuse, refuseRequest, refuseUnparsable, responseOf, trackAnswers } from './refusal.js';

export interface HttpServerOptions {
  /** The handler of upgrades, by path. Default: none. */
  readonly upgrades: ReadonlyMap<string, (request: IncomingMessage, socket: Duplex, head: Buffer) => void>;
  /** Maximum number of connections. Default: as the descriptor limit allows. */
  readonly most: number;
}

/** Maximum time from the connection, or the end of the previous request, to the end of the headers, ms. */
const HEADERS_MS = 10_000;
/** The same to the end of the body, ms: 1 MiB at 300 kbit/s. */
const REQUEST_MS = 30_000;
/** Maximum time between two requests of a connection, ms. A proxy must close its idle connections earlier. */
const IDLE_MS = 5000;
/** A client that accepts nothing of its answer for this long is cut off, ms. */
const STALLED_MS = 60_000;
/**
 * TCP probes a connection that has been silent for this long, ms. A peer that has vanished (its network is gone, or its
 * router has forgotten the connection) never closes, and its socket would stay here for good if nothing is written to it.
 */
const PROBE_AFTER_MS = 60_000;
/** Interval at which the first two limits are checked, ms. */
const CHECK_MS = 1000;
/** A crowd that stays at the limit of connections is logged once, until none was closed for it for this long, ms. */
const QUIET_MS = 10_000;
/** Time that running requests have to finish when a server closes, ms. */
const FINISH_MS = 2000;
const NO_OTHER_PROTOCOL =
  'the server speaks HTTP/1.1 and WebSocket: send no Upgrade header for another protocol (in Java, choose HttpClient.Version.HTTP_1_1)';
/** Scheme and host of a target that is a whole URL. */
const ORIGIN = /^[a-z]+:\/\/[^/?]*/i;
/** Descriptors for files, databases, the bus and the operations port: mostly for 100 connections to MongoDB. */
const RESERVED = 256;
/** Maximum number of connections of a node; more need more nodes. At worst this many idle connections of strangers use 500 MB. */
const MOST_CONNECTIONS = 50_000;

/**
 * A server whose connections are limited in number and time, and cannot end the process. It answers anything that is
 * not HTTP with 400, and upgrades of unknown paths with 404. Requests that a client sends before it has its answers
 * (pipelining) are left to Node. Connections beyond `most` are closed at once, and logged
 * once.
 */
export function createHttpServer(
  handle: RequestListener,
  log: Pick<Log, 'warn' | 'error'>,
  { upgrades = new Map(), most = connectionLimit() }: Partial<HttpServerOptions> = {},
): Server {
  const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS };
  const probes = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };
  // The refusal of a missing Host says what to do: a proxy may have left it out.
  const checks = { connectionsCheckingInterval: CHECK_MS, requireHostHeader: false };
  const options = { ...limits, ...probes, ...checks };
  const server = createServer(options, (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== '1.1') handle(request, response);
    else refuseRequest(response, 400, 'send a Host header: HTTP/1.1 requires it');
  });
  trackAnswers(server);
  server.timeout = STALLED_MS;
  server.maxConnections = most;
  server.on('connection', guard);
  let droppedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    const isNew = performance.now() - droppedAt > QUIET_MS;
    droppedAt = performance.now();
    if (isNew) log.warn({ most }, 'too many connections: new ones are closed until others have ended');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const request = responseOf(socket)?.req;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && request && longBodies.has(request)) return;
    refuseUnparsable(error, socket);
  });
  server.on('checkExpectation', (_request, response) =>
    refuseRequest(response, 417, 'send no Expect header, or "100-continue"'),
  );
  server.on('upgrade', (request, socket, head) => {
    if (responseOf(socket)) return void socket.destroy();
    if (!offersWebSocket(request)) return refuse(socket, 400, NO_OTHER_PROTOCOL);
    const upgrade = upgrades.get(pathOf(request));
    if (upgrade) upgrade(request, socket, head);
    else refuse(socket, 404, 'there is no WebSocket at this path');
  });
  server.once('listening', () =>
    server.on('error', () =>
      log.error({}, 'connections cannot be accepted; the process may have reached its descriptor limit'),
    ),
  );
  return server;
}

const longBodies = new WeakSet<IncomingMessage>();

/**
 * From now on the body of a request may take as long as its handler waits for it: the handler limits the time. If it answers
 * before the end of the body, the client has a short time to read the answer.
 */
export function allowLongBody(request: IncomingMessage, response: ServerResponse): void {
  longBodies.add(request);
  request.socket.setTimeout(0); // Until the answer: Node then sets it again.
  const { socket } = request;
  response.once('finish', () => {
    if (!request.complete) setTimeout(() => request.complete || socket.destroy(), FINISH_MS).unref();
  });
}

function offersWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** The path of a request's target, without the query; also of a whole URL, as it is sent to a proxy (RFC 9112, 3.2.2). */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(ORIGIN, '').split('?', 1)[0] || '/';
}

/** A port that cannot be listened on; `message` names it and says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Resolves when the server listens.
 * @param variable the environment variable that sets the port
 * @throws ListenError if it cannot listen
 */
export function listen(server: Server, host: string, port: number, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      reject(new ListenError(`cannot listen on ${place}: ${adviceOn(error, variable)}`, { cause: error }));
    };
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      resolve();
    });
  });
}

/** The port of a listening server. */
export function portOf(server: Pick<NetServer, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

/** The address of a listening server, as a client on this machine writes it. */
export function addressOf(server: Server, host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${portOf(server)}`;
}

/**
 * From now on closes each connection after its next answer, so that clients and proxies stop reusing connections to a
 * process that is about to end: a request on a connection that is being closed would fail, and may not be repeated.
 */
export function stopReuse(server: Server): void {
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
}

/** Accepts no more connections, and resolves when the existing ones have ended, for which they have a short time. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), FINISH_MS);
    // Just after the event loop has accepted what waited: connections that still wait when a port closes are reset.
    setImmediate(() =>
      server.close(() => {
        clearTimeout(late);
        resolve();
      }),
    );
  });
}

/** Number of connections for which the process has descriptors. */
export function connectionLimit(descriptors = descriptorLimit()): number {
  return Math.min(MOST_CONNECTIONS, descriptors - Math.min(RESERVED, Math.floor(descriptors / 2)));
}

/** The descriptor limit of the process; infinite if there is none (Windows). Node gives it only in its report. */
function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/**
 * The user of a connection handles its errors; when there is no user any more, an error still must not end the process.
 */
function guard(socket: Socket): void {
  socket.on('error', ignore);
}

const ignore = () => undefined;

function adviceOn({ code, message }: NodeJS.ErrnoException, variable: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another process listens on this port; stop it, or set ${variable} to another port`;
    case 'EACCES':
      return `the process has no permission to use this port; set ${variable} to 1024 or more`;
    case 'EADDRNOTAVAIL':
      return 'this machine does not have this address; set HOST to one of its addresses, or to 0.0.0.0 for all';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'this host name is unknown; set HOST to an address of this machine (an IPv6 address without brackets)';
    default:
      return message;
  }
}
