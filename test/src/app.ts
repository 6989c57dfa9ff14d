import WebSocket from 'ws';
import { KEY } from './running.js';

/** What an insight is known by, in both forms. */
export interface Insight {
  readonly session_id: string;
  readonly type: string;
  readonly ts: number;
}

/** One connection of an app, from `subscribed` to its close. */
export interface Connection {
  readonly subscribedAt: number;
  readonly insights: Insight[];
  /** Null while it is open. */
  closed: { readonly at: number; readonly code: number } | null;
}

/** After a close that asks to come back; an app of the real world waits longer. */
const RETRY_MS = 50;
const COME_BACK = [1006, 1012, 1013];

/** Of an insight: unique among all that are stored. */
export const identity = ({ session_id, type, ts }: Insight) => `${session_id} ${type} ${ts}`;

/**
 * An app that follows its account: each time its socket is closed with a code that says so, it connects again, to the next of its addresses.
 * It keeps what each connection brought.
 */
export class App {
  readonly connections: Connection[] = [];
  /** Codes of all closes, those before `subscribed` included. */
  readonly codes: number[] = [];
  readonly #addresses: readonly { readonly wsUrl: string }[];
  readonly #key: string;
  #socket: WebSocket;
  #attempts = 0;
  #over = false;

  constructor(addresses: readonly { readonly wsUrl: string }[], key = KEY) {
    this.#addresses = addresses;
    this.#key = key;
    this.#socket = this.#connect();
  }

  /** The connection that is subscribed now. */
  get current(): Connection | null {
    const last = this.connections.at(-1);
    return last && last.closed === null ? last : null;
  }

  get insights(): readonly Insight[] {
    return this.connections.flatMap(({ insights }) => insights);
  }

  /** Stops reading: what comes piles up in the sockets' buffers. */
  stall(): void {
    this.#socket.pause();
  }

  /** Reads again. */
  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#over = true;
    this.#socket.terminate();
  }

  #connect(): WebSocket {
    const address = this.#addresses[this.#attempts++ % this.#addresses.length];
    const socket = new WebSocket(`${address?.wsUrl}/stream/subscribe?api_key=${this.#key}`);
    let connection: Connection | null = null;
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Insight;
      if (connection) connection.insights.push(message);
      else connection = this.#begin();
    });
    socket.on('error', () => {});
    socket.on('close', (code) => {
      if (connection) connection.closed = { at: Date.now(), code };
      this.#onClose(code);
    });
    return socket;
  }

  /** The first message says that the subscription stands. */
  #begin(): Connection {
    const connection = { subscribedAt: Date.now(), insights: [], closed: null };
    this.connections.push(connection);
    return connection;
  }

  #onClose(code: number): void {
    this.codes.push(code);
    if (this.#over || !COME_BACK.includes(code)) return;
    setTimeout(() => {
      if (!this.#over) this.#socket = this.#connect();
    }, RETRY_MS);
  }
}

/**
 * Stored insights that a connection should have brought and did not: those published after it was subscribed, up to the last of their
 * session and type that it brought, or, while it is open, to the newest.
 */
export function gapsOf(connection: Connection, stored: readonly Insight[]): string[] {
  const brought = new Set(connection.insights.map(identity));
  const line = ({ session_id, type }: Insight) => `${session_id} ${type}`;
  const last = new Map(connection.insights.map((insight) => [line(insight), insight.ts]));
  const until = (insight: Insight) => (connection.closed ? (last.get(line(insight)) ?? 0) : Number.POSITIVE_INFINITY);
  return stored
    .filter((insight) => insight.ts > connection.subscribedAt && insight.ts <= until(insight))
    .map(identity)
    .filter((id) => !brought.has(id));
}
