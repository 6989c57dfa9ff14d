import { busyLimit } from '@device-insights/fanout/platform/busy.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { runAdmin } from '@device-insights/gateway/test-admin';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { App, type Insight, identity } from './app.js';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { Operator } from './operator.js';
import { Running, temporaryFolder } from './running.js';
import type { ServerProcess } from './server-process.js';
import { RawSocket } from './socket.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

const source = simulate({ seconds: 20 });
const UNKNOWN_KEY = `svc_${'z'.repeat(30)}`;

describe('a gateway and two fan-out nodes over Redis', () => {
  const folder = temporaryFolder();
  const operator = new Operator({ DATA_DIR: folder.path });
  let redis: TestRedis;
  let env: Record<string, string>;
  let gateway: Running;
  let nodes: ServerProcess[];
  let modelId: string;
  /** Every place where an app can subscribe. */
  let places: ServerProcess[];

  before(async function () {
    this.timeout(300_000); // The first run may have to install the server.
    redis = await startRedis();
    env = { DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' };
    gateway = await Running.start(env);
    nodes = await Promise.all([startFanoutNode(env), startFanoutNode(env)]);
    places = [gateway, ...nodes];
    modelId = await makeModel(gateway, source);
  });
  after(async () => {
    for (const server of places ?? []) await server.end('SIGKILL');
    await redis?.stop();
    folder.remove();
  });

  const closing = (place: ServerProcess, key: string) =>
    new RawSocket(`${place.wsUrl}/stream/subscribe?api_key=${key}`).closed();

  it('bring live insights to the subscribers of every node', async () => {
    const apps = places.map((place) => new App([place]));
    await eventually('all are subscribed', () => apps.every((app) => app.current));
    const { socket, ready } = await connect(gateway, 'far-1', modelId);
    await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
    socket.send({ type: 'end' });
    await socket.until((m) => m.type === 'ended');
    const { body: stored } = await gateway.call<Insight[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
    expect(stored.length).to.be.greaterThan(30);
    for (const app of apps) {
      await eventually('all insights have come', () => app.insights.length >= stored.length);
      expect(app.insights.map(identity)).to.have.members(stored.map(identity));
      app.close();
    }
  });

  it('count their deliveries, and are healthy', async () => {
    for (const node of nodes) {
      expect(await node.metric('device_insights_fanout_deliveries_total{outcome="delivered"}')).to.be.greaterThan(30);
      expect(await node.metric('device_insights_bus_lost_total')).to.equal(0);
      expect(await node.fault()).to.equal('');
    }
    expect(await gateway.metric('device_insights_bus_publish_seconds_count{outcome="taken"}')).to.be.greaterThan(0);
    expect(await gateway.fault()).to.equal('');
    expect(await gateway.health()).to.deep.equal({ ok: true, ingest: true, subscribe: true });
  });

  it('accept a key as soon as it is issued, and close its sockets everywhere within 2 s of its revocation', async () => {
    const { id, key } = await operator.issue('default');
    const apps = await Promise.all(places.map((place) => subscribe(place, key)));
    const { socket } = await connect(gateway, 'far-2', modelId, key);
    const revokedAt = await operator.revoke(id);
    for (const open of [...apps, socket]) {
      const { code, at } = await open.closed();
      expect(code).to.equal(4001);
      expect(at - revokedAt).to.be.lessThan(busyLimit(2000));
    }
    for (const place of places) expect(await closing(place, key)).to.include({ code: 4001 });
  });

  it('close the sockets of a key everywhere within 2 s of its expiry, also while no gateway is alive', async () => {
    const { key, expiresAt } = await operator.issueExpiring('default');
    const apps = await Promise.all(places.map((place) => subscribe(place, key)));
    const { socket } = await connect(gateway, 'far-3', modelId, key);
    const [first, ...others] = apps;
    const expectClosed = async (open: RawSocket) => {
      const { code, at } = await open.closed();
      expect(code).to.equal(4001);
      expect(at - expiresAt).to.be.within(0, busyLimit(2000));
    };
    for (const open of [first, socket]) await expectClosed(open as RawSocket);
    process.kill(gateway.pid, 'SIGSTOP');
    try {
      for (const open of others) await expectClosed(open);
    } finally {
      process.kill(gateway.pid, 'SIGCONT');
    }
    for (const place of places) expect(await closing(place, key)).to.include({ code: 4001 });
    expect((await gateway.call('GET', '/v1/algos', undefined, key)).status).to.equal(401);
  });

  it('never refuse a valid key with 4001 after Redis was emptied, and never accept a bad one', async () => {
    const { id, key: bad } = await operator.issue('default');
    await operator.revoke(id);
    const admin = new Redis(redis.port, '127.0.0.1');
    await admin.flushall();
    admin.disconnect();
    const apps = nodes.flatMap((node) => [new App([node]), new App([node]), new App([node])]);
    for (const key of [bad, UNKNOWN_KEY]) {
      for (const node of nodes) expect((await closing(node, key)).code).to.be.oneOf([4001, 1013]);
    }
    await eventually('all are subscribed', () => apps.every((app) => app.current));
    for (const app of apps) {
      expect(app.codes.filter((code) => code !== 1013)).to.deep.equal([]);
      app.close();
    }
    for (const node of nodes) await eventually('the keys are copied again', async () => (await node.healthz()) === 200);
    for (const key of [bad, UNKNOWN_KEY])
      for (const node of nodes) expect(await closing(node, key)).to.include({ code: 4001 });
  });

  it('answer 1013 while Redis is empty and no gateway can check keys, and serve when one can', async () => {
    const [node] = nodes as [ServerProcess];
    const admin = new Redis(redis.port, '127.0.0.1');
    process.kill(gateway.pid, 'SIGSTOP');
    try {
      await admin.flushall();
      await eventually('its health is false', async () => (await node.healthz()) === 503);
      const app = new App([node]);
      await eventually('a good key is refused for now', () => app.codes.length > 0);
      expect(app.codes).to.deep.equal([1013]);
      process.kill(gateway.pid, 'SIGCONT');
      await eventually('it is taken', () => app.current !== null);
      expect(app.codes.filter((code) => code !== 1013)).to.deep.equal([]);
      app.close();
      await eventually('the node is healthy', async () => (await node.healthz()) === 200);
    } finally {
      process.kill(gateway.pid, 'SIGCONT');
      admin.disconnect();
    }
  });

  it('close the sockets of keys that were revoked or erased while no gateway was running, when one is', async () => {
    const [ben, anna] = [await operator.issue('default'), await operator.issue('default', '--user', 'anna')];
    const keys = [ben.key, anna.key];
    const apps = await Promise.all(nodes.flatMap((node) => keys.map((key) => subscribe(node, key))));
    await gateway.end('SIGTERM');
    await operator.revoke(ben.id);
    const words = ['user', 'erase', '--account', await operator.account('default'), '--user', 'anna'];
    await runAdmin({ DATA_DIR: folder.path }, words);
    gateway = await Running.start(env);
    places = [gateway, ...nodes];
    for (const app of apps) expect(await app.closed()).to.include({ code: 4001 });
    for (const place of places) for (const key of keys) expect(await closing(place, key)).to.include({ code: 4001 });
  });
});

describe('the health of a gateway', () => {
  const folder = temporaryFolder();
  let running: ServerProcess[] = [];
  let redis: TestRedis;

  before(async () => {
    redis = await startRedis();
  });
  after(async () => {
    await redis?.stop();
    folder.remove();
  });
  afterEach(async () => {
    for (const server of running) await server.end('SIGKILL');
    running = [];
  });

  const start = async (env: Record<string, string>) => {
    const gateway = await Running.start({ DATA_DIR: folder.path, METRICS_PORT: '0', ...env });
    running.push(gateway);
    return gateway;
  };

  it('without sockets of its own is true only while a fan-out node is alive', async () => {
    const gateway = await start({ REDIS_URL: redis.url, FANOUT_MOUNTED: 'false' });
    expect(await gateway.health()).to.deep.equal({
      ok: false,
      ingest: true,
      subscribe: false,
      reason: 'subscribe: no fan-out node is alive',
    });
    expect(await gateway.healthz()).to.equal(503);
    const node = await startFanoutNode({ REDIS_URL: redis.url });
    running.push(node);
    await eventually('the node is heard of', async () => (await gateway.health()).ok);
    expect(await gateway.fault()).to.equal('');
    await node.end('SIGKILL');
    const took = await eventually('its silence is noticed', async () => !(await gateway.health()).ok);
    expect(took).to.be.lessThan(busyLimit(5000));
  });

  it('leaves the gateway ready and alive while Redis is down, as ingest and REST work; a fan-out node is not ready', async () => {
    const own = await startRedis();
    const gateway = await start({ REDIS_URL: own.url });
    const node = await startFanoutNode({ REDIS_URL: own.url });
    running.push(node);
    const both = async (what: 'healthz' | 'readyz' | 'livez') => [await gateway.check(what), await node.check(what)];
    const works = (place: ServerProcess, part: string) => place.metric(`device_insights_part_works{part="${part}"}`);
    await eventually('both are well', async () => (await both('healthz')).every((status) => status === 200));
    await own.stop();
    await eventually('both miss Redis', async () => (await both('healthz')).every((status) => status === 503));
    expect(await both('readyz')).to.deep.equal([200, 503]);
    expect(await both('livez')).to.deep.equal([200, 200]);
    for (const place of [gateway, node]) expect(await works(place, 'bus')).to.equal(0);
    expect(await works(gateway, 'store')).to.equal(1);
    expect((await gateway.call('GET', '/v1/sessions')).status).to.equal(200);
  });

  it('is true if two gateways share a store and a bus, each showing the insights of the other, and false while Redis refuses to store the keys', async () => {
    const [one, two] = [await start({ REDIS_URL: redis.url }), await start({ REDIS_URL: redis.url })];
    const app = await subscribe(two);
    const { socket, ready } = await connect(one, 'shared', await makeModel(two, source));
    await sendFrames(socket, source, Date.now() - 20_000, 0, 8);
    expect(await app.next()).to.include({ session_id: ready.session_id });
    for (const gateway of [one, two]) {
      expect((await gateway.health()).ok).to.equal(true);
      expect(gateway.log).not.to.include('set REDIS_URL');
    }
    const admin = new Redis(redis.port, '127.0.0.1');
    try {
      await admin.config('SET', 'min-replicas-to-write', '1');
      await eventually('it is noticed', async () => !(await one.health()).ok);
      expect(await one.health()).to.include({ ingest: true, subscribe: false });
      expect((await one.health()).reason).to.include('the keys cannot be written to Redis');
      await eventually('the log says why', () => one.log.includes('NOREPLICAS'));
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
      admin.disconnect();
    }
    await eventually('it is noticed', async () => (await one.health()).ok);
  });
});
