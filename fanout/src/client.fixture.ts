import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import type { Fanout } from './fanout.js';
import type { KeyCheck, KeyHolder } from './keys/key-check.js';
import { portOf } from './platform/http-server.js';

/** Keys for a test: `answer` may be replaced to make the check slow or fail. */
export class TestKeys implements KeyCheck {
  readonly holders = new Map<string, KeyHolder>();
  answer: (hash: string) => Promise<KeyHolder | null> = async (hash) => this.holders.get(hash) ?? null;
  readonly #listeners = new Map<(hash: string) => void, () => Iterable<string>>();

  holder(hash: string): Promise<KeyHolder | null> {
    return this.answer(hash);
  }

  onRevoked(run: (hash: string) => void, inUse: () => Iterable<string>): () => void {
    this.#listeners.set(run, inUse);
    return () => this.#listeners.delete(run);
  }

  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  /** The hashes of the keys that have subscribers. */
  get inUse(): string[] {
    return [...this.#listeners.values()].flatMap((inUse) => [...inUse()]);
  }

  revoke(hash: string): void {
    this.holders.delete(hash);
    for (const run of this.#listeners.keys()) run(hash);
  }
}

/** Serves a fan-out's sockets on a free port of 127.0.0.1. */
export async function serve(fanout: Fanout): Promise<{ server: Server; url: string }> {
  const server = createServer((_request, response) => response.writeHead(404).end());
  server.on('upgrade', (request, socket, head) => fanout.handleUpgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `ws://127.0.0.1:${portOf(server)}/stream/subscribe` };
}

/** A subscriber, as an app would be. */
export class TestClient {
  readonly ws: WebSocket;
  readonly texts: string[] = [];
  /** Code and reason of the close frame. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #waiting = new Set<() => void>();

  constructor(url: string, options: ClientOptions = {}) {
    this.ws = new WebSocket(url, options);
    this.ws.on('message', (data) => {
      this.texts.push(String(data));
      this.#look();
    });
    this.ws.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#look();
      });
    });
  }

  /** Resolves once `count` messages have arrived; rejects if the socket closes before. */
  count(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.texts.length >= count) resolve();
        else if (this.ws.readyState === WebSocket.CLOSED)
          reject(new Error(`closed after ${this.texts.length} messages`));
        else return;
        this.#waiting.delete(check);
      };
      this.#waiting.add(check);
      check();
    });
  }

  #look(): void {
    for (const check of [...this.#waiting]) check();
  }
}
