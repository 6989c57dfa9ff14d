/** What sockets of the package `ws` have, and those of browsers have not but for `close`. */
interface WsSocket {
  close(): void;
  ping?(): void;
  on?(event: 'pong', listener: () => void): void;
  terminate?(): void;
}

/**
 * The WebSocket class of the package `ws`, or, without the package, a text that says what to do. package.json replaces
 * this file by no-ws.ts in bundles for browsers and for React Native.
 */
export async function importWs(): Promise<unknown> {
  // In a variable, so that no other bundler looks for the package.
  const name = 'ws';
  try {
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)).WebSocket;
  } catch {
    return 'on Node 20 install the package "ws" (npm install ws), or pass a WebSocket class';
  }
}

/** Sends a ping whose answer is heard; false if the socket cannot. */
export function ping(socket: WsSocket): boolean {
  const isHeard = socket.on !== undefined && socket.ping !== undefined;
  if (isHeard) socket.ping?.();
  return isHeard;
}

/** Calls `run` for each answer of a ping. */
export function onPong(socket: WsSocket, run: () => void): void {
  socket.on?.('pong', run);
}

/** Ends a socket without a handshake, if it can. */
export function terminate(socket: WsSocket): void {
  if (socket.terminate) socket.terminate();
  else socket.close();
}
