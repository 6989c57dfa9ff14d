/** The package `ws`. package.json replaces this file by no-ws.ts in bundles for browsers and for React Native. */
export function importWs(): Promise<unknown> {
  // In a variable, so that no other bundler looks for the package.
  const name = 'ws';
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name);
}
