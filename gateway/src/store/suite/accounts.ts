import { expect } from 'chai';
import { addedKey, allPages, atOnce, type Handles, newMoment, rejection, sampleAccount, sampleKey } from './samples.js';

export function accountSuite({ store, other }: Handles): void {
  describe('accounts', () => {
    it('finds an account by id and by name, and lists it', async () => {
      const account = sampleAccount({ name: 'Zoë "Ltd" 心 %_\\', algorithms: ['hr-ppg', 'rr-ppg'] });
      expect(await store.createAccount(account)).to.deep.equal(account);
      expect(await other.account(account.id)).to.deep.equal(account);
      expect(await other.accountNamed(account.name)).to.deep.equal(account);
      expect(await other.accounts()).to.deep.include(account);
    });

    it('finds no account that was never created', async () => {
      expect(await store.account(sampleAccount().id)).to.equal(null);
      expect(await store.accountNamed('nobody')).to.equal(null);
      expect(await store.entitle(sampleAccount().id, null)).to.equal(null);
    });

    it('gives a name to only one account, even for simultaneous requests', async () => {
      const name = sampleAccount().name;
      const made = await atOnce(12, [store, other], (handle) => handle.createAccount(sampleAccount({ name })));
      const winners = made.filter((account) => account !== null);
      expect(winners).to.have.length(1);
      expect(await store.accountNamed(name)).to.deep.equal(winners[0]);
    });

    it('entitles to some algorithms, to none and to all', async () => {
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
      const late = sampleKey({ createdAt: newMoment(), user: 'ann' });
      const early = sampleKey({ accountId: late.accountId, createdAt: late.createdAt - 1 });
      const foreign = sampleKey();
      for (const key of [late, early, foreign]) await store.addKey(key);
      expect(await other.keyByHash(late.hash)).to.deep.equal(late);
      expect(await other.keyByHash('0'.repeat(64))).to.equal(null);
      expect(await other.keys(late.accountId)).to.deep.equal([early, late]);
      expect(await other.keys(null)).to.deep.include.members([early, late, foreign]);
    });

    it('keeps the expiry of a key, and still finds it after that', async () => {
      const key = await addedKey(store, { expiresAt: newMoment() });
      expect(await other.keyByHash(key.hash)).to.deep.equal(key);
      expect(await other.keys(key.accountId)).to.deep.equal([key]);
    });

    it('keeps no two keys with the same hash', async () => {
      const key = await addedKey(store);
      expect(await rejection(store.addKey(sampleKey({ hash: key.hash })))).to.be.instanceOf(Error);
      expect(await store.keyByHash(key.hash)).to.deep.equal(key);
    });

    it('revokes a key once and still finds it', async () => {
      const key = sampleKey();
      const at = newMoment();
      await store.addKey(key);
      const revoked = { ...key, revokedAt: at };
      expect(await store.revokeKey(key.id, at)).to.deep.equal(revoked);
      expect(await other.revokeKey(key.id, at + 5)).to.deep.equal(revoked);
      expect(await other.keyByHash(key.hash)).to.deep.equal(revoked);
      expect(await store.revokeKey(sampleKey().id, at)).to.equal(null);
    });

    it('never adds a revocation with a time before the newest one, whatever the clock says', async () => {
      const at = newMoment();
      const [first, second] = [sampleKey(), sampleKey()];
      for (const key of [first, second]) await store.addKey(key);
      await store.revokeKey(first.id, at);
      expect((await other.revokeKey(second.id, at - 3_600_000))?.revokedAt).to.equal(at);
      const hashes = (await other.keysRevokedSince(at)).map((key) => key.hash);
      expect(hashes).to.have.members([first.hash, second.hash]);
    });

    it('lists the keys revoked since an instant, inclusive', async () => {
      const at = newMoment();
      const [before, first, second] = [sampleKey(), sampleKey(), sampleKey()];
      for (const key of [before, first, second, sampleKey()]) await store.addKey(key);
      await store.revokeKey(before.id, at - 1);
      await store.revokeKey(first.id, at);
      await store.revokeKey(second.id, at + 1);
      const hashes = (await other.keysRevokedSince(at)).map((key) => key.hash);
      expect(hashes).to.have.members([first.hash, second.hash]);
    });

    it('records the last use of keys, never an earlier one', async () => {
      const [used, unused] = [sampleKey(), sampleKey()];
      const at = newMoment();
      for (const key of [used, unused]) await store.addKey(key);
      await store.touchKeys([used.id, sampleKey().id], at);
      await other.touchKeys([used.id], at - 60_000);
      await store.touchKeys([], at);
      expect(await store.keyByHash(used.hash)).to.deep.equal({ ...used, lastUsedAt: at });
      expect(await store.keyByHash(unused.hash)).to.deep.equal(unused);
    });

    it('replaces a key once, with the time until which the old one is valid', async () => {
      const at = newMoment();
      const old = await addedKey(store, { createdAt: at, expiresAt: at + 9000 });
      const by = Array.from({ length: 6 }, () => sampleKey({ accountId: old.accountId, createdAt: at + 1 }));
      const done = await atOnce(6, [store, other], (handle, i) => handle.replaceKey(old.id, by[i] ?? old, at + 5000));
      const [winner] = by.filter((_, i) => done[i]);
      expect(done.filter(Boolean)).to.have.length(1);
      const replaced = { ...old, expiresAt: at + 5000, replacedBy: winner?.id ?? '' };
      expect(await store.key(old.id)).to.deep.equal(replaced);
      expect(await other.keys(old.accountId)).to.deep.equal([replaced, winner]);
    });

    it('replaces no revoked, expired or unknown key, and keeps an earlier expiry', async () => {
      const at = newMoment();
      const [revoked, expired, soon] = [sampleKey(), sampleKey({ expiresAt: at }), sampleKey({ expiresAt: at + 1 })];
      for (const key of [revoked, expired, soon]) await store.addKey(key);
      await store.revokeKey(revoked.id, at);
      for (const { id } of [revoked, expired, sampleKey()])
        expect(await store.replaceKey(id, sampleKey({ createdAt: at }), at + 5000)).to.equal(false);
      expect(await store.replaceKey(soon.id, sampleKey({ createdAt: at }), at + 5000)).to.equal(true);
      expect((await store.key(soon.id))?.expiresAt).to.equal(at + 1);
    });

    it('changes the label of a key', async () => {
      const key = await addedKey(store);
      expect(await other.labelKey(key.id, 'kiosk')).to.deep.equal({ ...key, label: 'kiosk' });
      expect(await store.key(key.id)).to.deep.equal({ ...key, label: 'kiosk' });
      expect(await store.labelKey(sampleKey().id, 'none')).to.equal(null);
    });

    it('pages through the keys of an account or of a user of it, newest first', async () => {
      const { accountId } = sampleKey();
      const at = newMoment();
      const keys = Array.from({ length: 7 }, (_, i) =>
        sampleKey({ accountId, createdAt: at + (i % 3), user: i % 2 ? 'ann' : null }),
      );
      const hidden = sampleKey({ accountId, createdAt: at, subscribeOnly: true, user: 'ann' });
      for (const key of [...keys, hidden, sampleKey()]) await store.addKey(key);
      keys.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
      const all = (user: string | null) =>
        allPages((cursor) => other.keyPage({ accountId, user, limit: 3, cursor })).then((pages) => pages.flat());
      expect(await all(null)).to.deep.equal(keys);
      expect(await all('ann')).to.deep.equal(keys.filter(({ user }) => user === 'ann'));
      expect(await other.keyByHash(hidden.hash)).to.deep.equal(hidden);
    });

    it('pages through the users that keys are bound to', async () => {
      const { accountId } = sampleKey();
      const at = newMoment();
      const users = ['zoë', 'ann', 'bob 心', 'ann', null];
      const keys = users.map((user) => sampleKey({ accountId, user }));
      for (const key of [...keys, sampleKey({ accountId, user: 'eve', subscribeOnly: true })]) await store.addKey(key);
      await store.touchKeys([keys[1]?.id ?? ''], at);
      const pages = await allPages((cursor) => other.users({ accountId, limit: 2, cursor }));
      expect(pages).to.deep.equal([
        [
          { user: 'ann', keys: 2, lastUsedAt: at },
          { user: 'bob 心', keys: 1, lastUsedAt: null },
        ],
        [{ user: 'zoë', keys: 1, lastUsedAt: null }],
      ]);
    });

    it('finds the valid keys that may only subscribe by their label, oldest first', async () => {
      const at = newMoment();
      const label = `operator ${at}`;
      const [second, first, revoked] = [2, 1, 0].map((ms) =>
        sampleKey({ subscribeOnly: true, label, createdAt: at + ms }),
      );
      for (const key of [second, first, revoked, sampleKey({ label }), sampleKey({ subscribeOnly: true })])
        if (key) await store.addKey(key);
      await store.revokeKey(revoked?.id ?? '', at);
      expect(await other.subscribeKeys(label)).to.deep.equal([first, second]);
    });

    it('deletes the keys that may only subscribe after they have expired', async () => {
      const at = newMoment();
      const past = sampleKey({ subscribeOnly: true, expiresAt: at - 1 });
      const good = sampleKey({ subscribeOnly: true, expiresAt: at });
      const whole = sampleKey({ expiresAt: at - 1 });
      for (const key of [past, good, whole]) await store.addKey(key);
      await other.forgetSubscribeKeys(at);
      expect(await store.keyByHash(past.hash)).to.equal(null);
      for (const key of [good, whole]) expect(await store.keyByHash(key.hash)).to.deep.equal(key);
    });
  });
}
