// Builds gateway/dist/package: the service as operators install it, without development dependencies. All code is in a
// few files; the native modules of libsql and bufferutil are its only dependencies, in the versions of this lock.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OUT = `${ROOT}gateway/dist/package/`;
const NATIVE = ['libsql', 'bufferutil'];
const read = (path) => JSON.parse(readFileSync(ROOT + path, 'utf8'));

/** Files read at run time, and documents, which keep their places below the root. */
const ASSETS = [
  ...['dsp-wasm/dist/core.wasm', 'fanout/package.json', 'gateway/openapi.json', 'gateway/dist/pages'],
  ...['LICENSE', 'CHANGELOG.md', 'ARCHITECTURE.md', 'gateway/INGEST.md', 'gateway/deploy'],
];

/** Own files take the addresses of other files from their place below the root, not from the bundle. */
const places = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/(gateway|fanout|dsp-wasm)\/dist\/.*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL('./${relative(ROOT, path)}', import.meta.url).href`,
      ),
    })),
};

/** The part of the repository's lock that the dependencies need. */
function lock(names, packages) {
  const found = {};
  for (const name of names) {
    const key = `node_modules/${name}`;
    if (!packages[key]) continue; // Optional, for another platform.
    const { dev, devOptional, peer, ...entry } = packages[key];
    Object.assign(
      found,
      { [key]: entry },
      lock(Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }), packages),
    );
  }
  return found;
}

/** The commit, `+` after it if files are changed; outside a checkout, as in an image, that of the environment. */
function commit() {
  if (!existsSync(`${ROOT}.git`)) return process.env.COMMIT || null;
  const git = (...words) => spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
  return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+') || null;
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);
await build({
  entryPoints: {
    start: `${ROOT}gateway/dist/main.js`,
    admin: `${ROOT}gateway/dist/cli/admin.js`,
    check: `${ROOT}gateway/dist/cli/check.js`,
    fanout: `${ROOT}fanout/dist/main.js`,
    'gateway/dist/store/embedded/thread': `${ROOT}gateway/dist/store/embedded/thread.js`,
  },
  outdir: OUT,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: NATIVE,
  banner: {
    js: "import{createRequire as createRequireOfPackage}from'node:module';const require=createRequireOfPackage(import.meta.url);",
  },
  legalComments: 'none',
  plugins: [places],
});
for (const path of ASSETS) if (existsSync(ROOT + path)) cpSync(ROOT + path, OUT + path, { recursive: true });
cpSync(fileURLToPath(new URL('device-insights', import.meta.url)), `${OUT}device-insights`);

const { version, license, engines } = read('package.json');
const { dependencies } = read('gateway/package.json');
const manifest = {
  name: 'device-insights-service',
  version,
  license,
  type: 'module',
  engines,
  bin: { 'device-insights': 'device-insights' },
  dependencies: Object.fromEntries(NATIVE.map((name) => [name, dependencies[name]])),
};
const write = (name, content) => writeFileSync(OUT + name, `${JSON.stringify(content, null, 2)}\n`);
write('package.json', manifest);
const { name, dependencies: needed } = manifest;
const own = { name, version, license, dependencies: needed, bin: manifest.bin, engines };
const packages = { '': own, ...lock(NATIVE, read('package-lock.json').packages) };
write('npm-shrinkwrap.json', { name, version, lockfileVersion: 3, requires: true, packages });
write('fanout/package.json', { ...read('fanout/package.json'), commit: commit() });
