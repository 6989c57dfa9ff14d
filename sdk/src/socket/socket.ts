import { ConnectionError } from '../rest/api-error.js';
import { queryText } from './service-address.js';
import { importWs } from './ws.js';

/**
 * The part of the browser's WebSocket that the clients use; `ws` has it too. Listeners take `never`, so that both are
 * assignable, whose events have different types.
 */
export interface Socket {
  /** How binary messages are received; not used. */
  binaryType: string;
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Called when it is open. */
  onopen: ((event: never) => void) | null;
  /** Called for each message, with its `data`. */
  onmessage: ((event: never) => void) | null;
  /** Called when it has closed, with the close `code` and `reason`. */
  onclose: ((event: never) => void) | null;
  /** Called when it fails; `onclose` follows, but on Node 22 not after an attempt that failed. */
  onerror: ((event: never) => void) | null;
  /** Sends a message. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Closes with a handshake. */
  close(code?: number, reason?: string): void;
}

/** How a connection closed; 1006 if it was lost. */
export interface CloseInfo {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket class: a browser's, that of the package `ws`, or one of the same form. */
export type SocketConstructor = new (url: string) => Socket;

/**
 * Calls `ended` when the socket has closed or could not be opened. On Node 22 a failed attempt is reported by `onerror`
 * alone, with the socket still in state 0; elsewhere the state is another one then, and `onclose` follows.
 */
export function onEnd(socket: Socket, ended: (info: CloseInfo) => void): void {
  socket.onclose = ({ code, reason }: CloseInfo) => ended({ code, reason });
  socket.onerror = () => {
    if (socket.readyState === 0) ended({ code: 1006, reason: '' });
  };
}

/**
 * The runtime's own WebSocket (browsers, Node 22 and later), or else that of the package `ws`.
 *
 * @throws ConnectionError if there is neither
 */
export async function findWebSocket(): Promise<SocketConstructor> {
  const { WebSocket = await importWs() } = globalThis as { WebSocket?: unknown };
  if (typeof WebSocket === 'string') throw new ConnectionError(`this runtime has no WebSocket: ${WebSocket}`);
  return WebSocket as SocketConstructor;
}

/** The address of one of the service's sockets; `baseUrl` as `addressOf` gives it. */
export function socketUrl(baseUrl: string, name: string, query: Readonly<Record<string, unknown>>): string {
  return `${baseUrl.replace('http', 'ws')}/stream/${name}${queryText(query)}`;
}
