import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { StoredInsight } from '../../insight.js';
import type { DeviceModel, Session, Store } from '../store.js';
import {
  BATCH,
  collected,
  commitAll,
  type Handles,
  newMoment,
  opened,
  partOf,
  sampleAccount,
  sampleBlock,
  sampleDevice,
  sampleInsight,
  sampleKey,
  sampleModel,
  sampleSession,
} from './samples.js';

export function erasureSuite({ store, other }: Handles): void {
  /** A closed session with insights published from `at` on, one a second. */
  async function closed(store: Store, at: number, count: number, fields: Partial<Session> = {}): Promise<Session> {
    const session = await opened(store, fields);
    const insights = Array.from({ length: count }, (_, i) => sampleInsight(session, at + i * 1000, at + i * 1000));
    await commitAll(store, session, insights);
    await store.closeSession(session.id, 1, at);
    return session;
  }

  async function endsOf(store: Store, { id }: Session): Promise<number[]> {
    return (await collected(store.sessionInsights(id))).flat().map(({ actual_end }) => actual_end);
  }

  describe('erasure', () => {
    it('deletes the insights of a session in batches, and no others', async () => {
      const at = newMoment();
      const [gone, kept] = [await closed(store, at, 7), await closed(store, at, 2)];
      for (const count of [3, 3, 1, 0])
        expect(await store.eraseReadings('insights', { sessionId: gone.id }, 3)).to.equal(count);
      expect(await endsOf(other, gone)).to.deep.equal([]);
      expect(await endsOf(other, kept)).to.have.length(2);
    });

    it('deletes the insights that an account published before an instant, oldest first', async () => {
      const [accountId, at] = [randomUUID(), newMoment()];
      const own = await closed(store, at, 5, { accountId });
      const foreign = await closed(store, at, 5);
      const which = { accountId, before: at + 3000 };
      expect(await store.eraseReadings('insights', which, 2)).to.equal(2);
      expect(await endsOf(store, own)).to.deep.equal([at + 2000, at + 3000, at + 4000]);
      expect(await store.eraseReadings('insights', which, 2)).to.equal(1);
      expect(await store.eraseReadings('insights', which, 2)).to.equal(0);
      expect(await endsOf(store, own)).to.deep.equal([at + 3000, at + 4000]);
      expect(await endsOf(store, foreign)).to.have.length(5);
    });

    it('deletes the beats of a session, or what an account stored before an instant, in batches and no others', async () => {
      const [accountId, at] = [randomUUID(), newMoment()];
      const sessions = [sampleSession({ accountId }), sampleSession({ accountId }), sampleSession()] as const;
      const blocks = Array.from({ length: 5 }, (_, i) => sampleBlock(at + 10_000 * i));
      for (const session of sessions) {
        await store.openSession(session);
        await store.commit([partOf(session, [], null, blocks)]);
        await store.closeSession(session.id, 1, at);
      }
      const [gone, old, foreign] = sessions;
      const left = async ({ id }: Session) => {
        const beats = (await collected(other.sessionBeats(id))).flat();
        return [...new Set(beats.map(({ t }) => Math.floor((t - at) / 10_000)))];
      };
      expect(await store.eraseSession(gone.id)).to.equal(false);
      for (const count of [3, 2, 0])
        expect(await store.eraseReadings('beats', { sessionId: gone.id }, 3)).to.equal(count);
      expect(await store.eraseSession(gone.id)).to.equal(true);
      const which = { accountId, before: at + 30_000 };
      expect(await store.eraseReadings('beats', which, 2)).to.equal(2);
      expect(await left(old)).to.deep.equal([2, 3, 4]);
      for (const count of [1, 0]) expect(await store.eraseReadings('beats', which, 2)).to.equal(count);
      expect(await left(old)).to.deep.equal([3, 4]);
      expect(await left(foreign)).to.deep.equal([0, 1, 2, 3, 4]);
    });

    it('ends the reading of an erased session, and never continues it with the insights of a later one', async () => {
      const at = newMoment();
      const gone = await closed(store, at, 1003);
      const found: StoredInsight[][] = [];
      for await (const batch of other.sessionInsights(gone.id)) {
        found.push(batch);
        if (found.length > 1) continue;
        while (await store.eraseReadings('insights', { sessionId: gone.id }, BATCH));
        await store.eraseSession(gone.id);
        await closed(store, at, 1003);
      }
      expect(new Set(found.flat().map(({ session_id, device_id }) => `${session_id} ${device_id}`))).to.deep.equal(
        new Set([`${gone.id} ${gone.deviceId}`]),
      );
      expect(found[0]).to.not.be.empty;
      expect(found.flat()).to.have.length.below(1003);
    });

    it('leaves each device its own insights, whichever sessions are erased and opened after that', async () => {
      const [accountId, at] = [randomUUID(), newMoment()];
      const listed = async (deviceId: string) => {
        const query = { accountId, user: null, deviceId, type: null, since: at, until: null, limit: 9, cursor: null };
        return (await other.insights(query)).rows.map(({ session_id, ts }) => ({ session_id, ts }));
      };
      const ofBand = [];
      for (const i of [0, 1]) ofBand.push(await closed(store, at + i, 1, { accountId, deviceId: 'band' }));
      const [first, second] = ofBand as [Session, Session];
      const erase = async ({ id }: Session) => {
        await store.eraseReadings('insights', { sessionId: id }, 9);
        expect(await store.eraseSession(id)).to.equal(true);
      };
      await erase(first);
      const patch = await closed(store, at + 2, 1, { accountId, deviceId: 'patch' });
      expect(await listed('band')).to.deep.equal([{ session_id: second.id, ts: at + 1 }]);
      await erase(patch);
      await erase(second);
      const ring = await closed(store, at + 3, 1, { accountId, deviceId: 'ring' });
      expect(await listed('band')).to.deep.equal([]);
      expect(await listed('patch')).to.deep.equal([]);
      expect(await listed('ring')).to.deep.equal([{ session_id: ring.id, ts: at + 3 }]);
    });

    it('deletes the row of a session only if it is closed and has no insights', async () => {
      const session = await closed(store, newMoment(), 1);
      const open = await opened(store);
      expect(await store.eraseSession(session.id)).to.equal(false);
      expect(await store.eraseSession(open.id)).to.equal(false);
      await store.eraseReadings('insights', { sessionId: session.id }, 9);
      expect(await store.eraseSession(session.id)).to.equal(true);
      expect(await store.eraseSession(session.id)).to.equal(false);
      expect(await other.session(session.id)).to.equal(null);
      expect(await other.session(open.id)).to.deep.equal(open);
    });

    it('deletes the revoked keys of one user, or of the account', async () => {
      const accountId = randomUUID();
      const users = ['ann', 'ann', 'bob', null];
      const keys = users.map((user) => sampleKey({ accountId, user }));
      for (const key of keys) await store.addKey(key);
      for (const key of keys.slice(1)) await store.revokeKey(key.id, newMoment());
      expect(await store.eraseKeys(accountId, 'ann', 9)).to.equal(1);
      expect((await other.keys(accountId)).map(({ user }) => user)).to.have.members(['ann', 'bob', null]);
      for (const count of [1, 1, 0]) expect(await store.eraseKeys(accountId, null, 1)).to.equal(count);
      expect((await other.keys(accountId)).map(({ id }) => id)).to.deep.equal([keys[0]?.id]);
    });

    it('deletes an account with its devices, then models, then other rows, in batches, if it has no sessions', async () => {
      const [account, neighbour] = [sampleAccount(), sampleAccount()];
      const at = newMoment();
      const claim = (accountId: string, bodyHash: string) =>
        store.claimIdempotencyKey({ accountId, route: 'POST /x', key: 'key', bodyHash, at });
      const models = [account, account, neighbour].map(({ id }) => sampleModel({ accountId: id }));
      for (const row of [account, neighbour]) await store.createAccount(row);
      for (const model of models) {
        await store.addDeviceModel(model);
        for (let i = 0; i < 2; i++) await store.putDevice(sampleDevice(model));
      }
      for (const { id } of [account, neighbour]) {
        await claim(id, 'a');
        await store.addKey(sampleKey({ accountId: id }));
      }
      const session = await closed(store, at, 0, { accountId: account.id });
      expect(await store.eraseAccount(account.id, 9)).to.equal(null);
      await store.eraseSession(session.id);

      expect(await store.eraseAccount(account.id, 3)).to.equal(3);
      const [kept] = await other.devices(account.id);
      expect(await other.deviceModel(kept?.deviceModelId ?? '')).to.not.equal(null);
      const put = () => store.putDevice(sampleDevice(models[0] as DeviceModel), 2); // The account has one left.
      expect([await put(), await put()]).to.deep.equal(['put', 'full']);
      expect(await store.eraseAccount(account.id, 3)).to.equal(3);
      expect(await other.account(account.id)).to.deep.equal(account);
      expect(await other.keys(account.id)).to.have.length(1);
      expect(await store.eraseAccount(account.id, 3)).to.equal(2);
      expect(await store.eraseAccount(account.id, 3)).to.equal(null);
      const left = async (id: string) => [
        await other.account(id),
        (await other.keys(id)).length,
        (await other.devices(id)).length,
        await other.deviceModel(models.find(({ accountId }) => accountId === id)?.id ?? ''),
        (await claim(id, 'another')).state,
      ];
      expect(await left(account.id)).to.deep.equal([null, 0, 0, null, 'fresh']);
      expect(await left(neighbour.id)).to.deep.equal([neighbour, 1, 2, models[2], 'conflict']);
    });
  });
}
