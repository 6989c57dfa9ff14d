import { busyLimit } from '@device-insights/fanout/platform/busy.fixture';
import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { Line } from '@device-insights/gateway/test-line';
import { startTestMongo, type TestMongo } from '@device-insights/gateway/test-mongo';
import type { SocketConstructor } from '@device-insights/sdk';
import { expect } from 'chai';
import WebSocket from 'ws';
import { App, type Insight, identity } from './app.js';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { KEY, Running } from './running.js';
import type { ServerProcess } from './server-process.js';
import { RawSocket } from './socket.js';
import { missingOf, Stream } from './stream.js';

/** A WebSocket that connects to the currently correct place, whatever address it is given. */
function following(place: () => ServerProcess): SocketConstructor {
  const Following = class extends WebSocket {
    constructor(address: string) {
      const { pathname, search } = new URL(address);
      super(`${place().wsUrl}${pathname}${search}`);
    }
  };
  return Following as unknown as SocketConstructor; // Its events carry more than the browser's.
}

describe('SIGTERM', () => {
  let mongo: TestMongo;
  let redis: TestRedis;
  let running: ServerProcess[] = [];
  let apps: App[] = [];
  let streams: Stream[] = [];

  before(async function () {
    this.timeout(600_000); // The first run may have to install the servers.
    [mongo, redis] = await Promise.all([startTestMongo(), startRedis()]);
  });
  after(async () => {
    await redis?.stop();
    await mongo?.stop();
  });
  afterEach(async () => {
    for (const stream of streams) stream.abandon();
    for (const app of apps) app.close();
    await Promise.all(running.map((server) => server.end('SIGKILL')));
    [running, apps, streams] = [[], [], []];
  });

  const keep = <T extends ServerProcess>(server: T): T => {
    running.push(server);
    return server;
  };
  const startGateway = async (env: Record<string, string> = {}) =>
    keep(await Running.start({ MONGODB_URI: mongo.uri('drain'), REDIS_URL: redis.url, METRICS_PORT: '0', ...env }));
  const startNode = async (env: Record<string, string> = {}) =>
    keep(await startFanoutNode({ REDIS_URL: redis.url, ...env }));
  const follow = async (place: ServerProcess) => {
    const app = new App([place]);
    apps.push(app);
    await eventually('the app is subscribed', () => app.current !== null);
    return app;
  };

  it('hands a streaming device on to another gateway: no insight is lost or doubled', async () => {
    const [one, two, node] = [await startGateway(), await startGateway(), await startNode()];
    let place = one;
    const app = await follow(node);
    const stream = await Stream.start(one, { WebSocket: following(() => place) });
    streams.push(stream);
    await eventually('insights flow', () => app.insights.length >= 30);
    place = two;
    expect(await one.end('SIGTERM')).to.equal(0);
    const before = app.insights.length;
    await eventually('insights flow again', () => app.insights.length >= before + 30);
    const stored = await stream.end(two);
    await eventually('the last ones have come', () => app.insights.length >= stored.length);
    expect(app.insights.map(identity)).to.have.members(stored.map(identity));
    expect(app.codes).to.deep.equal([]);
    expect(missingOf(stored)).to.deep.equal([]);
  });

  /** Close code of a new socket; `refused` if there is no connection. */
  const closeOf = (place: ServerProcess, path: string) =>
    new RawSocket(`${place.wsUrl}${path}api_key=${KEY}`).closed().then(
      ({ code }) => code,
      () => 'refused',
    );

  /** Common behaviour of all servers with subscribers: `end` resolves with the exit code. */
  const drained = async (place: ServerProcess, newSockets: Readonly<Record<string, number | 'refused'>>) => {
    const three = [await follow(place), await follow(place), await follow(place)];
    const begun = Date.now();
    const end = place.end('SIGTERM');
    await eventually('the first is told', () => three.some((app) => app.codes.includes(1012)));
    expect(await place.healthz()).to.equal(503);
    for (const [path, code] of Object.entries(newSockets)) expect(await closeOf(place, path), path).to.equal(code);
    const ends = () => three.map((app) => app.connections[0]?.closed);
    await eventually('all are told', () => ends().every((closed) => closed?.code === 1012));
    const times = ends().map((closed) => (closed?.at ?? 0) - begun);
    expect(Math.max(...times) - Math.min(...times), 'spread').to.be.greaterThan(600);
    for (const app of three) app.close();
    expect(await end).to.equal(0);
  };

  it('drains a fan-out node, which accepts no new sockets, and a gateway: false health, 1012 to new sockets and, spread, to the open ones, exit code 0', async () => {
    const slowly = { DRAIN_MS: '2000' };
    const [gateway, node] = [await startGateway(slowly), await startNode(slowly)];
    await drained(node, { '/stream/subscribe?': 'refused' });
    const ingest = '/stream/ingest?device_id=late&device_model_id=none&';
    const ending = drained(gateway, { [ingest]: 1012, '/stream/subscribe?': 1012 });
    await eventually(
      'the health says so',
      async () => (await gateway.health()).reason?.includes('shutting down') === true,
    );
    await ending;
  });

  it('leaves a gateway and a node in service for SHUTDOWN_DELAY_MS, with a false health and no connection reused', async () => {
    const delay = { SHUTDOWN_DELAY_MS: '3000' };
    const [gateway, node] = [await startGateway(delay), await startNode(delay)];
    const apps = [await follow(gateway), await follow(node)];
    const stream = await Stream.start(gateway);
    streams.push(stream);
    await eventually('insights flow', () => apps.every((app) => app.insights.length >= 3));
    const kept = async () => (await fetch(`${gateway.url}/v1/stream/health`)).headers.get('connection');
    expect(await kept()).to.equal('keep-alive');
    const begun = Date.now();
    const ending = Promise.all([gateway.end('SIGTERM'), node.end('SIGTERM')]);
    const unwell = async () => (await gateway.healthz()) === 503 && (await node.healthz()) === 503;
    await eventually('the health says so', unwell);
    expect(await kept()).to.equal('close');
    for (const server of [gateway, node]) server.signal('SIGTERM'); // As a supervisor may: it changes nothing.
    expect((await gateway.call('GET', '/v1/sessions')).status).to.equal(200);
    apps.push(await follow(gateway), await follow(node));
    const before = apps.map((app) => app.insights.length);
    await eventually('insights flow on', () => apps.every((app, n) => app.insights.length >= (before[n] ?? 0) + 3));
    expect(apps.flatMap((app) => app.codes)).to.deep.equal([]);
    for (const app of apps) await eventually('it is told to come back', () => app.codes[0] === 1012);
    expect(Date.now() - begun).to.be.at.least(3000);
    for (const app of apps) app.close();
    stream.abandon();
    expect(await ending).to.deep.equal([0, 0]);
  });

  const endWithout = async (what: string, lose: (redis: TestRedis) => Promise<void> | void) => {
    const own = await startRedis();
    try {
      const pair = await Promise.all([startGateway({ REDIS_URL: own.url }), startNode({ REDIS_URL: own.url })]);
      const app = await follow(pair[0]);
      const stream = await Stream.start(pair[0]);
      streams.push(stream);
      await eventually('insights flow', () => app.insights.length >= 3);
      await lose(own);
      const begun = Date.now();
      expect(await Promise.all(pair.map((server) => server.end('SIGTERM'))), what).to.deep.equal([0, 0]);
      expect(Date.now() - begun, what).to.be.lessThan(busyLimit(10_000));
    } finally {
      await own.stop();
    }
  };

  it('ends a gateway and a node whose Redis is gone, or answers nothing, with exit code 0 within 10 s', async () => {
    await Promise.all([endWithout('gone', (own) => own.kill()), endWithout('mute', (own) => own.freeze(true))]);
  });

  it('ends a gateway whose store is down with exit code 0 within 10 s, and logs the unstored insights', async () => {
    const line = await Line.to(mongo.uri('drain'));
    try {
      const gateway = await startGateway({ MONGODB_URI: line.uri });
      const app = await follow(gateway);
      const stream = await Stream.start(gateway);
      streams.push(stream);
      await eventually('insights flow', () => app.insights.length >= 3);
      line.cut();
      await eventually('insights wait for the store', async () => !(await gateway.health()).ingest);
      const begun = Date.now();
      expect(await gateway.end('SIGTERM')).to.equal(0);
      expect(Date.now() - begun).to.be.lessThan(busyLimit(10_000));
      expect(gateway.log).to.include('the remaining readings are dropped');
      const { body } = await (await startGateway()).call<Insight[]>('GET', `/v1/sessions/${stream.sessionId}/insights`);
      expect(body.map(identity)).to.include.members(app.insights.map(identity));
    } finally {
      await line.close();
    }
  });
});
