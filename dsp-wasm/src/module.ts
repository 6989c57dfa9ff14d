/** The file of a WebAssembly module, which the build has compiled. */
export const fileOfModule = (name: string): URL => new URL(`../${name}`, import.meta.url);
