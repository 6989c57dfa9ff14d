/** The file of the WebAssembly module, which the build has compiled. */
export const fileOfModule = (): URL => new URL('../core.wasm', import.meta.url);
