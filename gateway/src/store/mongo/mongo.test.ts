import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { type ClientSession, createConnection, type Query } from 'mongoose';

import { type InsightQuery, type Session, type SessionQuery, type Store, StoreUnavailable } from '../store.js';
import {
  newMoment,
  opened,
  partOf,
  rejection,
  sampleAccount,
  sampleDevice,
  sampleInsight,
  sampleModel,
  sampleSession,
} from '../suite/samples.js';
import { storeSuite } from '../suite.js';
import { hasTransactions, MongoConnection } from './connection.js';
import { mongoGateways } from './gateways.js';
import { insightFilter, insightSort } from './insights.js';
import { Line } from './line.fixture.js';
import { startMongoStore } from './mongo.js';
import { startTestMongo, UNHURRIED_MS } from './mongo-server.fixture.js';
import { type Models, modelsOn } from './schemas.js';
import { sessionFilter } from './sessions.js';

const server = await startTestMongo();
const uri = server.uri(`test-${randomUUID()}`);

after(async () => {
  const unhurried = await createConnection(uri).asPromise(); // Without the store's limits of time.
  await unhurried.dropDatabase();
  await unhurried.close();
  await server.stop();
});

await storeSuite('MongoDB', () => startMongoStore(uri, systemClock));

describe('the MongoDB store', () => {
  describe('when the server is lost', () => {
    let line: Line;
    let store: Store;

    beforeEach(async () => {
      line = await Line.to(uri);
      store = await startMongoStore(line.uri, systemClock);
    });

    afterEach(async () => {
      await line.close();
      await store.close();
    });

    /** Reads, writes and transactions. */
    const calls = () => {
      const session = sampleSession();
      return [
        store.account(randomUUID()),
        store.createAccount(sampleAccount()),
        store.openSession(session),
        store.putDevice(sampleDevice(sampleModel())),
        store.commit([partOf(session, [sampleInsight(session, newMoment())])]),
        store.probe(newMoment()),
      ];
    };

    it('reports it within seconds, without effect, and continues when the server is back', async () => {
      const session = await opened(store);
      line.cut();
      const commit = store.commit([partOf(session, [sampleInsight(session, newMoment())])]);
      for (const error of await Promise.all([...calls(), commit].map(rejection)))
        expect(error).to.be.instanceOf(StoreUnavailable);
      line.mend();
      expect(await store.lastInsights(session.id)).to.deep.equal({});
      const insight = sampleInsight(session, newMoment());
      expect(await store.commit([partOf(session, [insight])])).to.deep.equal([{ lost: false, written: [insight] }]);
    });

    it('also reports a server that accepts connections and answers nothing', async () => {
      line.silence();
      for (const error of await Promise.all(calls().map(rejection))) expect(error).to.be.instanceOf(StoreUnavailable);
      line.mend();
      expect(await store.account(randomUUID())).to.equal(null);
    });

    it('is not opened', async () => {
      line.cut();
      expect(await rejection(startMongoStore(line.uri, systemClock))).to.be.instanceOf(StoreUnavailable);
    });

    it('waits as long as the address says', async () => {
      line.silence();
      const error = await rejection(startMongoStore(`${line.uri}&socketTimeoutMS=100`, systemClock));
      expect(error).to.be.instanceOf(StoreUnavailable).with.property('message').that.includes('100 ms');
    });
  });

  describe('when the connection is lost in the middle of a commit', () => {
    let line: Line;
    let dying: MongoConnection;
    let models: Models;
    let store: Store;
    let session: Session;

    beforeEach(async () => {
      line = await Line.to(uri);
      dying = await MongoConnection.open(line.uri, systemClock);
      models = modelsOn(dying.connection);
      store = await startMongoStore(uri, systemClock);
      session = sampleSession();
      await store.openSession(session);
      await mongoGateways(dying, models).beat(session.gateway, newMoment());
    });

    afterEach(async () => {
      await line.close();
      await dying.close();
      await store.close();
    });

    const write = (transaction: ClientSession) =>
      models.sessions.updateOne({ _id: session.id }, { $inc: { commits: 1 } }, { session: transaction });

    /** A commit that the server keeps open, since its client is silent: it holds the session. */
    const heldCommit = () =>
      new Promise<{ failed: Promise<unknown> }>((resolve) => {
        const failed: Promise<unknown> = rejection(
          dying.commit(async (transaction) => {
            await write(transaction);
            line.silence();
            resolve({ failed });
            await write(transaction);
          }),
        );
      });

    it('another gateway takes the session', async () => {
      await heldCommit();
      const claimed = await store.claimSession(session.id, session.epoch, 'another gateway');
      expect(claimed?.gateway).to.equal('another gateway');
    });

    it('another gateway closes the session', async () => {
      await heldCommit();
      expect(await store.closeSession(session.id, session.epoch, session.startedAt)).to.equal(true);
    });

    it('the same gateway commits once it is connected again', async () => {
      const { failed } = await heldCommit();
      expect(await failed).to.be.instanceOf(StoreUnavailable);
      line.mend();
      while ((await dying.commit(write).catch(() => null)) === null) await setImmediate(); // As the publisher does
      expect((await models.sessions.findById(session.id))?.commits).to.equal(1);
    });
  });

  it('keeps no counter of an account that was erased', async () => {
    const own = new URL(uri);
    own.pathname = `/test-${randomUUID()}`;
    const store = await startMongoStore(own.href, systemClock);
    const mongo = await MongoConnection.open(own.href, systemClock);
    try {
      const account = sampleAccount();
      const model = sampleModel({ accountId: account.id });
      await store.createAccount(account);
      await store.addDeviceModel(model);
      await store.putDevice(sampleDevice(model));
      const { counters } = modelsOn(mongo.connection);
      expect(await counters.countDocuments()).to.equal(2);
      expect(await store.eraseAccount(account.id, 9)).to.equal(2);
      expect(await counters.countDocuments()).to.equal(0);
    } finally {
      await mongo.connection.dropDatabase();
      await mongo.close();
      await store.close();
    }
  });

  it('refuses everything after a collection was dropped, because the server would silently create it again', async () => {
    const own = new URL(uri);
    own.pathname = `/test-${randomUUID()}`;
    const store = await startMongoStore(own.href, systemClock);
    const mongo = await MongoConnection.open(own.href, systemClock);
    try {
      await store.probe(newMoment());
      await mongo.connection.dropCollection('insights');
      await mongo.connection.createCollection('insights');
      const error = await rejection(store.probe(newMoment()));
      expect(error).to.be.instanceOf(StoreUnavailable);
      expect(String(error)).to.include('the collection insights was dropped or replaced');
      const session = sampleSession();
      for (const call of [store.keyByHash('x'), store.commit([partOf(session, [])]), store.openSession(session)])
        expect(await rejection(call)).to.be.instanceOf(StoreUnavailable);
    } finally {
      await mongo.connection.dropDatabase();
      await mongo.close();
      await store.close();
    }
  });

  it('refuses a transaction that others have kept waiting for three times its limit', async () => {
    const clock = new ManualClock();
    const mongo = await MongoConnection.open(uri, clock);
    try {
      let end = () => {};
      let first: Promise<void> | undefined;
      await new Promise<void>((begun) => {
        first = mongo.transaction(async () => {
          begun();
          await new Promise<void>((resolve) => {
            end = resolve;
          });
        });
      });
      const late = rejection(mongo.transaction(async () => {}));
      clock.advance(3 * UNHURRIED_MS + 1);
      const next = mongo.transaction(async () => 'next');
      end();
      await first;
      expect(await late).to.be.instanceOf(StoreUnavailable);
      expect(await next).to.equal('next');
    } finally {
      await mongo.close();
    }
  });

  it('needs a replica set or a router', async () => {
    const mongo = await MongoConnection.open(uri, systemClock);
    const hello = await mongo.connection.db?.admin().command({ hello: 1 });
    await mongo.close();
    expect(hasTransactions(hello ?? {})).to.equal(true);
    expect(hasTransactions({ msg: 'isdbgrid' })).to.equal(true);
    const { setName: _, ...standalone } = hello ?? {};
    expect(hasTransactions(standalone)).to.equal(false);
  });
});

type Found = Query<unknown, unknown>;
type Order = Readonly<Record<string, 1 | -1>>;

describe('every list of the MongoDB store', () => {
  let mongo: MongoConnection;
  let models: Models;
  /** Whether `explain` tells MongoDB's own plans; SecantusDB, which has no such git version, plans more simply. */
  let plans: boolean;

  before(async () => {
    mongo = await MongoConnection.open(uri, systemClock);
    models = modelsOn(mongo.connection);
    const build = await mongo.connection.db?.admin().command({ buildInfo: 1 });
    plans = /[1-9a-f]/.test(String(build?.gitVersion));
  });

  after(() => mongo.close());

  /** That the server has an index of the fields that are fixed, then those that order the list; and uses it. */
  const expectIndex = async (fixed: readonly string[], order: Order, query: Found) => {
    const { model } = query;
    const keys = Object.values(await model.collection.indexes()).map(({ key }) => Object.entries(key));
    const serves = (key: [string, unknown][]) => {
      const first = key.slice(0, fixed.length).map(([field]) => field);
      const rest = Object.fromEntries(key.slice(fixed.length)) as Order;
      return first.every((field) => fixed.includes(field)) && [1, -1].some((sign) => begins(rest, order, sign));
    };
    expect(keys.some(serves), `${model.modelName}: ${fixed} ${JSON.stringify(order)}`).to.equal(true);
    if (!plans) return;
    const plan = JSON.stringify(await query.sort(order).explain('queryPlanner'));
    expect(plan)
      .to.include('IXSCAN')
      .and.not.match(/COLLSCAN|"SORT"/);
  };

  it('of sessions reads an index', async () => {
    const { sessions } = models;
    const order = { startedAt: -1, _id: 1 } as const;
    for (const user of ['ann', null])
      for (const status of ['open', null] as const) {
        const query: SessionQuery = { accountId: 'a', user, status, limit: 9, cursor: null };
        const fixed = ['accountId', ...(user ? ['user'] : status ? ['status'] : [])];
        await expectIndex(fixed, order, sessions.find(sessionFilter(query)));
      }
    const silent = { status: 'open', gateway: { $nin: ['a'] } } as const;
    await expectIndex(['status'], {}, sessions.find(silent));
    await expectIndex(['takeovers.gateway'], {}, sessions.find({ 'takeovers.gateway': 'a' }));
  });

  it('of insights reads an index', async () => {
    const { insights } = models;
    for (const user of ['ann', null])
      for (const since of [1, null]) {
        const query: InsightQuery = { accountId: 'a', user, type: 'hr', since, until: 9, limit: 9, cursor: null };
        const sign = since === null ? -1 : 1;
        const fixed = user ? ['accountId', 'user'] : ['accountId'];
        await expectIndex(fixed, { ts: sign, _id: sign }, insights.find(insightFilter(query)));
        const ofDevice = insights.find(insightFilter({ ...query, deviceId: 'band' }));
        await expectIndex(['accountId', 'device_id'], { ts: sign, _id: sign }, ofDevice);
        const byData = { ...query, since: null, until: null, dataSince: since, dataUntil: 9 };
        await expectIndex(fixed, insightSort(byData), insights.find(insightFilter(byData)));
        const ofBand = { ...byData, deviceId: 'band' };
        await expectIndex(['accountId', 'device_id'], insightSort(ofBand), insights.find(insightFilter(ofBand)));
      }
    const ofSession = insights.find({ session_id: 'a' });
    await expectIndex(['session_id'], { actual_end: 1, ts: 1, _id: 1 }, ofSession);
    const ofType = insights.find({ session_id: 'a', type: 'hr' });
    await expectIndex(['session_id', 'type'], { ts: -1 }, ofType);
  });

  it('of the objects of an account reads an index', async () => {
    const { keys, deviceModels, devices } = models;
    const order = { createdAt: 1, _id: 1 } as const;
    const ofAccount = { accountId: 'a' };
    await expectIndex(['accountId'], order, keys.find(ofAccount));
    await expectIndex([], { revokedAt: 1 }, keys.find({ revokedAt: { $gte: 5, $gt: 0 } }));
    await expectIndex(['accountId'], order, deviceModels.find(ofAccount));
    await expectIndex(['accountId'], order, devices.find(ofAccount));
    await expectIndex(['deviceModelId'], {}, devices.find({ deviceModelId: 'a' }));
  });
});

/** Whether an index, read in this direction (1 or -1), begins with an order. */
function begins(index: Order, order: Order, sign: number): boolean {
  const wanted = Object.entries(order);
  const found = Object.entries(index).slice(0, wanted.length);
  return wanted.every(([field, way], i) => found[i]?.[0] === field && found[i]?.[1] === way * sign);
}
