import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { ASSEMBLY } from './constants.js';

const PACKAGE = fileURLToPath(new URL('..', ASSEMBLY));

/** `speed` takes as long as `npm run build:core`; `none` a fifth of that, and gives the same results more slowly. */
export type Optimization = 'speed' | 'none';

/**
 * Compiles the core with changed sources.
 *
 * @param change gives the text to compile for a file and its text
 * @returns the module's bytes
 * @throws Error with the compiler's messages
 */
export async function compile(
  change: (name: string, text: string) => string,
  optimization: Optimization,
): Promise<Uint8Array<ArrayBuffer>> {
  const written: Uint8Array<ArrayBuffer>[] = [];
  const { error, stderr } = await asc.main(
    [
      'assembly/core.ts',
      '--baseDir',
      PACKAGE,
      ...'--config asconfig.json --target release --outFile changed.wasm'.split(' '),
      ...(optimization === 'none' ? ['--optimizeLevel', '0'] : []),
    ],
    {
      readFile: (name) => {
        const text = read(name);
        return text === null ? null : change(name, text);
      },
      writeFile: (_, contents) => {
        if (typeof contents !== 'string') written.push(new Uint8Array(contents));
      },
      listFiles: () => null,
    },
  );
  const [bytes] = written;
  if (error || !bytes) throw new Error(`the signal core does not compile: ${stderr}`, { cause: error });
  return bytes;
}

function read(name: string): string | null {
  try {
    return readFileSync(join(PACKAGE, name), 'utf8');
  } catch {
    return null; // asc tries other names
  }
}
