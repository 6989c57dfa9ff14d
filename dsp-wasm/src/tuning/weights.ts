import { readdirSync, readFileSync } from 'node:fs';
import type { Core } from '../core.js';
import { SlotCore } from '../instance.js';
import { Kernel } from '../kernel.js';
import { compile, type Optimization } from './compile.js';
import { ASSEMBLY } from './constants.js';

/** The tables of fitted weights in the files assembly/FOLDER/TABLE_weights.ts, and cores that weigh by others. */

export interface Table {
  /** TABLE of its file's name: a model of confidence (features.ts), or `motion`. */
  readonly name: string;
  /** Its file, relative to assembly/. */
  readonly file: string;
  /** The name of its constant. */
  readonly constant: string;
  readonly weights: readonly number[];
}

/** The tables as they are in the sources. @throws Error that names a file without one table */
export function readTables(): Table[] {
  const files = readdirSync(ASSEMBLY, { recursive: true, encoding: 'utf8' }).toSorted();
  return files.flatMap((file) => {
    const name = /\/(\w+)_weights\.ts$/.exec(file)?.[1];
    if (name === undefined) return [];
    const text = readFileSync(new URL(file, ASSEMBLY), 'utf8');
    const [, constant, numbers] = /export const (\w+): StaticArray<f32> = \[([^\]]*)\]/.exec(text) ?? [];
    if (constant === undefined || numbers === undefined)
      throw new Error(`assembly/${file}: export one constant of type StaticArray<f32> with its numbers`);
    const weights = numbers.replace(/\/\/.*/g, '').match(/[^\s,]+/g) ?? [];
    return [{ name, file, constant, weights: weights.map(Number) }];
  });
}

const addressOf = ({ name }: Table) => `weights_of_${name}`;

/** Compiles the core with the addresses of its tables as further exports. @returns the module's bytes, for WeighedCore */
export function compileWeighed(optimization: Optimization = 'speed'): Promise<Uint8Array<ArrayBuffer>> {
  const addresses = readTables().flatMap((table) => [
    `import { ${table.constant} } from './${table.file.replace(/\.ts$/, '')}';`,
    `export function ${addressOf(table)}(): usize { return changetype<usize>(${table.constant}); }`,
  ]);
  return compile(
    (name, text) => (name === 'assembly/core.ts' ? `${text}\n${addresses.join('\n')}` : text),
    optimization,
  );
}

/** Cores with other weights than the committed ones. */
export class WeighedCore {
  readonly #module: WebAssembly.Module;
  readonly #tables = readTables();

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  static async load(bytes: Uint8Array<ArrayBuffer>): Promise<WeighedCore> {
    return new WeighedCore(await WebAssembly.compile(bytes));
  }

  /**
   * Opens a core of one session.
   *
   * @param weights by table; the others stay as they are
   * @throws Error if a table does not exist, or has another length
   */
  async open(weights: Readonly<Record<string, readonly number[]>>): Promise<Core> {
    const kernel = await Kernel.of(this.#module, 1);
    for (const [name, numbers] of Object.entries(weights)) {
      const table = this.#tables.find((one) => one.name === name);
      if (table?.weights.length !== numbers.length)
        throw new Error(`the core has no table ${name} of ${numbers.length} weights`);
      const address = (kernel.call[addressOf(table)] as () => number)();
      new Float32Array(kernel.bytes.buffer, address, numbers.length).set(numbers);
    }
    return new SlotCore(kernel, 1);
  }
}
