/** The part of the browser's WebSocket that the clients use; `ws` has it too. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** Of `ws` alone: pings, their answers, and an end without a handshake. */
export interface NodeSocket extends Socket {
  ping?(): void;
  on?(event: 'pong', listener: () => void): void;
  terminate?(): void;
}

/** How a connection closed; 1006 where it was lost. */
export interface CloseInfo {
  readonly code: number;
  readonly reason: string;
}

export type SocketConstructor = new (url: string) => Socket;

/** No WebSocket to connect with. */
export class NoWebSocketError extends Error {
  override readonly name = 'NoWebSocketError';

  constructor(options?: ErrorOptions) {
    super(
      'this runtime has no WebSocket: on Node 20 install the package "ws" (npm install ws), or pass a WebSocket class',
      options,
    );
  }
}

/**
 * The runtime's own WebSocket (browsers, Node 22 and later), else that of the package `ws`.
 *
 * @throws NoWebSocketError where there is neither
 */
export async function findWebSocket(): Promise<SocketConstructor> {
  const { WebSocket: own } = globalThis as { WebSocket?: SocketConstructor };
  if (own) return own;
  // In a variable, so that bundlers for browsers do not look for the package.
  const name = 'ws';
  try {
    const { WebSocket } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      WebSocket: SocketConstructor;
    };
    return WebSocket;
  } catch (cause) {
    throw new NoWebSocketError({ cause });
  }
}

/**
 * A WebSocket address of the service.
 *
 * @param baseUrl the service's address, http(s) or ws(s), with or without a path
 * @throws TypeError where `baseUrl` is no such address
 */
export function socketUrl(baseUrl: string, path: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(baseUrl);
  if (!/^(http|ws)s?:$/.test(url.protocol))
    throw new TypeError(`baseUrl must begin with http, https, ws or wss; it is ${baseUrl}`);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  url.search = new URLSearchParams(query).toString();
  return url.toString();
}
