/** Stands for ws.ts in bundles for browsers and for React Native, which have a WebSocket. */
export async function importWs(): Promise<unknown> {
  throw new Error('this bundle is not for Node');
}

export const WITHOUT_WEBSOCKET = 'pass a WebSocket class';
