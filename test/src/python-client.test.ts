import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { CLOSE } from '@device-insights/contract/close-codes';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { expect } from 'chai';
import { startFanoutNode } from './fanout-node.js';
import { Operator } from './operator.js';
import { generateTypes, pythonTools, TYPES } from './python-types.js';
import { ReverseProxy } from './reverse-proxy.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { fileOf, type ServerProcess } from './server-process.js';

const CLIENT = fileOf('sdk/clients/python');
const execute = promisify(execFile);

describe('the Python client', function () {
  this.timeout(400_000); // The first run installs packages of PyPI.
  const folder = temporaryFolder();
  const site = join(folder.path, 'site');
  let tools = '';
  let redis: TestRedis;
  let gateway: Running;
  let node: ServerProcess;
  let proxy: ReverseProxy;

  before(async () => {
    tools = await pythonTools();
    await tool('hatchling', ['build', '--target', 'wheel', '--directory', folder.path]);
    const [wheel = ''] = (await readdir(folder.path)).filter((name) => name.endsWith('.whl'));
    const install = ['install', '--quiet', '--no-deps', '--no-index', '--target', site, join(folder.path, wheel)];
    await execute('python3', ['-m', 'pip', ...install]);
  });
  after(() => folder.remove());

  /** Runs a program beside the installed client, in the folder of its source; rejects with its output. */
  async function tool(
    program: string,
    args: readonly string[],
    settings: Record<string, string> = {},
  ): Promise<string> {
    const { PATH = '', HOME = '' } = process.env;
    const python = { PYTHONPATH: site, PYTHONPYCACHEPREFIX: join(folder.path, 'pycache'), RUFF_NO_CACHE: 'true' };
    const env = { PATH, HOME, ...python, MYPYPATH: site, MYPY_CACHE_DIR: join(tools, '../mypy'), ...settings };
    const { stdout, stderr } = await execute(join(tools, program), args, { cwd: CLIENT, env }).catch(
      (error: { stdout: string; stderr: string }) => {
        throw new Error(`${program} ${args.join(' ')}:\n${error.stdout}${error.stderr}`);
      },
    );
    return stdout + stderr;
  }

  it('has types that equal the output of the generator for the current documents (npm run generate -w test)', async () => {
    expect(await readFile(TYPES, 'utf8')).to.equal(await generateTypes());
  });

  it('passes mypy --strict, with its suite, as a package with types', async () => {
    await tool('mypy', ['-p', 'device_insights']);
    await tool('mypy', ['tests']);
  });

  it('passes ruff', async () => {
    await tool('ruff', ['check', '.']);
    await tool('ruff', ['format', '--check', '.']);
  });

  it('reconnects after the close codes after which the contract says so', async () => {
    const codes = Object.values(CLOSE).map(({ code }) => code);
    const program = `from device_insights import may_reconnect; print([c for c in ${JSON.stringify(codes)} if may_reconnect(c)])`;
    const expected = Object.values(CLOSE).flatMap(({ code, reconnect }) => (reconnect ? [code] : []));
    expect(JSON.parse(await tool('python', ['-c', program]))).to.deep.equal(expected);
  });

  describe('against the service', () => {
    const env = () => ({ DATA_DIR: join(folder.path, 'data'), REDIS_URL: redis.url });
    /** What the suite asks for, by path; the body of the request is the argument. */
    const commands: Readonly<Record<string, (argument: string) => Promise<unknown>>> = {
      '/crash-gateway': async () => {
        await gateway.end('SIGKILL');
        gateway = await Running.start(env());
        proxy.gateway = gateway.url;
      },
      '/crash-node': async () => {
        await node.end('SIGKILL');
        node = await startFanoutNode(env());
        proxy.node = node.url;
      },
      '/issue-key': () => new Operator(env()).issue('default'),
      '/revoke-key': (id) => new Operator(env()).revoke(id),
    };
    const controls = createServer((request, response) => {
      const command = commands[request.url ?? ''];
      if (!command) return response.writeHead(404).end('<html>');
      return void text(request)
        .then(command)
        .then((answer) => response.end(JSON.stringify(answer ?? null)))
        .catch((error: Error) => response.writeHead(500).end(error.message));
    });

    before(async () => {
      redis = await startRedis();
      gateway = await Running.start(env());
      node = await startFanoutNode(env());
      proxy = await ReverseProxy.open(gateway.url, node.url);
      await new Promise<void>((resolve) => controls.listen(0, '127.0.0.1', resolve));
    });
    after(async () => {
      controls.close();
      proxy?.close();
      await Promise.all([gateway?.end('SIGKILL'), node?.end('SIGKILL')]);
      await redis?.stop();
    });

    it('passes its suite', async () => {
      const control = `http://127.0.0.1:${portOf(controls)}`;
      const settings = { URL: proxy.url, KEY, CONTROL: control, VECTORS: fileOf('sdk/examples/frame-vectors.json') };
      const said = await tool('python', ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests', '-v'], settings);
      expect(said).to.match(/\nOK\n$/);
      console.log(`      ${/^Ran .*/m.exec(said)?.[0]}`);
    });
  });
});
