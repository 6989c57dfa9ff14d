import { expect } from 'chai';
import type { Handles } from '../suite.js';
import { atOnce, newMoment, rejection, sampleAccount, sampleKey } from './samples.js';

export function accountSuite(handles: () => Handles): void {
  describe('accounts', () => {
    it('finds an account by id and by name, and lists it', async () => {
      const { store, other } = handles();
      const account = sampleAccount({ name: 'Zoë "Ltd" 心 %_\\', algorithms: ['hr-ppg', 'rr-ppg'] });
      expect(await store.createAccount(account)).to.deep.equal(account);
      expect(await other.account(account.id)).to.deep.equal(account);
      expect(await other.accountNamed(account.name)).to.deep.equal(account);
      expect(await other.accounts()).to.deep.include(account);
    });

    it('knows no account that was never made', async () => {
      const { store } = handles();
      expect(await store.account(sampleAccount().id)).to.equal(null);
      expect(await store.accountNamed('nobody')).to.equal(null);
      expect(await store.entitle(sampleAccount().id, null)).to.equal(null);
    });

    it('gives a name to one account only, however many ask at once', async () => {
      const { store, other } = handles();
      const name = sampleAccount().name;
      const made = await atOnce(12, [store, other], (handle) => handle.createAccount(sampleAccount({ name })));
      const winners = made.filter((account) => account !== null);
      expect(winners).to.have.length(1);
      expect(await store.accountNamed(name)).to.deep.equal(winners[0]);
    });

    it('entitles to some algorithms, to none and to all', async () => {
      const { store } = handles();
      const account = sampleAccount();
      await store.createAccount(account);
      for (const algorithms of [['hr-ecg'], [], null]) {
        expect(await store.entitle(account.id, algorithms)).to.deep.equal({ ...account, algorithms });
        expect(await store.account(account.id)).to.deep.equal({ ...account, algorithms });
      }
    });
  });

  describe('keys', () => {
    it('finds a key by its hash, and lists the keys of an account, oldest first', async () => {
      const { store, other } = handles();
      const late = sampleKey({ createdAt: newMoment(), user: 'ann' });
      const early = sampleKey({ accountId: late.accountId, createdAt: late.createdAt - 1 });
      const foreign = sampleKey();
      for (const key of [late, early, foreign]) await store.addKey(key);
      expect(await other.keyByHash(late.hash)).to.deep.equal(late);
      expect(await other.keyByHash('0'.repeat(64))).to.equal(null);
      expect(await other.keys(late.accountId)).to.deep.equal([early, late]);
      expect(await other.keys(null)).to.deep.include.members([early, late, foreign]);
    });

    it('keeps no two keys of one hash', async () => {
      const { store } = handles();
      const key = sampleKey();
      await store.addKey(key);
      expect(await rejection(store.addKey(sampleKey({ hash: key.hash })))).to.be.instanceOf(Error);
      expect(await store.keyByHash(key.hash)).to.deep.equal(key);
    });

    it('revokes a key once and still finds it', async () => {
      const { store, other } = handles();
      const key = sampleKey();
      const at = newMoment();
      await store.addKey(key);
      const revoked = { ...key, revokedAt: at };
      expect(await store.revokeKey(key.id, at)).to.deep.equal(revoked);
      expect(await other.revokeKey(key.id, at + 5)).to.deep.equal(revoked);
      expect(await other.keyByHash(key.hash)).to.deep.equal(revoked);
      expect(await store.revokeKey(sampleKey().id, at)).to.equal(null);
    });

    it('tells the keys revoked since an instant, inclusively', async () => {
      const { store, other } = handles();
      const at = newMoment();
      const [before, first, second] = [sampleKey(), sampleKey(), sampleKey()];
      for (const key of [before, first, second, sampleKey()]) await store.addKey(key);
      await store.revokeKey(before.id, at - 1);
      await store.revokeKey(first.id, at);
      await store.revokeKey(second.id, at + 1);
      const hashes = (await other.keysRevokedSince(at)).map((key) => key.hash);
      expect(hashes).to.have.members([first.hash, second.hash]);
    });

    it('notes when keys were used last, never going back', async () => {
      const { store, other } = handles();
      const [used, unused] = [sampleKey(), sampleKey()];
      const at = newMoment();
      for (const key of [used, unused]) await store.addKey(key);
      await store.touchKeys([used.id, sampleKey().id], at);
      await other.touchKeys([used.id], at - 60_000);
      await store.touchKeys([], at);
      expect(await store.keyByHash(used.hash)).to.deep.equal({ ...used, lastUsedAt: at });
      expect(await store.keyByHash(unused.hash)).to.deep.equal(unused);
    });
  });
}
