import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Store } from '../store/store.js';
import {
  opened,
  partOf,
  sampleAccount,
  sampleDevice,
  sampleInsight,
  sampleKey,
  sampleModel,
} from '../store/suite/samples.js';
import { eraseAccount, eraseSession } from './erasure.js';

describe('the erasure', () => {
  let store: Store;
  const clock = new ManualClock();

  before(async () => {
    store = await openTemporaryStore(clock);
  });
  after(() => store.close());

  /** Lets time pass until the promise is settled. */
  async function passing<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const end = () => {
      settled = true;
    };
    promise.then(end, end);
    while (!settled) {
      clock.advance(100);
      await setImmediate();
    }
    return promise;
  }

  it('of a closed session deletes what its last gateway stores meanwhile, and nothing comes after it', async () => {
    const session = await opened(store);
    await store.closeSession(session.id, 1, session.startedAt);
    const add = (at: number) => store.commit([partOf(session, [sampleInsight(session, at)])]);
    await add(1000);
    const disturbed: Store = {
      ...store,
      eraseSession: async (id) => {
        if ((await store.session(id))?.progress.lastDataAt === null) await disturb();
        return store.eraseSession(id);
      },
    };
    let disturbances = 0;
    const disturb = async () => {
      if (disturbances++ === 0) await add(2000);
    };
    const row = { ...session, status: 'closed' } as const;
    expect(await eraseSession({ store: disturbed, clock }, row)).to.deep.equal({ sessions: 1, insights: 2 });
    expect(await add(3000)).to.deep.equal([{ lost: true }]);
    expect(await store.session(session.id)).to.equal(null);
  });

  it('of an account deletes devices in batches, and after an interruption the rest', async () => {
    const account = sampleAccount();
    const model = sampleModel({ accountId: account.id });
    await store.createAccount(account);
    await store.addDeviceModel(model);
    await Promise.all(Array.from({ length: 1202 }, () => store.putDevice(sampleDevice(model))));
    await Promise.all(Array.from({ length: 3 }, () => store.addKey(sampleKey({ accountId: account.id }))));

    const batches: number[] = [];
    let broken = true;
    const counting: Store = {
      ...store,
      eraseAccount: async (...args) => {
        if (broken && batches.length === 1) throw new Error('interrupted');
        batches.push((await store.eraseAccount(...args)) ?? 0);
        return batches.at(-1) ?? 0;
      },
    };
    const erase = () => passing(eraseAccount({ store: counting, clock }, account.id));
    expect(String(await erase().catch((error: unknown) => error))).to.include('interrupted');
    expect(await store.devices(account.id)).to.have.length(702);
    broken = false;
    expect(await erase()).to.deep.equal({ sessions: 0, insights: 0, keys: 0 });
    expect(batches).to.deep.equal([500, 500, 203]);
    expect([
      await store.account(account.id),
      await store.devices(account.id),
      await store.keys(account.id),
    ]).to.deep.equal([null, [], []]);
  });
});
