import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Query } from 'mongoose';
import { systemClock } from '../../clock.js';
import { type InsightQuery, type SessionQuery, type Store, StoreUnavailable } from '../store.js';
import {
  newMoment,
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
import { insightFilter } from './insights.js';
import { Line } from './line.fixture.js';
import { openMongoStore } from './mongo.js';
import { type Models, modelsOn } from './schemas.js';
import { sessionFilter } from './sessions.js';
import { startTestMongo, type TestMongo } from './test-server.js';

describe('the MongoDB store', () => {
  let server: TestMongo;
  let uri: string;

  before(async function () {
    this.timeout(900_000);
    server = await startTestMongo();
    uri = server.uri(`test-${randomUUID()}`);
  });

  after(() => server.stop());

  storeSuite('MongoDB', () => openMongoStore(uri, systemClock));
  faults(() => uri);
  indexes(() => uri);
});

function faults(uri: () => string): void {
  describe('when the server is lost', () => {
    let line: Line;
    let store: Store;

    beforeEach(async () => {
      line = await Line.to(uri());
      store = await openMongoStore(line.uri, systemClock);
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

    it('says so within seconds, with nothing done, and goes on when it is back', async () => {
      const session = sampleSession();
      await store.openSession(session);
      line.cut();
      const commit = store.commit([partOf(session, [sampleInsight(session, newMoment())])]);
      for (const error of await Promise.all([...calls(), commit].map(rejection)))
        expect(error).to.be.instanceOf(StoreUnavailable);
      line.mend();
      expect(await store.lastInsights(session.id)).to.deep.equal({});
      const insight = sampleInsight(session, newMoment());
      expect(await store.commit([partOf(session, [insight])])).to.deep.equal([{ lost: false, written: [insight] }]);
    });

    it('says so too where the server is there and answers nothing', async () => {
      line.silence();
      for (const error of await Promise.all(calls().map(rejection))) expect(error).to.be.instanceOf(StoreUnavailable);
      line.mend();
      expect(await store.account(randomUUID())).to.equal(null);
    });

    it('does not open at all', async () => {
      line.cut();
      expect(await rejection(openMongoStore(line.uri, systemClock))).to.be.instanceOf(StoreUnavailable);
    });
  });

  it('needs a replica set or a router of one', async () => {
    const mongo = await MongoConnection.open(uri(), systemClock);
    const hello = await mongo.connection.db?.admin().command({ hello: 1 });
    await mongo.close();
    expect(hasTransactions(hello ?? {})).to.equal(true);
    expect(hasTransactions({ msg: 'isdbgrid' })).to.equal(true);
    const { setName: _, ...standalone } = hello ?? {};
    expect(hasTransactions(standalone)).to.equal(false);
  });
}

function indexes(uri: () => string): void {
  describe('every list of the MongoDB store', () => {
    let mongo: MongoConnection;
    let models: Models;

    before(async () => {
      mongo = await MongoConnection.open(uri(), systemClock);
      models = await modelsOn(mongo.connection);
    });

    after(() => mongo.close());

    const planOf = async (query: Query<unknown, unknown>) => JSON.stringify(await query.explain('queryPlanner'));

    /** Whether this server sorts by an index, and says so (SecantusDB plans a sort where an index has the order). */
    const sortsByIndex = async () => !(await planOf(models.gateways.find().sort({ beat: 1 }))).includes('"SORT"');

    const expectIndex = async (query: Query<unknown, unknown>) => {
      const plan = await planOf(query);
      expect(plan).to.include('IXSCAN').and.not.include('COLLSCAN');
      if (await sortsByIndex()) expect(plan).to.not.include('"SORT"');
    };

    it('of sessions reads an index', async () => {
      for (const user of ['ann', null])
        for (const status of ['open', null] as const) {
          const query: SessionQuery = { accountId: 'a', user, status, limit: 9, cursor: null };
          await expectIndex(models.sessions.find(sessionFilter(query)).sort({ startedAt: -1, _id: 1 }));
        }
      await expectIndex(models.sessions.find({ status: 'open', gateway: { $nin: ['a'] } }));
      await expectIndex(models.sessions.find({ takeovers: { $elemMatch: { gateway: 'a', at: { $gte: 1 } } } }));
    });

    it('of insights reads an index', async () => {
      for (const user of ['ann', null])
        for (const since of [1, null]) {
          const query: InsightQuery = { accountId: 'a', user, type: 'hr', since, until: 9, limit: 9, cursor: null };
          const direction = since === null ? -1 : 1;
          await expectIndex(models.insights.find(insightFilter(query)).sort({ ts: direction, _id: direction }));
        }
      await expectIndex(models.insights.find({ session_id: 'a' }).sort({ actual_end: 1, ts: 1, _id: 1 }));
    });

    it('of what an account has reads an index', async () => {
      await expectIndex(models.keys.find({ accountId: 'a' }));
      await expectIndex(models.keys.find({ revokedAt: { $gte: 5, $gt: 0 } }));
      await expectIndex(models.deviceModels.find({ accountId: 'a' }));
      await expectIndex(models.devices.find({ accountId: 'a' }));
      await expectIndex(models.devices.find({ deviceModelId: 'a' }));
    });
  });
}
