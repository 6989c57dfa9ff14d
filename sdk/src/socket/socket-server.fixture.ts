import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** One connection at a test's server: its messages so far, and a way to wait for the next. */
export class Peer {
  readonly received: (string | Buffer)[] = [];
  readonly #arrivals = new EventEmitter();

  constructor(
    readonly socket: WebSocket,
    readonly query: URLSearchParams,
  ) {
    socket.on('message', (data: Buffer, isBinary) => {
      this.received.push(isBinary ? data : data.toString());
      this.#arrivals.emit('arrival');
    });
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Waits until `count` messages have arrived. */
  async messages(count: number): Promise<(string | Buffer)[]> {
    while (this.received.length < count) await once(this.#arrivals, 'arrival');
    return this.received;
  }
}

/** A real HTTP and WebSocket server on a free port of 127.0.0.1, with which tests imitate the service. */
export class SocketServer {
  /** Answers HTTP requests. */
  respond: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.writeHead(404).end('{"detail":"not found"}');
  readonly #http = createServer((request, response) => this.respond(request, response));
  readonly #server = new WebSocketServer({ server: this.#http });
  readonly #peers: Peer[] = [];
  readonly #arrivals = new EventEmitter();

  constructor() {
    this.#server.on('connection', (socket, request) => {
      this.#peers.push(new Peer(socket, new URL(request.url ?? '/', 'http://localhost').searchParams));
      this.#arrivals.emit('peer');
    });
  }

  /** Its address; at the first call it starts to listen, on a free port or the given one. */
  async url(port = 0): Promise<string> {
    if (!this.#http.listening) await new Promise<void>((resolve) => this.#http.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** The next connection. */
  async peer(): Promise<Peer> {
    for (;;) {
      const peer = this.#peers.shift();
      if (peer) return peer;
      await once(this.#arrivals, 'peer');
    }
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}
