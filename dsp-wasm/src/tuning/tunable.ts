import type { Core } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { compile, type Optimization } from './compile.js';
import { type Constant, withImports } from './constants.js';

/**
 * Compiles the core with imports in place of the numbers of its tuning.
 *
 * @returns the module's bytes, for TunableCore
 */
export function compileTunable(optimization: Optimization = 'speed'): Promise<Uint8Array<ArrayBuffer>> {
  return compile((name, text) => {
    const folder = /^assembly\/(.+)\/tuning\.ts$/.exec(name)?.[1];
    return folder === undefined ? text : withImports(text, folder);
  }, optimization);
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
