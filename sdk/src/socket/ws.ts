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
