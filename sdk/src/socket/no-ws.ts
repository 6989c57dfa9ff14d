/** Stands for ws.ts in bundles for browsers and for React Native, which have a WebSocket. */
export async function importWs(): Promise<unknown> {
  return 'pass a WebSocket class';
}
