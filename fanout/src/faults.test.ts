import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { WebSocket } from 'ws';
import { createRedisBus, type RedisBus } from './bus/redis/redis.js';
import { startRedis, type TestRedis } from './bus/redis/redis-server.fixture.js';
import { holderWith } from './keys/holder.fixture.js';
import { KeyCopier } from './keys/key-copier.js';
import { silentLog } from './platform/log.fixture.js';
import { startTestNode, type TestNode } from './process.fixture.js';

const KEY = `svc_${'a'.repeat(32)}`;
const OTHER_KEY = `svc_${'b'.repeat(32)}`;
const hash = (key: string) => createHash('sha256').update(key).digest('hex');
const RECOVERY_MS = 5000;

/** One connection of the app: how much the store held when it was told `subscribed`, and what it got live. */
interface Visit {
  readonly reconciled: number;
  readonly live: number[];
}

/** An app that follows the specification: reconnects after every close, and reads the store once it is subscribed again. */
class App {
  readonly visits: Visit[] = [];
  readonly codes: number[] = [];
  #turn = 0;
  #stopped = false;
  #ws: WebSocket | undefined;

  constructor(
    private readonly nodes: readonly TestNode[],
    private readonly key: string,
    private readonly stored: readonly number[],
  ) {
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    this.#ws?.terminate();
  }

  get current(): Visit | undefined {
    return this.visits.at(-1);
  }

  #connect(): void {
    if (this.#stopped) return;
    const node = this.nodes[this.#turn++ % this.nodes.length];
    const ws = new WebSocket(`${node?.url}?api_key=${this.key}`);
    this.#ws = ws;
    ws.on('message', (data) => this.#take(String(data)));
    ws.on('error', () => undefined);
    ws.on('close', (code) => {
      this.codes.push(code);
      setTimeout(() => this.#connect(), 20);
    });
  }

  #take(text: string): void {
    if (text === '{"status":"subscribed"}') this.visits.push({ reconciled: this.stored.length, live: [] });
    else this.current?.live.push(JSON.parse(text).number);
  }
}

describe('a steady stream under faults', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let witness: Redis;
  let bus: RedisBus;
  let copier: KeyCopier;
  let nodes: TestNode[];
  let app: App;
  let stranger: App;
  /** What the gateway has stored, in order: each before it is published. */
  let stored: number[];
  let streaming: boolean;
  let stream: Promise<void>;

  beforeEach(async () => {
    redis = await startRedis();
    witness = new Redis(redis.port, '127.0.0.1', { retryStrategy: () => 20 });
    witness.on('error', () => undefined);
    bus = await createRedisBus({ url: redis.url, log: silentLog });
    const good = new Map([
      [hash(KEY), holderWith('one')],
      [hash(OTHER_KEY), holderWith('two')],
    ]);
    const source = {
      all: async () => good,
      holder: async (it: string) => good.get(it) ?? null,
    };
    copier = new KeyCopier({ url: redis.url, log: silentLog, source });
    await copier.start();
    nodes = await Promise.all([startTestNode({ REDIS_URL: redis.url }), startTestNode({ REDIS_URL: redis.url })]);
    stored = [];
    app = new App(nodes, KEY, stored);
    stranger = new App(nodes, OTHER_KEY, stored);
    streaming = true;
    stream = publishSteadily();
    await within(RECOVERY_MS, () => (app.current?.live.length ?? 0) > 20);
  });

  afterEach(async () => {
    streaming = false;
    await stream;
    app.stop();
    stranger.stop();
    for (const { child } of nodes) child.kill('SIGKILL');
    copier.close();
    await bus.close();
    witness.disconnect();
    await redis.stop();
  });

  async function publishSteadily(): Promise<void> {
    while (streaming) {
      const number = stored.push(stored.length) - 1;
      await bus.publish('one', [{ text: JSON.stringify({ number }), user: null }]).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async function within(ms: number, condition: () => boolean): Promise<void> {
    const end = Date.now() + ms;
    while (!condition()) {
      if (Date.now() > end) throw new Error(`not within ${ms} ms; closes so far: ${app.codes}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** A visit later than those so far, with live messages. */
  async function recovered(visitsBefore: number): Promise<void> {
    await within(RECOVERY_MS, () => app.visits.length > visitsBefore && (app.current?.live.length ?? 0) > 20);
  }

  /** Each visit is without a gap from what the app read in the store; the last reaches the end; so nothing was lost unseen. */
  async function nothingLostUnseen(): Promise<void> {
    streaming = false;
    await stream;
    const last = stored.length - 1;
    await within(RECOVERY_MS, () => app.current?.live.at(-1) === last || app.current?.reconciled === stored.length);
    for (const { live, reconciled } of app.visits) {
      const [first = reconciled] = live;
      expect(first).to.be.at.most(reconciled);
      expect(live).to.deep.equal(live.map((_, index) => first + index));
    }
    expect(stranger.visits.flatMap((visit) => visit.live)).to.deep.equal([]);
  }

  async function lost(): Promise<number> {
    const pages = await Promise.all(nodes.map(async ({ operations }) => (await fetch(`${operations}/metrics`)).text()));
    return pages.reduce((sum, page) => sum + Number(/^device_insights_bus_lost_total (\d+)$/m.exec(page)?.[1]), 0);
  }

  it('survives the loss of a node: the app reconnects to another one', async () => {
    const visits = app.visits.length;
    nodes[0]?.child.kill('SIGKILL');
    await recovered(visits);
    await nothingLostUnseen();
  });

  it("survives the loss of the nodes' connections to Redis, counts it, and tells the apps with 1012", async () => {
    const visits = app.visits.length;
    await witness.client('KILL', 'TYPE', 'PUBSUB');
    await recovered(visits);
    expect(app.codes).to.include(1012);
    expect(await lost()).to.be.at.least(1);
    await nothingLostUnseen();
  });

  it("survives the loss of the gateway's connections to Redis", async () => {
    await witness.call('CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'YES');
    const before = stored.length;
    await within(RECOVERY_MS, () => (app.current?.live.at(-1) ?? 0) > before + 20);
    await nothingLostUnseen();
  });

  it('survives a kill -9 of Redis', async () => {
    const visits = app.visits.length;
    await redis.kill();
    await within(RECOVERY_MS, () => app.codes.length > 0);
    await redis.restart();
    await recovered(visits);
    expect(await lost()).to.be.at.least(1);
    await nothingLostUnseen();
  });

  it('survives the death of a gateway: its silence is reported as a loss', async () => {
    const visits = app.visits.length;
    const text = '1 dead-gateway 1 - [2]\n{}';
    await witness.spublish('di:live:two', text);
    await within(RECOVERY_MS, () => stranger.current?.live.length === 1);
    stranger.current?.live.splice(0);
    await within(RECOVERY_MS, () => stranger.codes.includes(1012));
    expect(app.visits.length).to.equal(visits);
    await nothingLostUnseen();
  });
});
