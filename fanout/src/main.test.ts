import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { WebSocket } from 'ws';
import type { RedisBus } from './bus/redis/redis.js';
import { createRedisBus } from './bus/redis/redis.js';
import { freePort, startRedis, type TestRedis } from './bus/redis/redis-server.fixture.js';
import { TestClient } from './client.fixture.js';
import { holderWith } from './keys/holder.fixture.js';
import type { KeyHolder } from './keys/key-check.js';
import { KeyCopier } from './keys/key-copier.js';
import { silentLog } from './platform/log.fixture.js';
import { until } from './platform/until.fixture.js';
import { launchNode, startTestNode, type TestNode } from './process.fixture.js';

const fixture = (name: string) => fileURLToPath(new URL(`../src/fixtures/${name}`, import.meta.url));
const KEY = `svc_${'a'.repeat(32)}`;
const HASH = createHash('sha256').update(KEY).digest('hex');
const HOLDER: KeyHolder = holderWith('one');

describe('stand-alone node', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let bus: RedisBus;
  let copier: KeyCopier;
  let good: Map<string, KeyHolder>;
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
    good = new Map([[HASH, HOLDER]]);
    bus = await createRedisBus({ url: redis.url, log: silentLog });
    const source = {
      all: async () => new Map([[HASH, good.get(HASH) ?? null]]),
      holder: async (hash: string) => good.get(hash) ?? null,
    };
    copier = new KeyCopier({ url: redis.url, source, log: silentLog });
    await copier.start();
  });

  afterEach(async () => {
    for (const { ws } of clients) ws.terminate();
    for (const { child } of nodes) child.kill('SIGKILL');
    copier.close();
    await bus.close();
  });

  async function startNode(env: NodeJS.ProcessEnv = {}): Promise<TestNode> {
    const node = await startTestNode({ REDIS_URL: redis.url, ...env });
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

  it('closes the open sockets of a revoked key with 4001, on every node', async () => {
    const [one, other] = [await startNode(), await startNode()];
    const pair = [await subscribe(one), await subscribe(other)];
    good.delete(HASH);
    await copier.revoke(HASH);
    for (const client of pair) expect(await client.closed).to.include({ code: 4001 });
    expect(await connect(one).closed).to.include({ code: 4001 });
  });

  it('is counted by the others while it is alive, and not after it has stopped', async () => {
    const node = await startNode();
    const alive = async (count: number) => {
      while (bus.nodesAlive !== count) await bus.probe(5000);
    };
    await alive(1);
    const ended = once(node.child, 'exit');
    node.child.kill('SIGTERM');
    await ended;
    await alive(0);
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    it(`drains on ${signal}: no new connections, everyone is closed with 1012, and it ends with exit code 0`, async () => {
      const node = await startNode({ DRAIN_MS: '500' });
      const open = [await subscribe(node), await subscribe(node), await subscribe(node)];
      const ended = once(node.child, 'exit');
      node.child.kill(signal);
      expect(await open[0]?.closed).to.include({ code: 1012 });
      expect(await health(node)).to.equal(503);
      expect(await connect(node).closed).to.include({ code: 1006 });
      for (const client of open) expect(await client.closed).to.include({ code: 1012 });
      expect((await ended)[0]).to.equal(0);
    });

  it('continues to drain when SIGTERM is repeated', async () => {
    const node = await startNode({ DRAIN_MS: '300', SHUTDOWN_DELAY_MS: '300' });
    const client = await subscribe(node);
    const ended = once(node.child, 'exit');
    node.child.kill('SIGTERM');
    await until(async () => (await health(node)) === 503);
    node.child.kill('SIGTERM');
    expect(await client.closed).to.include({ code: 1012 });
    expect((await ended)[0]).to.equal(0);
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

  it('reaches Redis over TLS and with a password', async () => {
    const [tlsPort, certificate, key] = [
      `${await freePort()}`,
      fixture('for-tests-only.crt'),
      fixture('for-tests-only.key'),
    ];
    const tls = [
      '--tls-port',
      tlsPort,
      '--tls-cert-file',
      certificate,
      '--tls-key-file',
      key,
      '--tls-auth-clients',
      'no',
    ];
    const secure = await startRedis([...tls, '--tls-ca-cert-file', certificate, '--requirepass', 's3cret']);
    const source = { all: async () => good, holder: async () => null };
    const url = secure.url.replace('//', '//:s3cret@');
    const secureCopier = new KeyCopier({ url, source, log: silentLog });
    await secureCopier.start();
    const secureBus = await createRedisBus({ url, log: silentLog });
    try {
      const node = await startNode({
        REDIS_URL: `rediss://:s3cret@127.0.0.1:${tlsPort}`,
        NODE_EXTRA_CA_CERTS: certificate,
      });
      const client = await subscribe(node);
      await secureBus.publish('one', [{ text: 'over TLS', user: null }]);
      await client.count(2);
      expect(client.texts[1]).to.equal('over TLS');
    } finally {
      secureCopier.close();
      await secureBus.close();
      await secure.stop();
    }
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
