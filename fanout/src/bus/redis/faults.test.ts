import { expect } from 'chai';
import { Redis } from 'ioredis';
import { silentLog } from '../../platform/log.fixture.js';
import { ManualClock } from '../../platform/manual-clock.fixture.js';
import { until } from '../../platform/until.fixture.js';
import { type Bus, type BusMessage, BusUnavailable } from '../bus.js';
import { Inbox } from '../inbox.fixture.js';
import { encodeEnvelope } from './envelope.js';
import { createRedisBus, type RedisBus } from './redis.js';
import { startRedis, type TestRedis } from './redis-server.fixture.js';
import { channelOf } from './upstream.js';

let accounts = 0;
const message = (text: string): BusMessage => ({ text, user: null });

describe('Redis bus under faults', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  /** An independent client, which watches and disturbs. */
  let witness: Redis;
  let clock: ManualClock;
  let node: Bus;
  let publisher: RedisBus;
  let account: string;
  let inbox: Inbox;
  /** Whether Redis answers: false while it is frozen. */
  let answering = true;

  before(async () => {
    redis = await startRedis();
    witness = new Redis(redis.port, '127.0.0.1', { retryStrategy: () => 20 });
    witness.on('error', () => undefined);
  });

  after(async () => {
    witness.disconnect();
    await redis.stop();
  });

  beforeEach(async () => {
    clock = new ManualClock();
    node = await createRedisBus({ url: redis.url, log: silentLog, clock });
    publisher = await createRedisBus({ url: redis.url, log: silentLog, clock });
    account = `account-${++accounts}`;
    inbox = new Inbox();
  });

  afterEach(async () => {
    await publisher.close();
    await node.close();
  });

  /** Publishes an envelope of a made-up publisher, as another gateway would. */
  async function forge(name: string, number: number, texts: string[], lossAgeMs: number | null = null, to = account) {
    const text = encodeEnvelope({ publisher: name, number, lossAgeMs, messages: texts.map(message) });
    await witness.spublish(channelOf(to), text);
  }

  /** Resolves once the node has read everything that the witness has sent so far. */
  async function settled(): Promise<void> {
    const other = `account-${++accounts}`;
    const seen = new Inbox();
    const subscription = await node.subscribe(other, seen);
    await forge(`settler-${accounts}`, 1, ['x'], null, other);
    await seen.count(1);
    subscription.cancel();
  }

  /** Moves time on in steps, each of them long enough for the sockets to have their say, until `condition` holds. */
  async function advanceUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      clock.advance(20);
      if (answering && witness.status === 'ready') await witness.ping().catch(() => undefined);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function attempt(run: () => Promise<unknown>): Promise<unknown> {
    return run().then(
      () => undefined,
      (reason: unknown) => reason,
    );
  }

  /** Tries until it succeeds, one attempt at a time, while time moves on. */
  async function insist(run: () => Promise<unknown>): Promise<void> {
    let done = false;
    let trying = false;
    await advanceUntil(() => {
      if (!trying && !done) {
        trying = true;
        void attempt(run).then((error) => {
          trying = false;
          done = error === undefined;
        });
      }
      return done;
    });
  }

  describe('a follower', () => {
    beforeEach(async () => {
      await node.subscribe(account, inbox);
    });

    it('reports a missing number, and delivers no more messages', async () => {
      await forge('x', 7, ['seven']);
      await forge('x', 9, ['nine']);
      await forge('x', 10, ['ten']);
      await inbox.until(() => inbox.losses === 1);
      await settled();
      expect(inbox.texts).to.deep.equal(['seven']);
      expect(inbox.losses).to.equal(1);
    });

    it('drops a number that it has already seen', async () => {
      for (const number of [1, 2, 2, 1, 3]) await forge('x', number, [`${number}`]);
      await inbox.count(3);
      await settled();
      expect(inbox.texts).to.deep.equal(['1', '2', '3']);
      expect(inbox.losses).to.equal(0);
    });

    it('counts the messages of each publisher separately', async () => {
      await forge('x', 1, ['x1']);
      await forge('y', 41, ['y41']);
      await forge('x', 2, ['x2']);
      await forge('y', 42, ['y42']);
      await inbox.count(4);
      expect(inbox.losses).to.equal(0);
    });

    it('learns of a lost last message from the repeat of its number', async () => {
      await forge('x', 1, ['one']);
      await forge('x', 1, []);
      await settled();
      expect(inbox.losses).to.equal(0);
      await forge('x', 2, []);
      await inbox.until(() => inbox.losses === 1);
    });

    it('believes a new publisher that reports a loss after the subscription', async () => {
      clock.advance(1000);
      await forge('x', 2, ['two'], 1000);
      await inbox.until(() => inbox.losses === 1);
      expect(inbox.texts).to.deep.equal([]);
    });

    it('ignores losses from before its subscription', async () => {
      clock.advance(1000);
      await forge('x', 2, ['two'], 1001);
      await inbox.count(1);
      expect(inbox.losses).to.equal(0);
    });

    it('treats an unreadable message as a loss', async () => {
      await witness.spublish(channelOf(account), 'hello');
      await inbox.until(() => inbox.losses === 1);
    });

    it('counts a publisher as dead after 2 s of silence without a goodbye', async () => {
      await forge('x', 1, ['one']);
      await inbox.count(1);
      clock.advance(2000);
      expect(inbox.losses).to.equal(0);
      clock.advance(500);
      expect(inbox.losses).to.equal(1);
    });

    it('reports no loss for a publisher with heartbeats, or after its goodbye', async () => {
      await forge('x', 1, ['one']);
      await forge('y', 1, ['two']);
      await inbox.count(2);
      for (let second = 0; second < 5; second++) {
        await witness.publish('di:control', second === 0 ? 'bye y' : 'beat x');
        await witness.publish('di:control', 'beat x');
        await settled();
        clock.advance(1000);
      }
      expect(inbox.losses).to.equal(0);
      clock.advance(2000);
      expect(inbox.losses).to.equal(1);
    });

    it('does not mistake its own standstill for the silence of others', async () => {
      await forge('x', 1, ['one']);
      await inbox.count(1);
      clock.skip(60_000);
      clock.advance(0);
      expect(inbox.losses).to.equal(0);
      await witness.publish('di:control', 'beat x');
      await settled();
      clock.advance(1500);
      expect(inbox.losses).to.equal(0);
    });
  });

  describe('a publisher', () => {
    let heard: string[];
    let ear: Redis;

    beforeEach(async () => {
      heard = [];
      ear = new Redis(redis.port, '127.0.0.1');
      ear.on('smessage', (_channel, text) => heard.push(text));
      ear.on('message', (_channel, text) => heard.push(text));
      await ear.ssubscribe(channelOf(account));
      await ear.subscribe('di:control');
    });

    afterEach(() => ear.disconnect());

    it('puts the messages of one turn into one envelope', async () => {
      await Promise.all([
        publisher.publish(account, [message('a')]),
        publisher.publish(account, [message('b'), message('c')]),
      ]);
      await publisher.publish(account, [message('d')]);
      await until(() => heard.length === 2);
      expect(heard.map((text) => text.replace(/^1 \S+ /, ''))).to.deep.equal(['1 - [1,1,1]\nabc', '2 - [1]\nd']);
    });

    it('repeats its last number once when the account becomes quiet', async () => {
      await publisher.publish(account, [message('a')]);
      await publisher.publish(account, [message('b')]);
      clock.advance(500);
      await advanceUntil(() => heard.some((text) => text.endsWith('2 - []\n')));
      expect(clock.now()).to.be.within(1000, 2000);
      const end = clock.now() + 5000;
      await advanceUntil(() => clock.now() >= end);
      await publisher.publish(account, [message('c')]);
      await until(() => heard.some((text) => text.endsWith('3 - [1]\nc')));
      expect(heard.filter((text) => text.endsWith('[]\n')).length).to.equal(1);
    });

    it('sends a heartbeat every second after it has published, and a goodbye when it is closed', async () => {
      clock.advance(3000);
      await publisher.publish(account, [message('a')]);
      await until(() => heard.length === 1);
      const id = /^1 (\S+)/.exec(heard[0] ?? '')?.[1];
      clock.advance(1000);
      await until(() => heard.includes(`beat ${id}`));
      await publisher.close();
      await until(() => heard.includes(`bye ${id}`));
      expect(heard.filter((text) => text.startsWith('beat')).length).to.equal(1);
    });
  });

  it('holds one upstream subscription for each account, and only while it has a listener', async () => {
    const subscribers = async () =>
      (await witness.call('PUBSUB', 'SHARDNUMSUB', channelOf(account))) as [string, number];
    const pair = await Promise.all([node.subscribe(account, inbox), node.subscribe(account, new Inbox())]);
    expect((await subscribers())[1]).to.equal(1);
    for (const subscription of pair) subscription.cancel();
    let left = 1;
    while (left > 0) left = (await subscribers())[1];
  });

  it('counts the living nodes: those with a heartbeat, until their goodbye or silence', async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(() => createRedisBus({ url: redis.url, log: silentLog, clock, serves: true })),
    );
    await advanceUntil(() => publisher.nodesAlive === 2 && one?.nodesAlive === 2);
    await one?.close();
    await advanceUntil(() => publisher.nodesAlive === 1);
    await two?.close();
    await witness.publish('di:control', 'node-beat crashed');
    await advanceUntil(() => publisher.nodesAlive === 1);
    await settled();
    const before = clock.now();
    await advanceUntil(() => publisher.nodesAlive === 0);
    expect(clock.now() - before).to.be.within(2000, 4000);
  });

  it('counts a node as silent a second after it stood still itself, when it has read the heartbeats of meanwhile', async () => {
    await witness.publish('di:control', 'node-beat other');
    await advanceUntil(() => publisher.nodesAlive === 1);
    await settled();
    clock.skip(10_000);
    clock.advance(0);
    expect(publisher.nodesAlive).to.equal(1);
    await settled();
    clock.advance(1000);
    expect(publisher.nodesAlive).to.equal(0);
  });

  it('drops a server that accepts bytes and answers nothing, and returns to it when it answers', async () => {
    await node.subscribe(account, inbox);
    redis.freeze(true);
    answering = false;
    let outcome: unknown;
    void attempt(() => publisher.publish(account, [message('a')])).then((error) => (outcome = error));
    await advanceUntil(() => outcome !== undefined && inbox.losses === 1);
    expect(outcome).to.be.instanceOf(BusUnavailable);
    expect(clock.now()).to.be.within(3000, 8000);
    const end = clock.now() + 20_000; // Reconnects hang in their greeting, too.
    await advanceUntil(() => clock.now() >= end);
    redis.freeze(false);
    answering = true;
    await insist(() => publisher.publish(account, [message('b')]));
  });
});
