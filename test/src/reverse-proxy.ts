import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { portOf } from '@device-insights/fanout/platform/http-server';

/**
 * A reverse proxy as in production: `/stream/subscribe` to a fan-out node, everything else to a gateway, on one port.
 */
export class ReverseProxy {
  readonly #server: Server;

  private constructor(
    /** Current address of the gateway. */
    public gateway: string,
    /** Current address of the fan-out node. */
    public node: string,
  ) {
    this.#server = createServer((incoming, response) => {
      const { method, headers, url } = incoming;
      const outgoing = httpRequest(this.gateway + url, { method: method ?? 'GET', headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      outgoing.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
      incoming.pipe(outgoing);
    });
    this.#server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head));
  }

  static async open(gateway: string, node: string): Promise<ReverseProxy> {
    const proxy = new ReverseProxy(gateway, node);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Passes a WebSocket's bytes through, including the handshake. */
  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const target = new URL(incoming.url?.startsWith('/stream/subscribe') ? this.node : this.gateway);
    const upstream = connect(Number(target.port), target.hostname);
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
    for (let i = 0; i < incoming.rawHeaders.length; i += 2)
      lines.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}`);
    upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(socket).on('error', () => upstream.destroy());
    socket.pipe(upstream).on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  }
}
