import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import type { Core } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { ASSEMBLY, type Constant, withImports } from './constants.js';

const PACKAGE = fileURLToPath(new URL('..', ASSEMBLY));

/**
 * Compiles the core with imports in place of the numbers of its tuning, which takes as long as `npm run build:core`.
 *
 * @returns the module's bytes, for TunableCore
 */
export async function compileTunable(): Promise<Uint8Array<ArrayBuffer>> {
  const written: Uint8Array<ArrayBuffer>[] = [];
  const { error, stderr } = await asc.main(
    [
      'assembly/core.ts',
      '--baseDir',
      PACKAGE,
      ...'--config asconfig.json --target release --outFile tunable.wasm'.split(' '),
    ],
    {
      readFile: (name) => readSource(name),
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

function readSource(name: string): string | null {
  try {
    const text = readFileSync(join(PACKAGE, name), 'utf8');
    const folder = /^assembly\/(.+)\/tuning\.ts$/.exec(name)?.[1];
    return folder === undefined ? text : withImports(text, folder);
  } catch {
    return null; // asc tries other names
  }
}

/** Cores whose constants have other values, out of one compilation: a constant is an import there. */
export class TunableCore {
  readonly #module: WebAssembly.Module;
  readonly #constants: readonly Constant[];

  private constructor(module: WebAssembly.Module, constants: readonly Constant[]) {
    this.#module = module;
    this.#constants = constants;
  }

  /** @param constants all of them, as readConstants reads them */
  static async load(bytes: Uint8Array<ArrayBuffer>, constants: readonly Constant[]): Promise<TunableCore> {
    return new TunableCore(await WebAssembly.compile(bytes), constants);
  }

  /** Opens a core of one session; `changed`, one of the constants, has another value in it. */
  async open(changed?: { readonly constant: Constant; readonly value: number }): Promise<Core> {
    const imports: Record<string, Record<string, number>> = {};
    for (const constant of this.#constants) {
      const { folder, name, value } = constant;
      const own = imports[folder] ?? {};
      if (value !== null) own[name] = changed?.constant === constant ? changed.value : value;
      imports[folder] = own;
    }
    return new SlotCore(await Kernel.of(this.#module, 1, imports), 1);
  }
}
