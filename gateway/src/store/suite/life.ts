import { expect } from 'chai';
import { type Store, StoreUnavailable } from '../store.js';
import {
  newMoment,
  partOf,
  rejection,
  sampleAccount,
  sampleInsight,
  sampleKey,
  sampleModel,
  sampleSession,
} from './samples.js';

export function lifeSuite(open: () => Promise<Store>): void {
  describe('a store', () => {
    it('has all rows again after it was closed', async () => {
      const account = sampleAccount();
      const key = sampleKey({ accountId: account.id });
      const model = sampleModel({ accountId: account.id });
      const session = sampleSession({ accountId: account.id });
      const insight = sampleInsight(session, newMoment());
      const first = await open();
      await first.createAccount(account);
      await first.addKey(key);
      await first.addDeviceModel(model);
      await first.openSession(session);
      await first.commit([partOf(session, [insight])]);
      await first.close();

      const second = await open();
      expect(await second.account(account.id)).to.deep.equal(account);
      expect(await second.keyByHash(key.hash)).to.deep.equal(key);
      expect(await second.deviceModel(model.id)).to.deep.equal(model);
      expect(await second.session(session.id)).to.deep.equal(session);
      const query = { accountId: account.id, user: null, type: null, since: null, until: null, limit: 9, cursor: null };
      expect((await second.insights(query)).rows).to.deep.equal([insight]);
      await second.close();
    });

    it('writes a value and reads it back', async () => {
      const store = await open();
      await store.probe(newMoment());
      await store.probe(newMoment());
      await store.close();
    });

    it('refuses every call once it is closed, and may be closed again', async () => {
      const store = await open();
      await store.close();
      await store.close();
      const session = sampleSession();
      expect(await rejection(store.account('x'))).to.be.instanceOf(StoreUnavailable);
      expect(await rejection(store.probe(newMoment()))).to.be.instanceOf(StoreUnavailable);
      expect(await rejection(store.openSession(session))).to.be.instanceOf(StoreUnavailable);
      expect(await rejection(store.commit([partOf(session, [])]))).to.be.instanceOf(StoreUnavailable);
    });
  });
}
