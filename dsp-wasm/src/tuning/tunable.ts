import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import type { Core } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { ASSEMBLY, type Constant, withImports } from './constants.js';

/** Cores with other values of the constants, all out of one compilation: a constant is an import there. */

const PACKAGE = fileURLToPath(new URL('..', ASSEMBLY));

/** Compiles the core with imports in place of the numbers of its tuning. It takes as long as `npm run build:wasm`. */
export async function compileTunable(): Promise<WebAssembly.Module> {
  let bytes: Uint8Array<ArrayBuffer> | null = null;
  const { error, stderr } = await asc.main(
    ['assembly/core.ts', '--config', 'asconfig.json', '--target', 'release', '--outFile', 'tunable.wasm'],
    {
      readFile: (name, base) => readSource(join(base, name)),
      writeFile: (_, contents) => {
        if (typeof contents !== 'string') bytes = new Uint8Array(contents);
      },
      listFiles: () => null,
    },
  );
  if (error || !bytes) throw new Error(`the signal core does not compile: ${stderr}`, { cause: error });
  return WebAssembly.compile(bytes);
}

function readSource(name: string): string | null {
  try {
    const text = readFileSync(join(PACKAGE, name), 'utf8');
    const folder = /^assembly\/(.+)\/tuning\.ts$/.exec(name)?.[1];
    return folder === undefined ? text : withImports(text, folder);
  } catch {
    return null; // asc tries other names
  }
}

/**
 * Opens a core of one session with the values of all constants.
 *
 * @param changed the one of them whose value is another, if any
 */
export async function tunedCore(
  module: WebAssembly.Module,
  constants: readonly Constant[],
  changed?: { readonly constant: Constant; readonly value: number },
): Promise<Core> {
  const imports: Record<string, Record<string, number>> = {};
  for (const constant of constants) {
    const { folder, name, value } = constant;
    const own = imports[folder] ?? {};
    if (value !== null) own[name] = changed?.constant === constant ? changed.value : value;
    imports[folder] = own;
  }
  return new SlotCore(await Kernel.of(module, 1, imports), 1);
}
