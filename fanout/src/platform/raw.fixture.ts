import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The lines of a request for a WebSocket; `more` are further lines, each with its end. */
export function upgradeOf(target: string, more = ''): string {
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  return `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n${more}\r\n`;
}

/** A frame of a client (RFC 6455, 5.2) of at most 125 bytes, masked with zeros. */
export function frameOf(opcode: number, payload: Uint8Array, fin = true): Buffer {
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** An empty ping. */
export const PING = frameOf(0x9, Buffer.alloc(0));

/** What a handler of upgrades receives of a peer that never answers, by default without a key; no descriptor is used. */
export function strangersUpgrade(url = '/'): [request: IncomingMessage, socket: Duplex, head: Buffer] {
  const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  const headers = { connection: 'Upgrade', upgrade: 'websocket', ...key };
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url, headers });
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  return [request, socket, Buffer.alloc(0)];
}

/** A bare TCP connection to a port of 127.0.0.1, which keeps its side open whatever the server does. */
export class Raw {
  received = '';
  /** Resolves with everything received when the server ends or resets the connection. */
  readonly ended: Promise<string>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (part) => {
      this.received += part;
    });
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      for (const event of ['end', 'close']) socket.once(event, () => resolve(this.received));
    });
  }

  /** Connects, and sends this; also resolves if the server closes at once. */
  static async open(port: number, sent: string | Uint8Array = ''): Promise<Raw> {
    const raw = new Raw(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    await raw.#eventOrEnd('connect');
    if (sent.length > 0) raw.socket.write(sent);
    return raw;
  }

  /** The same, with the port of a URL. */
  static at(url: string, sent?: string): Promise<Raw> {
    return Raw.open(Number(new URL(url).port), sent);
  }

  /** Resolves with what has arrived first, or when the connection has ended. */
  async first(): Promise<string> {
    if (this.received === '') await this.#eventOrEnd('data');
    return this.received;
  }

  #eventOrEnd(event: string): Promise<unknown> {
    return Promise.race([new Promise((resolve) => this.socket.once(event, resolve)), this.ended]);
  }

  /** Ends the connection with a reset (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}
