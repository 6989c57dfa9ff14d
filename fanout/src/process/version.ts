import { readFileSync } from 'node:fs';

/** The release that runs: gateway, fan-out node and commands are released together. */
export const VERSION = versionIn(new URL('../../package.json', import.meta.url));

function versionIn(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
}
