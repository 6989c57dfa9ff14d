import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import { JSDOM } from 'jsdom';
import { loadConfig, mergeConfig, runBuild } from 'metro';
import { CHANNELS, ready } from './device/ready.fixture.js';
import { inReactNative } from './runtimes.fixture.js';
import { SocketServer } from './socket/socket-server.fixture.js';

const SDK = fileURLToPath(new URL('..', import.meta.url));
const METRO = createRequire(createRequire(import.meta.url).resolve('metro'));
const RUNTIME = dirname(METRO.resolve('metro-runtime/package.json'));
const READY = ready({ channels: CHANNELS.slice(0, 1) });
const INSIGHT = {
  type: 'hr',
  value: 72,
  unit: 'bpm',
  ts: 1,
  session_id: 's1',
  device_id: 'band-1',
  confidence: 1,
  sqi_class: 'excellent',
};

/** Uses all parts of the client: creates and lists over REST, pages, aborts, subscribes and streams. */
const PROGRAM = `
import { DeviceInsights } from '@device-insights/sdk';

globalThis.run = async (baseUrl, options) => {
  const client = new DeviceInsights({ baseUrl, apiKey: 'svc_key', ...options });
  const { id } = await client.deviceModels.create({ name: 'Band' });
  const types = [];
  for await (const { type } of client.insights.list({ since: 0 })) types.push(type);
  const abort = new AbortController();
  abort.abort();
  const aborted = await client.algos.list({ signal: abort.signal }).catch((error) => error.name);
  const live = client.live.subscribe();
  const { value } = (await live[Symbol.asyncIterator]().next()).value;
  live.close();
  const device = client.device({ deviceId: 'band-1', deviceModelId: id });
  device.push('ppg', [1, 2, 3], Date.now());
  await device.end();
  return JSON.stringify({ id, types, aborted, value, sent: device.counters.framesSent });
};
`;
const RESULT = { id: 'm1', types: ['hr', 'rr'], aborted: 'AbortError', value: 72, sent: 1 };

describe('the SDK runs', function () {
  this.timeout(120_000);
  let server: SocketServer;
  let keys: unknown[];
  let project = '';

  before(async () => {
    project = await realpath(await mkdtemp(join(tmpdir(), 'runtimes-')));
    await mkdir(join(project, 'node_modules/@device-insights'), { recursive: true });
    await symlink(SDK, join(project, 'node_modules/@device-insights/sdk'));
    await writeFile(join(project, 'app.js'), PROGRAM);
    await writeFile(join(project, 'package.json'), '{"private":true}');
  });
  after(() => rm(project, { recursive: true }));
  beforeEach(() => {
    server = new SocketServer();
    keys = [];
    server.respond = ({ method, url = '', headers }, response) => {
      keys.push(headers['idempotency-key']);
      const isFirst = url.includes('since=') && !url.includes('cursor=');
      response.setHeader('content-type', 'application/json');
      if (isFirst) response.setHeader('link', '</v1/insights?limit=1&cursor=a%3D>; rel="next"');
      const list = url.includes('since=') ? [{ type: isFirst ? 'hr' : 'rr' }] : [];
      response.end(JSON.stringify(method === 'POST' ? { id: 'm1' } : list));
    };
  });
  afterEach(() => server.close());

  /** Plays the service's part of the program's sockets. */
  async function serve(): Promise<void> {
    const subscriber = await server.peer();
    subscriber.send({ status: 'subscribed' });
    subscriber.send(INSIGHT);
    const device = await server.peer();
    device.send(READY);
    const [, end] = await device.messages(2);
    expect(end).to.equal('{"type":"end"}');
    device.send({ type: 'ended', session_id: 's1' });
    device.socket.close(1000);
  }

  async function result(run: unknown, options: object = {}): Promise<unknown> {
    const program = run as (baseUrl: string, options: object) => Promise<string>;
    const [text] = await Promise.all([program(await server.url(), options), serve()]);
    return JSON.parse(text);
  }

  it('in React Native, bundled by Metro, without crypto and with signals that have no reason', async () => {
    const config = mergeConfig(await loadConfig({ cwd: project }), {
      projectRoot: project,
      watchFolders: [project, SDK, RUNTIME],
      cacheStores: [],
      maxWorkers: 1,
      reporter: { update: () => {} },
      // As in React Native's own configuration; imports are transformed by its preset there.
      resolver: { useWatchman: false, unstable_conditionNames: ['react-native'] },
      transformer: {
        asyncRequireModulePath: join(RUNTIME, 'src/modules/asyncRequire.js'),
        getTransformOptions: async () => ({ transform: { experimentalImportSupport: true, inlineRequires: false } }),
      },
    });
    const out = join(project, 'bundle.js');
    await runBuild(config, { entry: 'app.js', out, platform: 'ios', minify: false, dev: false });
    const { run } = inReactNative(await readFile(out, 'utf8'));
    expect(await result(run)).to.deep.equal(RESULT);
    expect(keys[0]).to.match(/^[\d.e-]{20,}$/);
  });

  it('in jsdom, as in Jest, whose window has no Request, Response or fetch: with the fetch of a test', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(project, 'app.js')],
      bundle: true,
      format: 'iife',
      platform: 'browser',
      write: false,
    });
    const { window } = new JSDOM('', { runScripts: 'outside-only', url: await server.url() });
    expect([window.Request, window.Response, window.fetch]).to.deep.equal([undefined, undefined, undefined]);
    window.eval(outputFiles[0]?.text ?? '');
    const own: typeof fetch = async (url, init) => fetch(url, { ...init, signal: null });
    expect(await result(window.run, { fetch: own })).to.deep.equal(RESULT);
    window.close();
  });
});
