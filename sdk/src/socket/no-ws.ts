/** Stands for ws.ts in bundles for browsers and for React Native, which have a WebSocket, but no pings that are heard. */
export async function importWs(): Promise<unknown> {
  return 'pass a WebSocket class';
}

export function ping(): boolean {
  return false;
}

export function onPong(): void {}

export function terminate(socket: { close(): void }): void {
  socket.close();
}
