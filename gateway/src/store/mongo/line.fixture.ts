import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf } from '@device-insights/fanout/platform/http-server';

/** A connection to a server that a test can cut, silence and restore. */
export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: 'up' | 'cut' | 'silent' = 'up';

  private constructor(private readonly target: URL) {
    this.#server = createServer((near) => this.#join(near));
  }

  /** Begins to listen on 127.0.0.1. */
  static async to(uri: string): Promise<Line> {
    const line = new Line(new URL(uri));
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  /** The address of the target through this connection; the driver is told not to look for another one. */
  get uri(): string {
    const port = portOf(this.#server);
    return `mongodb://127.0.0.1:${port}${this.target.pathname}?directConnection=true`;
  }

  /** Breaks all connections and accepts no new ones. */
  cut(): void {
    this.#state = 'cut';
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Keeps the connections and accepts new ones, but carries no data. */
  silence(): void {
    this.#state = 'silent';
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#state = 'up';
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket): void {
    this.#keep(near);
    if (this.#state === 'cut') near.destroy();
    if (this.#state !== 'up') return;
    const far = connect(Number(this.target.port), this.target.hostname);
    this.#keep(far);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('close', () => other.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
