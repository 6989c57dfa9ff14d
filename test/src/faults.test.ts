import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { App, gapsOf, type Insight, identity } from './app.js';
import { BALLAST, Ballast } from './ballast.js';
import { eventually } from './eventually.js';
import { startFanoutNode } from './fanout-node.js';
import { Operator } from './operator.js';
import { Running, temporaryFolder } from './running.js';
import type { ServerProcess } from './server-process.js';
import { Stream } from './stream.js';

/** Time within which the service must have recovered, ms. */
const RECOVERY_MS = 5000;

/**
 * Conditions that must hold after every fault: all insights that an app received are in the store, once, of its own
 * account; and the insights that it missed lie between its connections, where every client knows that it must
 * reconcile.
 */
function expectHonest(app: App, stored: readonly Insight[]): void {
  const ids = app.insights.filter(({ type }) => type !== BALLAST).map(identity);
  const all = new Set(stored.map(identity));
  expect(
    ids.filter((id) => !all.has(id)),
    'shown and not stored',
  ).to.deep.equal([]);
  expect(new Set(ids).size, 'shown once').to.equal(ids.length);
  for (const connection of app.connections) expect(gapsOf(connection, stored), 'missed unnoticed').to.deep.equal([]);
}

describe('faults under a steady stream', () => {
  const folder = temporaryFolder();
  let redis: TestRedis;
  let witness: Redis;
  let gateway: Running;
  let nodes: ServerProcess[];
  let otherKey: string;
  let streams: Stream[];
  let apps: App[];

  const env = () => ({ DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' });

  before(async function () {
    this.timeout(300_000); // The first run may have to install the server.
    redis = await startRedis();
    witness = new Redis(redis.port, '127.0.0.1', { retryStrategy: () => 20 });
    witness.on('error', () => {});
    gateway = await Running.start(env());
    nodes = await Promise.all([startFanoutNode(env()), startFanoutNode(env())]);
    otherKey = (await new Operator(env()).issue('other')).key;
  });
  after(async () => {
    for (const server of [gateway, ...(nodes ?? [])]) await server?.end('SIGKILL');
    witness?.disconnect();
    await redis?.stop();
    folder.remove();
  });
  beforeEach(() => {
    streams = [];
    apps = [];
  });
  afterEach(() => {
    for (const each of streams) each.abandon();
    for (const each of apps) each.close();
  });

  const follow = async (places: readonly ServerProcess[], key?: string) => {
    const app = new App(places, key);
    apps.push(app);
    await eventually('the app is subscribed', () => app.current !== null);
    return app;
  };

  /** An app of each of two accounts at each place, and a device of each account that streams to them. */
  const flow = async (...routes: (readonly ServerProcess[])[]) => {
    const mine = await Promise.all(routes.map((places) => follow(places)));
    const others = await Promise.all(routes.map((places) => follow(places, otherKey)));
    const [stream, otherStream] = await Promise.all([Stream.start(gateway), Stream.start(gateway, { key: otherKey })]);
    streams.push(stream, otherStream);
    await eventually('insights flow', () => apps.every((app) => (app.current?.insights.length ?? 0) >= 3));
    return { mine, others, stream, otherStream };
  };

  /** Waits until an app has received more insights on a connection after its `n`-th. */
  const back = (app: App, n: number) =>
    eventually('insights flow again', () => app.connections.length > n && (app.current?.insights.length ?? 0) >= 3);

  /**
   * Ends the streams; apps that are still connected must have received everything, and no app anything of another
   * account.
   */
  const settle = async ({ mine, others, stream, otherStream }: Awaited<ReturnType<typeof flow>>) => {
    const [stored, otherStored] = await Promise.all([stream.end(), otherStream.end(gateway, otherKey)]);
    for (const [apps, all] of [
      [mine, stored],
      [others, otherStored],
    ] as const) {
      for (const app of apps) {
        await eventually(
          'the last insights have come',
          () => app.current !== null && gapsOf(app.current, all).length === 0,
        );
        expectHonest(app, all);
      }
    }
    return { stored, otherStored };
  };

  const lost = async () =>
    (await Promise.all([gateway, ...nodes].map((it) => it.metric('device_insights_bus_lost_total')))).reduce(
      (a, b) => a + b,
    );

  it('a fan-out node killed: its subscribers continue at another one, and nobody else is affected', async () => {
    const victim = await startFanoutNode(env());
    const [survivor] = nodes as [ServerProcess];
    const before = await lost();
    const flowing = await flow([victim, survivor], [survivor]);
    await victim.end('SIGKILL');
    const [moved, steady] = flowing.mine as [App, App];
    expect(await back(moved, 1)).to.be.lessThan(RECOVERY_MS);
    await settle(flowing);
    expect(moved.codes.filter((code) => code === 1006)).to.have.length(1);
    expect(steady.codes).to.deep.equal([]);
    expect(await lost()).to.equal(before);
  });

  it('connections to Redis killed: every loss is reported by 1012 and counted', async () => {
    const flowing = await flow([gateway], [...nodes]);
    const before = await lost();
    await witness.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await witness.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    for (const app of apps) expect(await back(app, 1)).to.be.lessThan(RECOVERY_MS);
    await settle(flowing);
    for (const app of apps) {
      expect(app.codes[0]).to.equal(1012);
      expect(app.codes.filter((code) => code !== 1012 && code !== 1013)).to.deep.equal([]);
    }
    expect((await lost()) - before).to.be.at.least(apps.length);
  });

  it('Redis killed and started again: insights are stored meanwhile, and the loss is reported and counted', async () => {
    const flowing = await flow([gateway], [...nodes]);
    const before = await lost();
    const stored = async () =>
      (await gateway.call<Insight[]>('GET', `/v1/sessions/${flowing.stream.sessionId}/insights`)).body.length;
    await redis.kill();
    try {
      for (const app of apps) await eventually('the app is told to come back', () => app.codes.includes(1012));
      await eventually('the health says so', async () => !(await gateway.health()).subscribe);
      const soFar = await stored();
      await eventually('insights are stored', async () => (await stored()) >= soFar + 5);
    } finally {
      await redis.restart();
    }
    const recovered = Date.now();
    for (const app of apps) await back(app, 1);
    expect(Date.now() - recovered).to.be.lessThan(RECOVERY_MS);
    const all = await settle(flowing);
    for (const app of flowing.mine) expect(app.insights.length).to.be.lessThan(all.stored.length);
    expect((await lost()) - before).to.be.at.least(apps.length);
    await eventually('the gateway is healthy', async () => (await gateway.health()).ok);
  });

  it('a subscriber that stops reading: it is closed, and delays nobody', async () => {
    const tight = await startFanoutNode({ ...env(), FANOUT_MAX_LAG_MS: '500' });
    const ballast = await Ballast.open(redis.url, await new Operator(env()).account('default'));
    try {
      const flowing = await flow([tight]);
      const stuck = await follow([tight]);
      stuck.stall();
      const evictions = () => tight.metric('device_insights_fanout_evictions_total');
      await eventually('it is let go', async () => (await ballast.publish()) && (await evictions()) === 1, 20_000);
      stuck.resume();
      await eventually('it is told', () => stuck.codes.length > 0);
      expect(stuck.codes[0]).to.be.oneOf([1013, 1006]);
      const [steady] = flowing.mine as [App];
      await eventually('the other has all of it', () => ballast.isWhole(steady));
      await settle(flowing);
      expect(steady.codes).to.deep.equal([]);
      expect(await evictions()).to.equal(1);
    } finally {
      await ballast.close();
      await tight.end('SIGKILL');
    }
  });
});
