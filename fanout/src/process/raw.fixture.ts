import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The lines of a request for a WebSocket. */
export function upgradeOf(target: string): string {
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  return `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`;
}

/** An empty ping of a client, masked (RFC 6455, 5.5.2). */
export const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);

/** What a handler of upgrades receives of a peer without a key that never answers; no descriptor is used. */
export function strangersUpgrade(): [request: IncomingMessage, socket: Duplex, head: Buffer] {
  const key = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  const headers = { connection: 'Upgrade', upgrade: 'websocket', ...key };
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/', headers });
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

  /** Connects, and sends this. */
  static async open(port: number, sent: string | Buffer = ''): Promise<Raw> {
    const raw = new Raw(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    await once(raw.socket, 'connect');
    if (sent.length > 0) raw.socket.write(sent);
    return raw;
  }

  /** Resolves once something has arrived. */
  async first(): Promise<string> {
    if (this.received === '') await once(this.socket, 'data');
    return this.received;
  }
}
