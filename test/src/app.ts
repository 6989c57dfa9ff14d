import WebSocket from 'ws';
import { KEY } from './running.js';

/** The fields that identify an insight, in both forms. */
export interface Insight {
  readonly device_id: string;
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

/** Wait after a close that asks for a reconnect; real apps wait longer. */
const RETRY_MS = 50;
const COME_BACK = [1006, 1012, 1013];

/** Identity of an insight: unique among all stored ones. */
export const identity = ({ session_id, type, ts }: Omit<Insight, 'device_id'>) => `${session_id} ${type} ${ts}`;

/**
 * An app that follows its account: each time its socket is closed with a code that allows it, it reconnects, to the
 * next of its addresses. It keeps the insights of each connection.
 */
export class App {
  readonly connections: Connection[] = [];
  /** Codes of all closes, including those before `subscribed`. */
  readonly codes: number[] = [];
  #socket: WebSocket;
  #attempts = 0;
  #over = false;

  /** `onInsight` is called for each insight as it arrives. */
  constructor(
    private readonly addresses: readonly { readonly wsUrl: string }[],
    private readonly key = KEY,
    private readonly onInsight: (insight: Insight) => void = () => {},
  ) {
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

  /** Stops reading: messages accumulate in the sockets' buffers. */
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
    const address = this.addresses[this.#attempts++ % this.addresses.length];
    const socket = new WebSocket(`${address?.wsUrl}/stream/subscribe?api_key=${this.key}`);
    let connection: Connection | null = null;
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Insight;
      if (!connection) connection = this.#begin();
      else {
        connection.insights.push(message);
        this.onInsight(message);
      }
    });
    socket.on('error', () => {});
    socket.on('close', (code) => {
      if (connection) connection.closed = { at: Date.now(), code };
      this.#onClose(code);
    });
    return socket;
  }

  /** The first message confirms the subscription. */
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
 * Stored insights that a connection should have received but did not: those published after it was subscribed, up to
 * the last of their session and type that it received, or, while it is open, up to the newest.
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
