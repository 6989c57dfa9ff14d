import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { heapInUse } from '../../heap.fixture.js';
import { CopiedKeys } from '../../keys/copied-keys.js';
import { holderWith } from '../../keys/holder.fixture.js';
import type { KeyHolder } from '../../keys/key-check.js';
import { KeyCopier, type KeySource } from '../../keys/key-copier.js';
import { KEY_CHANNEL, KEYS } from '../../keys/key-copy.js';
import { silentLog } from '../../platform/log.fixture.js';
import type { Log } from '../../platform/log.js';
import { LogLimit } from '../../platform/log-limit.js';
import { ManualClock } from '../../platform/manual-clock.fixture.js';
import { until } from '../../platform/until.fixture.js';
import { BusUnavailable } from '../bus.js';
import { Inbox } from '../inbox.fixture.js';
import { encodeEnvelope } from './envelope.js';
import { createRedisBus, type RedisBus } from './redis.js';
import { startRedis, type TestRedis } from './redis-server.fixture.js';
import { channelOf } from './upstream.js';

const FLOOD = 20_000;
const KEPT_BYTES = 5 * 1024 * 1024;
const ALL: KeyHolder = holderWith('one');
const hashOf = (name: string) => createHash('sha256').update(name).digest('hex');
const ask = (name: string) => JSON.stringify({ word: 'ask', hash: hashOf(name) });

/** A store that answers when it is told to. */
class SlowSource implements KeySource {
  readonly asked: string[] = [];
  #release: () => void = () => undefined;
  #released = Promise.resolve();

  hold(): void {
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  all = async () => new Map<string, KeyHolder>();

  async holder(hash: string): Promise<KeyHolder | null> {
    this.asked.push(hash);
    await this.#released;
    return null;
  }
}

describe('a flood on Redis', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  /** Whoever can reach Redis. */
  let stranger: Redis;
  let clock: ManualClock;
  let said: { fields: Record<string, unknown>; text: string }[];
  let log: Log;
  let ends: (() => void | Promise<void>)[];

  before(async () => {
    redis = await startRedis();
    stranger = new Redis(redis.port, '127.0.0.1');
  });
  after(async () => {
    stranger.disconnect();
    await redis.stop();
  });
  beforeEach(async () => {
    await stranger.flushall();
    clock = new ManualClock();
    said = [];
    const limit = new LogLimit(clock); // As in the log of a process.
    const warn = (fields: object, text: string) => {
      const write = (written: object) => void said.push({ fields: written as Record<string, unknown>, text });
      if (limit.admits(text, (times) => write({ times }))) write(fields);
    };
    log = { ...silentLog, warn };
    ends = [];
  });
  afterEach(async () => {
    for (const end of ends) await end();
  });

  async function pour(channel: string, text: (i: number) => string, count = FLOOD): Promise<void> {
    const sharded = channel.startsWith('di:live');
    for (let i = 0; i < count; i += 1000) {
      const batch = stranger.pipeline();
      for (let k = i; k < Math.min(count, i + 1000); k++) batch[sharded ? 'spublish' : 'publish'](channel, text(k));
      await batch.exec();
    }
  }

  async function openCopier(source: KeySource): Promise<KeyCopier> {
    const copier = new KeyCopier({ url: redis.url, source, log, clock });
    ends.push(() => copier.close());
    await copier.start();
    return copier;
  }

  async function openKeys(): Promise<CopiedKeys> {
    const keys = new CopiedKeys({ url: redis.url, log, clock });
    ends.push(() => keys.close());
    await keys.start();
    return keys;
  }

  async function openBus(): Promise<RedisBus> {
    const bus = await createRedisBus({ url: redis.url, log, clock });
    ends.push(() => bus.close());
    return bus;
  }

  /** Moves time on, in steps in which Redis's answers come. */
  async function pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 500) {
      clock.advance(500);
      for (let round = 0; round < 3; round++) await stranger.ping();
    }
  }

  /** What was logged of what was dropped. */
  const drops = () => said.filter(({ text }) => text.includes('dropped'));
  /** Checks that so much was dropped, and told in a few lines for each cause. */
  const expectDrops = (count: number, causes = 1) => {
    expect(drops().reduce((sum, { fields }) => sum + Number(fields.times ?? 1), 0)).to.equal(count);
    expect(drops().length).to.be.at.most(8 * causes);
  };

  it('of questions for keys causes at most 256 look-ups at once, and leaves no memory in use', async () => {
    const source = new SlowSource();
    const copier = await openCopier(source);
    source.hold();
    const before = heapInUse();
    await pour(KEY_CHANNEL, (i) => ask(`unknown ${i}`));
    await until(() => copier.dropped + source.asked.length === FLOOD);
    expect(source.asked.length).to.equal(256);
    source.release();
    await until(() => source.asked.length === 256);
    source.asked.length = 0;
    expect(heapInUse() - before).to.be.lessThan(KEPT_BYTES);
    await pass(5000);
    expectDrops(FLOOD - 256);
    await stranger.publish(KEY_CHANNEL, ask('another'));
    await until(() => source.asked.includes(hashOf('another')));
  });

  it('of questions for one key is one look-up', async () => {
    const source = new SlowSource();
    const copier = await openCopier(source);
    source.hold();
    await pour(KEY_CHANNEL, () => ask('unknown'), 2000);
    await stranger.publish(KEY_CHANNEL, ask('last'));
    await until(() => source.asked.includes(hashOf('last')));
    expect(source.asked).to.deep.equal([hashOf('unknown'), hashOf('last')]);
    expect(copier.dropped).to.equal(0);
    source.release();
  });

  it('of foreign messages about keys is dropped, and told in a few lines', async () => {
    const source = new SlowSource();
    const [copier, keys] = [await openCopier(source), await openKeys()];
    const hash = hashOf('x');
    const holder = { ...ALL, account: 'x'.repeat(5000) };
    const words = [
      '',
      'null',
      '[]',
      '{}',
      '{"word":"ask","hash":"x"}',
      `{"word":"ask","hash":"${hash.toUpperCase()}"}`,
    ];
    words.push(JSON.stringify({ word: 'yes', hash }), JSON.stringify({ word: 'yes', hash, holder }));
    await pour(KEY_CHANNEL, (i) => words[i % words.length] ?? '', 8000);
    await until(() => copier.dropped === 8000 && keys.dropped === 8000);
    await pass(5000);
    expectDrops(16_000, 2);
    expect(source.asked).to.deep.equal([]);
  });

  it('of unknown keys at a node causes 256 questions at once, the others are refused for now, and valid keys are served', async () => {
    const keys = await openKeys();
    const ear = new Redis(redis.port, '127.0.0.1');
    ends.push(() => ear.disconnect());
    let asked = 0;
    ear.on('message', () => (asked += 1));
    await ear.subscribe(KEY_CHANNEL);
    await stranger.hset(KEYS, hashOf('good'), JSON.stringify(ALL));
    const failures = Array.from({ length: 2000 }, (_, i) =>
      keys.holder(hashOf(`${i}`)).catch((error: unknown) => error),
    );
    let failed = 0;
    for (const failure of failures) void failure.then(() => (failed += 1));
    await until(() => failed + asked === 2000);
    expect(asked).to.equal(256);
    expect(await keys.holder(hashOf('good'))).to.deep.equal(ALL);
    await pass(3000);
    for (const failure of failures) expect(await failure).to.be.instanceOf(BusUnavailable);
  });

  it('of forged publishers ends the subscription on which it arrived, and leaves no memory in use', async () => {
    const bus = await openBus();
    const inbox = new Inbox();
    await bus.subscribe('one', inbox);
    const other = new Inbox();
    await bus.subscribe('two', other);
    const before = heapInUse();
    const forged = (i: number) => encodeEnvelope({ publisher: `p-${i}`, number: 1, lossAgeMs: null, messages: [] });
    await pour(channelOf('one'), forged);
    await inbox.until(() => inbox.losses === 1);
    await pour('di:control', (i) => `beat p-${i}`);
    await pass(5000);
    await bus.publish('two', [{ text: 'still here', user: null }]);
    await other.count(1);
    expect(inbox.losses).to.equal(1);
    expect(heapInUse() - before).to.be.lessThan(KEPT_BYTES);
  });

  it('of forged nodes is counted up to 1000', async () => {
    const bus = await openBus();
    await pour('di:control', (i) => `node-beat n-${i}`);
    await until(() => bus.dropped + bus.nodesAlive === FLOOD);
    expect(bus.nodesAlive).to.equal(1000);
    await pass(4000);
    expect(bus.nodesAlive).to.equal(0);
    expectDrops(FLOOD - 1000);
    await stranger.publish('di:control', 'node-beat real');
    await until(() => bus.nodesAlive === 1);
  });

  it('of invalid envelopes is reported as one loss, and is counted', async () => {
    const bus = await openBus();
    const inbox = new Inbox();
    await bus.subscribe('one', inbox);
    const empty = `1 p 1 - [${new Array(FLOOD).fill(0).join()}]\n`;
    await pour(channelOf('one'), () => empty, 100);
    await inbox.until(() => inbox.losses === 1);
    expect(inbox.texts).to.deep.equal([]);
    expect(bus.dropped).to.equal(1);
    await pour('di:control', () => 'x'.repeat(1000), 500);
    await until(() => bus.dropped === 501);
    await pass(1000);
    expectDrops(501);
  });

  it('of valid messages is delivered completely, in several envelopes if necessary', async () => {
    const bus = await openBus();
    const inbox = new Inbox();
    await bus.subscribe('one', inbox);
    const texts = Array.from({ length: 10_000 }, (_, i) => `${i}`);
    await bus.publish(
      'one',
      texts.map((text) => ({ text, user: null })),
    );
    await inbox.count(texts.length);
    expect(inbox.texts).to.deep.equal(texts);
    expect(inbox.losses).to.equal(0);
  });
});
