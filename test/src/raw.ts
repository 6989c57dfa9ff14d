import { connect, type Socket } from 'node:net';

/** The lines of a request that asks for a WebSocket. */
export const upgradeOf = (target: string, more = '') =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
  `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

/** A frame of a client (RFC 6455, 5.2) of at most 125 bytes, masked with zeros. */
export function frame(opcode: number, payload: Uint8Array, fin = true): Buffer {
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** A bare TCP connection, which keeps its side open whatever the server does. */
export class Raw {
  received = '';
  /** Resolves with everything received when the server ends or resets the connection. */
  readonly ended: Promise<string>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (part) => {
      this.received += part;
    });
    socket.on('error', () => {});
    this.ended = new Promise((resolve) => {
      for (const event of ['end', 'close']) socket.once(event, () => resolve(this.received));
    });
  }

  /** Connects, and sends this. */
  static async open(url: string, sent: string | Uint8Array = ''): Promise<Raw> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const raw = new Raw(socket);
    await new Promise<void>((resolve) => {
      for (const event of ['connect', 'close']) socket.once(event, () => resolve());
    });
    if (sent.length > 0) socket.write(sent);
    return raw;
  }

  /** Resolves when the first bytes have arrived, or the connection has ended. */
  async first(): Promise<string> {
    if (this.received === '') {
      await Promise.race([this.ended, new Promise((resolve) => this.socket.once('data', resolve))]);
    }
    return this.received;
  }

  /** Ends it with a reset (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}
