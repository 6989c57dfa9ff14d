import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { build } from 'esbuild';

const execute = promisify(execFile);
const SDK = fileURLToPath(new URL('..', import.meta.url));
const tool = (name: string) => join(SDK, '../node_modules/.bin', name);
/**
 * Maximum size of bundles for browsers, ESM, minified and gzipped, bytes: of a page that shows readings, and of
 * everything. README.md promises these.
 */
const MOST_BYTES = { 'app.js': 7000, 'sdk.js': 10_000 };

const PROGRAM = `
const live = new DeviceInsights({ baseUrl: 'http://127.0.0.1:1', apiKey: 'svc_x', retries: 0 });
const [frame] = simulate({ seconds: 1 }).frames();
console.log(typeof live.sessions.list, frame.samples.length, typeof readRecording, live instanceof App);
`;

describe('package', () => {
  let project = '';
  let tarball = '';

  before(async function () {
    this.timeout(120_000);
    project = await mkdtemp(join(tmpdir(), 'package-'));
    const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', project], { cwd: SDK });
    tarball = join(project, JSON.parse(stdout)[0].filename);
    await writeFile(join(project, 'package.json'), '{"private":true}');
    await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
  });
  after(() => rm(project, { recursive: true }));

  /** Where a file of the tarball has been installed. */
  const installed = (file: string) => join(project, 'node_modules/@device-insights/sdk', file.replace('package/', ''));

  async function write(name: string, text: string): Promise<string> {
    await writeFile(join(project, name), text);
    return join(project, name);
  }

  const lines = (from: (entry: string) => string) =>
    [
      ['DeviceInsights', '@device-insights/sdk'],
      ['DeviceInsights as App', '@device-insights/sdk/app'],
      ['simulate', '@device-insights/sdk/simulator'],
      ['readRecording', '@device-insights/sdk/node'],
      ['toParquet', '@device-insights/sdk/parquet'],
    ]
      .map(([name, entry]) => from(`{ ${name} }|${entry}`))
      .join('\n');

  it('can be imported', async () => {
    const program = await write('a.mjs', lines((entry) => `import ${entry.replace('|', " from '")}';`) + PROGRAM);
    expect((await execute(process.execPath, [program])).stdout).to.equal('function 20 function true\n');
  });

  it('can be required', async () => {
    const program = await write(
      'b.cjs',
      lines((entry) => `const ${entry.replace(' as ', ': ').replace('|', " = require('")}');`) + PROGRAM,
    );
    expect((await execute(process.execPath, [program])).stdout).to.equal('function 20 function true\n');
  });

  it('has TypeScript types that pass a full check, of version 6 with nodenext, and of version 7 for bundlers that support only es2020', async function () {
    this.timeout(180_000);
    const types =
      "\nexport async function last(client: DeviceInsights): Promise<number | undefined> {\n  const { data } = await client.insights.list({ type: 'hr' });\n  return data[0]?.value;\n}\nexport const own = (options: { baseUrl: string; apiKey: string }) =>\n  new DeviceInsights({ ...options, WebSocket: globalThis.WebSocket });\n";
    await write('c.mts', lines((entry) => `import ${entry.replace('|', " from '")}';`) + PROGRAM + types);
    await mkdir(join(project, 'node_modules/@types'), { recursive: true });
    const common = '--noEmit --strict --target es2020 --types node --skipDefaultLibCheck'.split(' ');
    const roots = ['--typeRoots', join(SDK, '../node_modules/@types')];
    const check = (compiler: string, way: string) =>
      execute(compiler, [...common, ...way.split(' '), ...roots, 'c.mts'], { cwd: project }).catch(
        (error: { stdout: string }) => {
          throw new Error(error.stdout);
        },
      );
    await Promise.all([
      check(tool('tsc'), '--module nodenext'),
      check(
        join(SDK, '../node_modules/typescript-7/bin/tsc'),
        '--module esnext --moduleResolution bundler --lib es2020,dom,dom.iterable',
      ),
    ]);
  });

  it('says in one line that Node 20 needs ws, if that is missing', async () => {
    const program = await write(
      'd.mjs',
      `
      import { DeviceInsights } from '@device-insights/sdk';
      delete globalThis.WebSocket;
      const client = new DeviceInsights({ baseUrl: 'http://127.0.0.1:1', apiKey: 'svc_x' });
      await client.live.subscribe().subscribed().catch((error) => console.log(error.name, error.message));`,
    );
    expect((await execute(process.execPath, [program])).stdout).to.match(/^ConnectionError .*npm install ws.*\n$/);
  });

  it('says in one line that Parquet needs hyparquet-writer, if that is missing', async () => {
    const program = await write(
      'e.mjs',
      `
      import { toParquet } from '@device-insights/sdk/parquet';
      await toParquet([]).next().catch((error) => console.log(error.message));`,
    );
    expect((await execute(process.execPath, [program])).stdout).to.equal(
      'Parquet needs the package "hyparquet-writer": npm install hyparquet-writer\n',
    );
  });

  it('runs its command', async () => {
    const { stdout } = await execute(join(project, 'node_modules/.bin/device-insights'), ['--help']);
    expect(stdout).to.contain('simulate').and.contain('export --since TIME');
  });

  it('says that the output of its command could not be written', async () => {
    const command = join(project, 'node_modules/.bin/device-insights');
    const { status, stderr } = spawnSync('sh', ['-c', 'exec "$0" --help > /dev/full', command], { encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([
      1,
      'the output could not be written: ENOSPC: no space left on device, write\n',
    ]);
  });

  it('passes publint and Are The Types Wrong', async () => {
    await execute(tool('publint'), ['--strict', tarball]);
    await execute(tool('attw'), [tarball, '--profile', 'node16']);
  });

  for (const [entry, most] of Object.entries(MOST_BYTES))
    it(`stays small in a browser: ${entry}`, async () => {
      const { outputFiles } = await build({
        entryPoints: [join(SDK, 'dist', entry)],
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'browser',
        write: false,
      });
      const bytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
      console.log(`      ${bytes} bytes, minified and gzipped`);
      expect(bytes).to.be.within(1000, most);
    });

  const packed = async () => (await execute('tar', ['tzf', tarball])).stdout.trim().split('\n');

  it('contains no tests and no tools of the repository', async () => {
    expect((await packed()).filter((file) => /test|fixture|tsbuildinfo|openapi-ts/.test(file))).to.deep.equal([]);
  });

  it('contains the files that its documents link to', async () => {
    const files = new Set(await packed());
    for (const document of ['README.md', 'RECORDINGS.md', 'CHANGELOG.md']) {
      const text = await readFile(join(SDK, document), 'utf8');
      for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        expect(files, `${document}: ${link}`).to.include(`package/${link}`);
    }
  });

  it('contains the source maps that its files name, and the sources that those name', async () => {
    const files = new Set(await packed());
    let maps = 0;
    for (const file of files) {
      const text = /\.(js|d\.ts)$/.test(file) ? await readFile(installed(file), 'utf8') : '';
      const [, name] = /^\/\/# sourceMappingURL=(\S+)$/m.exec(text) ?? [];
      if (name === undefined) continue;
      const map = join(dirname(file), name);
      expect(files).to.include(map);
      const { sources } = JSON.parse(await readFile(installed(map), 'utf8')) as { sources: string[] };
      for (const source of sources) expect(files, map).to.include(join(dirname(map), source));
      maps++;
    }
    expect(maps).to.be.greaterThan(100);
  });

  it('names its repository, issue tracker and homepage', async () => {
    const manifest = JSON.parse(await readFile(installed('package/package.json'), 'utf8'));
    expect(manifest).to.include.all.keys('repository', 'homepage', 'bugs', 'keywords');
    expect(manifest.repository.directory).to.equal('sdk');
  });
});
