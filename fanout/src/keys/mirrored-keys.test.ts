import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { BusUnavailable } from '../bus/bus.js';
import { startRedis, type TestRedis } from '../bus/redis/test-server.js';
import { silentLog } from '../process/log.fixture.js';
import { ManualClock } from '../process/manual-clock.js';
import { until } from '../process/until.fixture.js';
import type { KeyHolder } from './key-check.js';
import { KeyMirror, type KeySource } from './key-mirror.js';
import { HOLDERS, READY, REVOKED } from './key-words.js';
import { MirroredKeys } from './mirrored-keys.js';

/** A store's keys, in memory. */
class Source implements KeySource {
  readonly good = new Map<string, KeyHolder>();
  readonly bad = new Set<string>();
  questions = 0;
  broken = false;

  async holders(): Promise<ReadonlyMap<string, KeyHolder>> {
    return this.good;
  }

  async revoked(): Promise<readonly string[]> {
    return [...this.bad];
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

const ANNA: KeyHolder = { account: 'one', user: 'anna', expiresAt: null };
const ALL: KeyHolder = { account: 'one', user: null, expiresAt: null };

const hashOf = (name: string) => createHash('sha256').update(name).digest('hex');
const ALL_HASH = hashOf('all');
const ANNA_HASH = hashOf('anna');
const BEFORE_HASH = hashOf('before');
const GUEST_HASH = hashOf('guest');
const NEW_HASH = hashOf('new');
const NOBODY_HASH = hashOf('nobody');
const OLD_HASH = hashOf('old');

describe('mirrored keys', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;
  let witness: Redis;
  let source: Source;
  let mirror: KeyMirror;
  let node: MirroredKeys;
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
    mirror = new KeyMirror({ url: redis.url, source, log: silentLog, clock: gatewayClock });
    node = new MirroredKeys({ url: redis.url, log: silentLog, clock: nodeClock });
    revoked = [];
    node.onRevoked(
      (hash) => revoked.push(hash),
      () => [ANNA_HASH, ALL_HASH],
    );
    await mirror.start();
    await node.start();
  });

  afterEach(() => {
    mirror.close();
    node.close();
  });

  async function failure(hash: string): Promise<unknown> {
    return node.holder(hash).then(
      () => undefined,
      (error: unknown) => error,
    );
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

  it('knows the holder of a mirrored key, and refuses a revoked one, without asking', async () => {
    expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
    expect(await node.holder(ALL_HASH)).to.deep.equal(ALL);
    expect(await node.holder(OLD_HASH)).to.equal(null);
    expect(source.questions).to.equal(0);
  });

  it('refuses a key after its expiry, also while no gateway is alive', async () => {
    mirror.close();
    await witness.hset(HOLDERS, GUEST_HASH, JSON.stringify({ ...ALL, expiresAt: 5000 }));
    await witness.hset(HOLDERS, BEFORE_HASH, JSON.stringify({ account: 'one', user: null }));
    nodeClock.step(4999);
    expect(await node.holder(GUEST_HASH)).to.deep.equal({ ...ALL, expiresAt: 5000 });
    nodeClock.step(1);
    expect(await node.holder(GUEST_HASH)).to.equal(null);
    expect(await node.holder(BEFORE_HASH)).to.deep.equal(ALL);
  });

  it('asks the gateways about a new key, and accepts their answer', async () => {
    source.good.set(NEW_HASH, ALL);
    expect(await node.holder(NEW_HASH)).to.deep.equal(ALL);
    expect(await node.holder(NOBODY_HASH)).to.equal(null);
    expect(source.questions).to.equal(2);
  });

  it('asks once for all simultaneous checks of the same key', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => node.holder(NOBODY_HASH)));
    expect(answers).to.deep.equal([null, null, null]);
    expect(source.questions).to.equal(1);
  });

  it('cannot check a key while the gateways are silent or cannot reach their store', async () => {
    source.broken = true;
    expect(await advancing(nodeClock, failure(NOBODY_HASH))).to.be.instanceOf(BusUnavailable);
    mirror.close();
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

  it('applies a revocation at once, on every node', async () => {
    const other = new MirroredKeys({ url: redis.url, log: silentLog, clock: nodeClock });
    const otherRevoked: string[] = [];
    other.onRevoked(
      (hash) => otherRevoked.push(hash),
      () => [],
    );
    await other.start();
    source.revoke(ANNA_HASH);
    await mirror.revoke(ANNA_HASH);
    await until(() => revoked.length === 1 && otherRevoked.length === 1);
    expect([revoked, otherRevoked]).to.deep.equal([[ANNA_HASH], [ANNA_HASH]]);
    expect(await node.holder(ANNA_HASH)).to.equal(null);
    other.close();
  });

  it('prefers a revocation over a mirror that still has the key', async () => {
    await witness.sadd(REVOKED, ANNA_HASH);
    expect(await node.holder(ANNA_HASH)).to.equal(null);
  });

  it('applies, after a lost connection, the revocations that were made meanwhile', async () => {
    await node.holder(ANNA_HASH);
    await node.holder(ALL_HASH);
    await witness.sadd(REVOKED, ANNA_HASH);
    await witness.client('KILL', 'TYPE', 'PUBSUB');
    const heard = until(() => revoked.length > 0);
    await advancing(nodeClock, heard);
    expect(revoked).to.deep.equal([ANNA_HASH]);
  });

  it('never refuses a valid key after Redis was emptied: the gateways answer, and fill the mirror again', async () => {
    await node.probe();
    await witness.flushall();
    expect(await node.probe().catch((error: unknown) => error)).to.be.instanceOf(BusUnavailable);
    expect(await node.holder(ANNA_HASH)).to.deep.equal(ANNA);
    expect(await node.holder(OLD_HASH)).to.equal(null);
    expect(source.questions).to.equal(2);
    gatewayClock.advance(1000);
    await mirror.check();
    expect(await witness.hlen(HOLDERS)).to.equal(2);
    expect(await witness.smembers(REVOKED)).to.deep.equal([OLD_HASH]);
    expect(await witness.exists(READY)).to.equal(1);
  });

  it('cannot check keys after Redis was emptied while no gateway is alive, and does not refuse them as bad', async () => {
    mirror.close();
    await witness.flushall();
    expect(await advancing(nodeClock, failure(ANNA_HASH))).to.be.instanceOf(BusUnavailable);
  });

  it('sends a revocation that Redis could not accept as soon as it can', async () => {
    await node.holder(ANNA_HASH);
    await redis.kill();
    source.revoke(ANNA_HASH);
    await mirror.revoke(ANNA_HASH);
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
    expect(await advancing(gatewayClock, node.holder(ALL_HASH))).to.deep.equal(ALL);
  });
});
