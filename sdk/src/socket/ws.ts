/** The package `ws`. package.json replaces this file by no-ws.ts in bundles for browsers and for React Native. */
export function importWs(): Promise<unknown> {
  // In a variable, so that no other bundler looks for the package.
  const name = 'ws';
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name);
}

/** What to do where there is no WebSocket. */
export const WITHOUT_WEBSOCKET = 'on Node 20 install the package "ws" (npm install ws), or pass a WebSocket class';
