import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { BusUnavailable } from '../bus/bus.js';
import { startRedis, type TestRedis } from '../bus/redis/redis-server.fixture.js';
import { silentLog } from '../platform/log.fixture.js';
import { ManualClock } from '../platform/manual-clock.fixture.js';
import { until } from '../platform/until.fixture.js';
import { CopiedKeys } from './copied-keys.js';
import { holderWith } from './holder.fixture.js';
import type { KeyHolder } from './key-check.js';
import { KeyCopier, type KeySource } from './key-copier.js';
import { KEY_CHANNEL, KEYS, MARK, REVOKED } from './key-copy.js';

/** A store's keys, in memory. */
class Source implements KeySource {
  readonly good = new Map<string, KeyHolder>();
  readonly bad = new Set<string>();
  questions = 0;
  broken = false;

  async all(): Promise<ReadonlyMap<string, KeyHolder | null>> {
    return new Map([...this.good, ...[...this.bad].map((hash) => [hash, null] as const)]);
  }

  async holder(hash: string): Promise<KeyHolder | null> {
    this.questions += 1;
    if (this.broken) throw new Error('store down');
    return this.good.get(hash) ?? null;
  }

  revoke(hash: string): void {
    this.good.delete(hash);
    this.bad.add(hash);
  }
}

const ANNA: KeyHolder = holderWith('one', { user: 'anna' });
const ALL: KeyHolder = holderWith('one');

const hashOf = (name: string) => createHash('sha256').update(name).digest('hex');
const ALL_HASH = hashOf('all');
const ANNA_HASH = hashOf('anna');
const GUEST_HASH = hashOf('guest');
const NEW_HASH = hashOf('new');
const NOBODY_HASH = hashOf('nobody');
const OLD_HASH = hashOf('old');

describe('the copy of the keys in Redis', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let witness: Redis;
  let source: Source;
  let copier: KeyCopier;
  let node: CopiedKeys;
  let gatewayClock: ManualClock;
  let nodeClock: ManualClock;
  let revoked: string[];

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
    await witness.flushall();
    source = new Source();
    source.good.set(ANNA_HASH, ANNA);
    source.good.set(ALL_HASH, ALL);
    source.bad.add(OLD_HASH);
    gatewayClock = new ManualClock();
    nodeClock = new ManualClock();
    copier = new KeyCopier({ url: redis.url, source, log: silentLog, clock: gatewayClock });
    node = new CopiedKeys({ url: redis.url, log: silentLog, clock: nodeClock });
    revoked = [];
    node.onRevoked(
      (hash) => revoked.push(hash),
      () => [ANNA_HASH, ALL_HASH],
    );
    await copier.start();
    await node.start();
  });

  afterEach(() => {
    copier.close();
    node.close();
  });

  async function failure(hash: string): Promise<unknown> {
    return node.holder(hash).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Checks a key until it can be checked. */
  async function insist(hash: string): Promise<KeyHolder | null> {
    for (;;) {
      try {
        return await node.holder(hash);
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Moves a clock on until a promise settles. */
  async function advancing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
    let settled = false;
    const end = () => {
      settled = true;
    };
    promise.then(end, end);
    while (!settled) {
      clock.advance(50);
      await (witness.status === 'ready'
        ? witness.ping().catch(() => undefined)
        : new Promise((resolve) => setImmediate(resolve)));
    }
    return promise;
  }

  it('knows the holder of a copied key, and refuses a revoked one, without asking', async () => {
    expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
    expect(await node.holder(ALL_HASH)).to.deep.equal(ALL);
    expect(await node.holder(OLD_HASH)).to.equal(null);
    expect(source.questions).to.equal(0);
  });

  it('learns a key that is valid for minutes only from a gateway, and leaves no trace of it in Redis', async () => {
    const [short, long] = [3_599_000, 3_601_000].map((expiresAt) => ({ ...ALL, expiresAt }));
    source.good.set(GUEST_HASH, short as KeyHolder);
    source.good.set(NEW_HASH, long as KeyHolder);
    expect(await node.holder(GUEST_HASH)).to.deep.equal(short);
    expect(await node.holder(NEW_HASH)).to.deep.equal(long);
    while ((await witness.hexists(KEYS, NEW_HASH)) === 0);
    expect(await node.holder(GUEST_HASH)).to.deep.equal(short);
    expect(source.questions).to.equal(3);
    await copier.renew();
    expect(await witness.hkeys(KEYS)).to.have.members([MARK, ALL_HASH, ANNA_HASH, OLD_HASH, NEW_HASH]);
  });

  it('refuses a key after its expiry, also while no gateway is alive', async () => {
    copier.close();
    await witness.hset(KEYS, GUEST_HASH, JSON.stringify({ ...ALL, expiresAt: 5000 }));
    nodeClock.step(4999);
    expect(await node.holder(GUEST_HASH)).to.deep.equal({ ...ALL, expiresAt: 5000 });
    nodeClock.step(1);
    expect(await node.holder(GUEST_HASH)).to.equal(null);
  });

  it('knows a key that a gateway has accepted, also when no gateway is alive', async () => {
    source.good.set(NEW_HASH, ALL);
    await node.holder(NEW_HASH);
    while (!(await witness.hexists(KEYS, NEW_HASH)));
    copier.close();
    expect(await node.holder(NEW_HASH)).to.deep.equal(ALL);
  });

  it('gets an answer to a question that comes as soon as another node has heard the same answer', async () => {
    const other = new Redis(redis.port, '127.0.0.1');
    const heard: string[] = [];
    const ask = () => void witness.publish(KEY_CHANNEL, JSON.stringify({ word: 'ask', hash: NEW_HASH }));
    source.good.set(NEW_HASH, ANNA);
    other.on('message', (_channel, text) => {
      if (!text.includes('"yes"')) return;
      heard.push(text);
      ask();
    });
    await other.subscribe(KEY_CHANNEL);
    ask();
    await until(() => heard.length >= 50);
    other.disconnect();
  });

  it('asks once for all simultaneous checks of the same key', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => node.holder(NOBODY_HASH)));
    expect(answers).to.deep.equal([null, null, null]);
    expect(source.questions).to.equal(1);
  });

  it('cannot check a key while the gateways are silent or cannot reach their store', async () => {
    source.broken = true;
    expect(await advancing(nodeClock, failure(NOBODY_HASH))).to.be.instanceOf(BusUnavailable);
    copier.close();
    expect(await advancing(nodeClock, failure(NOBODY_HASH))).to.be.instanceOf(BusUnavailable);
    expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
  });

  it('does not ask again for a second after a gateway has refused a key, and then does', async () => {
    expect(await node.holder(NOBODY_HASH)).to.equal(null);
    nodeClock.advance(999);
    expect(await node.holder(NOBODY_HASH)).to.equal(null);
    expect(source.questions).to.equal(1);
    source.good.set(NOBODY_HASH, ALL);
    nodeClock.step(-3_600_000);
    nodeClock.advance(1);
    expect(await node.holder(NOBODY_HASH)).to.deep.equal(ALL);
    expect(source.questions).to.equal(2);
  });

  it('keeps a revoked key revoked if a gateway looked it up before and answers afterwards', async () => {
    await witness.hset(KEYS, NEW_HASH, REVOKED);
    source.good.set(NEW_HASH, ALL);
    await witness.publish(KEY_CHANNEL, JSON.stringify({ word: 'ask', hash: NEW_HASH }));
    await node.holder(NOBODY_HASH); // Asked later, so answered later.
    await copier.check();
    expect(await node.holder(NEW_HASH)).to.equal(null);
  });

  it('applies, after a lost connection, the revocations that were made meanwhile', async () => {
    await node.holder(ANNA_HASH);
    await node.holder(ALL_HASH);
    await witness.hset(KEYS, ANNA_HASH, REVOKED);
    await witness.client('KILL', 'TYPE', 'PUBSUB');
    const heard = until(() => revoked.length > 0);
    await advancing(nodeClock, heard);
    expect(revoked).to.deep.equal([ANNA_HASH]);
  });

  it('do not work if Redis does not let a node look keys up', async () => {
    await witness.call('ACL', 'SETUSER', 'default', '-hget');
    try {
      expect(await node.probe().catch((error: unknown) => String(error))).to.contain('NOPERM');
    } finally {
      await witness.call('ACL', 'SETUSER', 'default', '+hget');
    }
    await node.probe();
  });

  it('sends a revocation that Redis could not accept as soon as it can', async () => {
    await node.holder(ANNA_HASH);
    await redis.kill();
    source.revoke(ANNA_HASH);
    await copier.revoke(ANNA_HASH);
    expect(await failure(ANNA_HASH)).to.be.instanceOf(BusUnavailable);
    await redis.restart();
    await until(() => witness.status === 'ready');
    await advancing(
      nodeClock,
      advancing(
        gatewayClock,
        until(() => revoked.includes(ANNA_HASH)),
      ),
    );
    expect(await advancing(nodeClock, advancing(gatewayClock, insist(ALL_HASH)))).to.deep.equal(ALL);
  });

  describe('of which some were lost while no gateway was alive', () => {
    let next: KeyCopier;

    beforeEach(() => {
      copier.close();
      next = new KeyCopier({ url: redis.url, source, log: silentLog, clock: gatewayClock });
    });
    afterEach(() => next.close());

    it('are accepted again with a store that has them', async () => {
      source.good.delete(ANNA_HASH);
      await next.start();
      await until(() => revoked.length > 0);
      source.good.set(ANNA_HASH, ANNA);
      await next.renew();
      nodeClock.skip(10_000);
      expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
    });

    it('do not include a key that another gateway adds meanwhile', async () => {
      const all = new Map(source.good);
      source.all = async () => {
        source.good.set(NEW_HASH, ALL);
        await witness.hset(KEYS, NEW_HASH, JSON.stringify(ALL));
        return all;
      };
      await next.start();
      expect(await witness.hkeys(KEYS)).to.have.members([MARK, ALL_HASH, ANNA_HASH, NEW_HASH]);
    });
  });

  it('removes what was erased unnoticed, when all keys are copied again', async () => {
    source.good.delete(ANNA_HASH);
    await copier.check();
    expect(await witness.hexists(KEYS, ANNA_HASH)).to.equal(1);
    await copier.renew();
    await until(() => revoked.length > 0);
    expect(revoked).to.deep.equal([ANNA_HASH]);
    expect(await witness.hexists(KEYS, ANNA_HASH)).to.equal(0);
  });

  it('is made again within a second when another program has overwritten it', async () => {
    await witness.set(KEYS, 'x');
    gatewayClock.advance(1000);
    await copier.check();
    await node.probe();
    expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
    expect(await node.holder(OLD_HASH)).to.equal(null);
    expect(source.questions).to.equal(0);
  });

  it('is made again, and the revocation applied at once, when a revocation finds it overwritten', async () => {
    await witness.set(KEYS, 'x');
    source.revoke(ANNA_HASH);
    await copier.revoke(ANNA_HASH);
    await until(() => revoked.length > 0);
    expect(await witness.hkeys(KEYS)).to.have.members([MARK, ALL_HASH, OLD_HASH, ANNA_HASH]);
    for (const hash of [OLD_HASH, ANNA_HASH]) expect(await witness.hget(KEYS, hash)).to.equal(REVOKED);
  });

  it('checks the keys in use again every five seconds: announcements may be lost', async () => {
    await node.holder(ANNA_HASH); // After it the check at the start is done.
    await witness.hset(KEYS, ANNA_HASH, REVOKED);
    await witness.hdel(KEYS, ALL_HASH);
    source.good.delete(ALL_HASH);
    nodeClock.advance(4999);
    await node.holder(NOBODY_HASH);
    expect(revoked).to.deep.equal([]);
    nodeClock.advance(1);
    await until(() => revoked.length === 2);
    expect(revoked).to.have.members([ANNA_HASH, ALL_HASH]);
  });

  it('closes no socket because its key cannot be checked again', async () => {
    copier.close();
    await witness.flushall();
    nodeClock.advance(5000);
    await advancing(nodeClock, failure(ANNA_HASH));
    expect(revoked).to.deep.equal([]);
  });

  for (const [fault, setting, healthy] of [
    ['is full', 'maxmemory', '0'],
    ['misses its replicas', 'min-replicas-to-write', '0'],
  ] as const)
    it(`applies a revocation while Redis ${fault} and refuses writes, and reports that it does`, async () => {
      await witness.config('SET', setting, '1');
      try {
        source.revoke(ANNA_HASH);
        await copier.revoke(ANNA_HASH);
        await until(() => revoked.length > 0);
        expect(revoked).to.include(ANNA_HASH);
        expect(await node.holder(ANNA_HASH)).to.equal(null);
        copier.probe();
        for (let second = 0; second < 15; second++) {
          gatewayClock.advance(1000);
          await copier.check();
          nodeClock.advance(1000);
          expect(await node.holder(ANNA_HASH)).to.equal(null);
        }
        expect(() => copier.probe()).to.throw(BusUnavailable, 'Redis refused the command');
      } finally {
        await witness.config('SET', setting, healthy);
      }
      await copier.check();
      copier.probe();
      expect(await witness.hget(KEYS, ANNA_HASH)).to.equal(REVOKED);
    });

  it('reports that Redis refuses writes, also while there is nothing to write', async () => {
    await witness.config('SET', 'min-replicas-to-write', '1');
    try {
      await copier.check();
      await witness.config('SET', 'maxmemory', '1');
      gatewayClock.advance(3001);
      await copier.check();
      expect(() => copier.probe()).to.throw(BusUnavailable, 'OOM');
    } finally {
      await witness.config('SET', 'maxmemory', '0', 'min-replicas-to-write', '0');
    }
    await copier.check();
    copier.probe();
  });
});
