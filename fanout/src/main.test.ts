import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { WebSocket } from 'ws';
import { createRedisBus, type RedisBus } from './bus/redis/redis.js';
import { startRedis, type TestRedis } from './bus/redis/redis-server.fixture.js';
import { TestClient } from './client.fixture.js';
import { holderWith } from './keys/holder.fixture.js';
import { KeyCopier } from './keys/key-copier.js';
import { silentLog } from './platform/log.fixture.js';
import { until } from './platform/until.fixture.js';
import { launchNode, startTestNode, type TestNode } from './process.fixture.js';

const KEY = `svc_${'a'.repeat(32)}`;
const HASH = createHash('sha256').update(KEY).digest('hex');

describe('stand-alone node', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let bus: RedisBus;
  let copier: KeyCopier;
  let nodes: TestNode[];
  let clients: TestClient[];

  before(async () => {
    redis = await startRedis();
  });

  after(async () => {
    await redis.stop();
  });

  beforeEach(async () => {
    const cleaner = new Redis(redis.port, '127.0.0.1');
    await cleaner.flushall();
    cleaner.disconnect();
    nodes = [];
    clients = [];
    bus = await createRedisBus({ url: redis.url, log: silentLog });
    const source = { all: async () => new Map([[HASH, holderWith('one')]]), holder: async () => null };
    copier = new KeyCopier({ url: redis.url, source, log: silentLog });
    await copier.start();
  });

  afterEach(async () => {
    for (const { ws } of clients) ws.terminate();
    for (const { child } of nodes) child.kill('SIGKILL');
    copier.close();
    await bus.close();
  });

  async function startNode(): Promise<TestNode> {
    const node = await startTestNode({ REDIS_URL: redis.url });
    nodes.push(node);
    return node;
  }

  async function subscribe(node: TestNode): Promise<TestClient> {
    const client = connect(node);
    await client.count(1);
    return client;
  }

  function connect(node: TestNode): TestClient {
    const client = new TestClient(`${node.url}?api_key=${KEY}`);
    clients.push(client);
    return client;
  }

  async function health({ operations }: TestNode): Promise<number> {
    return (await fetch(`${operations}/healthz`)).status;
  }

  it('delivers the messages of a gateway, and counts them', async () => {
    const node = await startNode();
    const pair = [await subscribe(node), await subscribe(node)];
    await bus.publish('one', [{ text: '{"type":"hr"}', user: 'anna' }]);
    for (const client of pair) {
      await client.count(2);
      expect(client.texts).to.deep.equal(['{"status":"subscribed"}', '{"type":"hr"}']);
    }
    const metrics = await (await fetch(`${node.operations}/metrics`)).text();
    expect(metrics).to.include('\ndevice_insights_fanout_connections 2\n');
    expect(metrics).to.include('\ndevice_insights_fanout_connected_total 2\n');
    expect(metrics).to.include('\ndevice_insights_fanout_deliveries_total{outcome="delivered"} 2\n');
    expect(metrics).to.include('\ndevice_insights_bus_lost_total 0\n');
    expect(await health(node)).to.equal(200);
  });

  it('logs to stderr and writes nothing to stdout', async () => {
    const { child } = await startNode();
    let printed = '';
    child.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
    expect(printed).to.equal('');
  });

  it('refuses with 1013 and is unhealthy while Redis is away, and serves once it is back', async () => {
    await redis.kill();
    const node = await startNode();
    expect(await health(node)).to.equal(503);
    expect(await connect(node).closed).to.include({ code: 1013 });
    await redis.restart();
    await until(async () => (await health(node)) === 200);
    const client = await subscribe(node);
    expect(client.texts).to.deep.equal(['{"status":"subscribed"}']);
  });

  it('answers a request of its path with 426, and any other path with 404', async () => {
    const node = await startNode();
    const answer = await fetch(`${node.url.replace('ws:', 'http:')}?api_key=${KEY}`);
    expect(answer.status).to.equal(426);
    expect(answer.headers.get('upgrade')).to.equal('websocket');
    expect(await answer.json()).to.have.all.keys('detail');
    for (const path of ['ingest', 'subscribe/', 'Subscribe', '%73ubscribe', '/subscribe']) {
      const ws = new WebSocket(node.url.replace('subscribe', path));
      const [error] = await once(ws, 'error');
      expect(String(error), path).to.include('404');
      const other = await fetch(node.url.replace('ws:', 'http:').replace('subscribe', path));
      expect(other.status, path).to.equal(404);
      expect(await other.json(), path).to.have.all.keys('detail');
    }
  });

  /** What a program that ends by itself printed, and its exit code. */
  async function ended(child: ChildProcess): Promise<{ code: number; out: string; error: string }> {
    const texts = [child.stdout, child.stderr].map((stream) => text(stream as NodeJS.ReadableStream));
    const [[code], out = '', error = ''] = await Promise.all([once(child, 'close'), ...texts]);
    return { code, out, error };
  }

  it('refuses a bad configuration with one line for each fault, and exit code 1', async () => {
    const { code, error } = await ended(launchNode({ PORT: 'x' }));
    expect(code).to.equal(1);
    expect(error.trim().split('\n').length).to.equal(2);
  });

  it('prints its variables with their defaults for --help, and refuses an option that it does not have', async () => {
    const help = await ended(launchNode({}, '--help'));
    expect(help).to.deep.include({ code: 0, error: '' });
    expect(help.out)
      .to.match(/^ {2}REDIS_URL +address of Redis/m)
      .and.to.match(/^ {2}DRAIN_MS +.*\[3000\]$/m);
    const { code, error } = await ended(launchNode({ REDIS_URL: redis.url }, '--hlep'));
    expect(code).to.equal(1);
    expect(error).to.equal('there is no option --hlep; see --help\n');
  });
});
