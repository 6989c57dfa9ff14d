import { readFileSync } from 'node:fs';

/** The manifest of the installed package has the commit that it was built from. */
interface Manifest {
  readonly version: string;
  readonly commit?: string | null;
}

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;

/** The release that runs: gateway, fan-out node and commands are released together. */
export const VERSION = manifest.version;

/** The commit that the package was built from; `unpackaged` in a checkout. */
export const COMMIT = manifest.commit ?? 'unpackaged';
