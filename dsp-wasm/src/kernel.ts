import { readFileSync } from 'node:fs';
import { fileOfModule } from '#module';

/** Exports of the AssemblyScript module (assembly/core.ts). */
interface Exports {
  readonly [constant: string]: unknown;
  open(index: number): void;
  channel(index: number, kind: number, subs: number, bits: number): void;
  ready(index: number): void;
  push(index: number, channel: number, encoding: number, count: number): number;
  step(index: number, estimator: number, end: number): number;
  peaks(index: number, channel: number): number;
  beats(index: number, source: number): number;
  lanePoints(): number;
  filledLanePoints(): number;
  modelOfAnswer(): number;
}

const PAGE = 65536;
/** Pages that what all sessions share fits into. */
const LEAST_PAGES = 16;
/** Size limit of a WebAssembly memory with addresses of 32 bits, bytes. */
const MAX_BYTES = 2 ** 32;

/** The module with a memory of fixed size, and views of it. The memory never grows, so the views never detach. */
export class Kernel {
  readonly call: Exports;
  readonly bytes: Uint8Array;
  readonly view: DataView;

  private constructor(memory: WebAssembly.Memory, call: Exports) {
    this.call = call;
    this.bytes = new Uint8Array(memory.buffer);
    this.view = new DataView(memory.buffer);
  }

  /** Compiles the module and reserves its memory for the given number of sessions. */
  static async load(sessions: number): Promise<Kernel> {
    return Kernel.of(await compiled(), sessions);
  }

  /** Reserves memory for the given number of sessions of a compiled module; `imports` are added to the host's own. */
  static async of(module: WebAssembly.Module, sessions: number, imports: WebAssembly.Imports = {}): Promise<Kernel> {
    // Only the module knows its layout: a first instance with a small memory gives the address of the slots.
    const sizes = (await instantiate(module, LEAST_PAGES, imports)).call;
    const [slots, slotBytes] = [constant(sizes, 'SLOTS'), constant(sizes, 'SLOT_BYTES')];
    const bytes = slots + sessions * slotBytes;
    if (bytes > MAX_BYTES)
      throw new RangeError(
        `maxSessions is ${sessions}; it must be at most ${Math.floor((MAX_BYTES - slots) / slotBytes)}`,
      );
    const { call, memory } = await instantiate(module, Math.ceil(bytes / PAGE), imports);
    return new Kernel(memory, call);
  }

  /** A number that the module exports, as an address. */
  constant(name: string): number {
    return constant(this.call, name);
  }
}

let module: Promise<WebAssembly.Module> | undefined;

/** The module, compiled once: instances share its code, including optimised code. */
function compiled(): Promise<WebAssembly.Module> {
  module ??= WebAssembly.compile(readFileSync(fileOfModule()));
  return module;
}

async function instantiate(module: WebAssembly.Module, pages: number, imports: WebAssembly.Imports) {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const abort = (): never => {
    throw new Error('The signal core aborted: its memory is not large enough for its layout.');
  };
  const instance = await WebAssembly.instantiate(module, { ...imports, env: { memory, abort } });
  return { call: instance.exports as unknown as Exports, memory };
}

function constant(call: Exports, name: string): number {
  const value = call[name];
  if (!(value instanceof WebAssembly.Global)) throw new Error(`The signal core does not export ${name}.`);
  return Number(value.value);
}
