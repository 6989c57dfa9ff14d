import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const PACKAGE = new URL('../', import.meta.url);
const ASC = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');

/** The file of the WebAssembly module for tests that run without a build: compiles it if its source is newer. */
export function fileOfModule(): URL {
  const file = new URL('dist/core.wasm', PACKAGE);
  if (existsSync(file) && statSync(file).mtimeMs > newest(new URL('assembly/', PACKAGE))) return file;
  const made = `dist/core.wasm.${process.pid}`;
  const words = [ASC, 'assembly/kernels.ts', '--config', 'asconfig.json', '--target', 'release', '--outFile', made];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: PACKAGE, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the signal core does not compile:\n${stderr}`);
  renameSync(new URL(made, PACKAGE), file);
  return file;
}

/** Time of the last change below a folder. */
function newest(folder: URL): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Math.max(...files.map((file) => statSync(`${fileURLToPath(folder)}/${file}`).mtimeMs));
}
