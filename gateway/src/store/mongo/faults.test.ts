import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { Publisher } from '../../publisher/publisher.js';
import { type Session, type Store, StoreUnavailable } from '../store.js';
import { newMoment, opened, partOf, rejection, sampleInsight, sampleSession } from '../suite/samples.js';
import { MongoConnection } from './connection.js';
import { startMongoStore } from './mongo.js';
import { startTestMongo, type TestMongo } from './mongo-server.fixture.js';
import { modelsOn } from './schemas.js';

/** What the server does to the next command, or to some, of the store under test. */
type Fault = { readonly times?: number; readonly skip?: number } & Readonly<Record<string, unknown>>;

const code = (errorCode: number, ...failCommands: string[]): Fault => ({ errorCode, failCommands });

/** Each with the command that it strikes.. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'a connection that breaks at a read': { closeConnection: true, failCommands: ['find'], times: 2 },
  'a connection that breaks at a bulk write': { closeConnection: true, failCommands: ['update'], times: 2 },
  'a connection that breaks at an insert': { closeConnection: true, failCommands: ['insert'], times: 2 },
  'a connection that breaks at the commit': { closeConnection: true, failCommands: ['commitTransaction'], times: 2 },
  'a primary that is none any more': code(10107, 'insert'),
  'a step-down': code(189, 'insert'),
  'a step-down at the commit': code(189, 'commitTransaction'),
  'a state change of the replica set': code(11602, 'insert'),
  'a server that goes down': code(91, 'update'),
  'a server that recovers': code(13436, 'find'),
  'a write conflict': code(112, 'insert'),
  'a transaction that the server has forgotten': code(251, 'insert'),
  'a time limit': code(50, 'insert'),
  'another time limit': code(262, 'insert'),
  'a time limit of the network': code(202, 'insert'),
  'a lock that is not had in time': code(24, 'update'),
  'an interruption': code(11601, 'insert'),
  'too little memory': code(146, 'find'),
  'a full disk': code(14031, 'insert'),
  'a full disk at the commit': code(14031, 'commitTransaction'),
  'rights that were taken away': code(13, 'insert'),
  'a login that is not valid any more': code(18, 'insert'),
  'an error that nobody knows': code(8, 'insert'),
  'an error of the future': code(999_999, 'insert'),
  'a write concern that is not met': {
    writeConcernError: { code: 100, errmsg: 'not enough data-bearing nodes' },
    failCommands: ['commitTransaction'],
  },
  'a commit whose answer says that it may have failed': {
    ...code(64, 'commitTransaction'),
    errorLabels: ['UnknownTransactionCommitResult'],
  },
};

describe('insights on their way into MongoDB', () => {
  const APP = 'faults';
  let server: TestMongo;
  let uri: string;
  let control: MongoConnection;
  let store: Store;
  let session: Session;

  before(async function () {
    this.timeout(900_000);
    server = await startTestMongo();
    uri = server.uri(`test-${randomUUID()}`);
    control = await MongoConnection.open(uri, systemClock);
    const struck = new URL(uri);
    struck.searchParams.set('appName', APP);
    struck.searchParams.set('maxPoolSize', '4');
    store = await startMongoStore(struck.href, systemClock);
    session = sampleSession();
    await store.openSession(session);
  });

  afterEach(() => strike('off', {}));

  after(async () => {
    await store.close();
    await control.connection.dropDatabase();
    await control.close();
    await server.stop();
  });

  const strike = async (mode: unknown, data: object) => {
    await control.connection.db?.admin().command({ configureFailPoint: 'failCommand', mode, data });
  };

  const arrange = ({ times = 1, skip = 0, ...data }: Fault) => strike({ times, skip }, { ...data, appName: APP });

  const windows = async () => {
    const ends: number[] = [];
    for await (const batch of store.sessionInsights(session.id)) ends.push(...batch.map((i) => i.actual_end));
    return ends;
  };

  for (const [name, fault] of Object.entries(FAULTS))
    it(`are all stored through ${name}`, async () => {
      const texts: string[] = [];
      const note = (_: object, text: string) => void texts.push(text);
      const log = { info: note, warn: note, error: note };
      const publisher = new Publisher({ store, bus: createMemoryBus(), clock: systemClock, log });
      const stream = publisher.open({ ...session, last: {} });
      void stream.disowned.then((by) => texts.push(by));
      const at = newMoment();
      await arrange(fault);
      const { ts: _ts, e2e_latency_ms: _latency, ...reading } = sampleInsight(session, at);
      stream.publish(reading);
      await stream.flushed();
      expect(await windows()).to.include(at);
      expect(texts.filter((text) => /dropped|lost/.test(text))).to.deep.equal([]);
    });

  it('wait while the pool has no connection for a bulk write', async () => {
    const uri = new URL(server.uri(`test-${randomUUID()}`));
    uri.searchParams.set('appName', APP);
    uri.searchParams.set('maxPoolSize', '1');
    uri.searchParams.set('socketTimeoutMS', '3000');
    const small = await MongoConnection.open(uri.href, systemClock);
    try {
      const { accounts, sessions } = modelsOn(small.connection);
      await arrange({ failCommands: ['find'], blockConnection: true, blockTimeMS: 2000, times: 9 });
      const busy = once(small.connection.getClient(), 'connectionCheckedOut');
      const reads = [1, 2, 3].map(() => rejection(accounts.findById('x').orFail()));
      await busy;
      const write = { updateOne: { filter: { _id: 'x' }, update: { $inc: { commits: 1 } } } };
      const error = await rejection(small.run(() => sessions.bulkWrite([write])));
      expect(error).to.be.instanceOf(StoreUnavailable);
      expect((error as Error).cause).to.include({ name: 'MongoBulkWriteError' });
      await Promise.all(reads);
    } finally {
      await small.connection.dropDatabase();
      await small.close();
    }
  });

  it('are stored although another gateway ends the slow commit that holds a session it takes over', async () => {
    const taken = await opened(store);
    await store.beat(taken.gateway, newMoment());
    const at = newMoment();
    await arrange({ failCommands: ['insert'], blockConnection: true, blockTimeMS: 2000 });
    const other = await startMongoStore(uri, systemClock);
    try {
      const commit = store.commit([
        partOf(session, [sampleInsight(session, at)]),
        partOf(taken, [sampleInsight(taken, at)]),
      ]);
      const claimed = await other.claimSession(taken.id, taken.epoch, 'another gateway');
      expect(claimed?.gateway).to.equal('another gateway');
      expect((await commit).map(({ lost }) => lost)).to.deep.equal([false, true]);
      expect(await windows()).to.include(at);
    } finally {
      await other.close();
    }
  });

  it('are not stored if the store reports a failed commit', async () => {
    const at = newMoment();
    await arrange(code(14031, 'insert'));
    expect(await rejection(store.commit([partOf(session, [sampleInsight(session, at)])]))).to.be.instanceOf(
      StoreUnavailable,
    );
    expect(await windows()).to.not.include(at);
  });
});
