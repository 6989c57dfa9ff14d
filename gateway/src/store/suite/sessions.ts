import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { BadCursor, type Session, type SessionQuery } from '../store.js';
import {
  allPages,
  atOnce,
  type Handles,
  NO_PROGRESS,
  newMoment,
  opened,
  partOf,
  rejection,
  sampleInsight,
  sampleSession,
} from './samples.js';

export function sessionSuite({ store, other }: Handles): void {
  const query = (fields: Partial<SessionQuery>): SessionQuery => ({
    accountId: '',
    user: null,
    status: null,
    limit: 50,
    cursor: null,
    ...fields,
  });

  describe('sessions', () => {
    it('keeps a session exactly', async () => {
      const session = sampleSession({
        user: 'ann',
        spo2Curve: [110, -25],
        algorithms: ['hr-ppg'],
        progress: {
          clockShift: -0.25,
          originWithoutClock: 1,
          firstInstant: 2.5,
          nextSeq: { '0': 7 },
          lastDataAt: 3,
          handedOverBy: 1,
        },
      });
      expect(await store.openSession(session)).to.equal(true);
      expect(await other.session(session.id)).to.deep.equal(session);
      expect(await other.openSessionOf(session.accountId, session.deviceId)).to.deep.equal(session);
      expect(await other.session(sampleSession().id)).to.equal(null);
    });

    it('opens one session for a device, even for simultaneous connections', async () => {
      const { accountId, deviceId } = sampleSession();
      const open = await atOnce(10, [store, other], (handle) =>
        handle.openSession(sampleSession({ accountId, deviceId })),
      );
      expect(open.filter(Boolean)).to.have.length(1);
      expect(await store.openSession(sampleSession({ deviceId }))).to.equal(true);
    });

    it('opens the next session of a device once the last is closed', async () => {
      const session = sampleSession();
      const next = sampleSession({ accountId: session.accountId, deviceId: session.deviceId });
      await store.openSession(session);
      const endedAt = newMoment();
      expect(await store.closeSession(session.id, 1, endedAt)).to.equal(true);
      expect(await other.session(session.id)).to.deep.equal({ ...session, status: 'closed', endedAt });
      expect(await other.openSessionOf(session.accountId, session.deviceId)).to.equal(null);
      expect(await other.openSession(next)).to.equal(true);
    });

    it('leaves no row of a session that ends without data, unless it has insights', async () => {
      const empty = await opened(store);
      expect(await store.closeSession(empty.id, 2, null)).to.equal(false);
      expect(await other.session(empty.id)).to.deep.equal(empty);
      expect(await store.closeSession(empty.id, 1, null)).to.equal(true);
      expect(await other.session(empty.id)).to.equal(null);
      expect(await store.closeSession(empty.id, 1, null)).to.equal(false);
      expect(await other.openSession({ ...empty, id: sampleSession().id })).to.equal(true);
      const session = await opened(store);
      await store.commit([partOf(session, [sampleInsight(session, session.startedAt)])]);
      expect(await store.closeSession(session.id, 1, null)).to.equal(true);
      expect(await other.session(session.id)).to.include({ status: 'closed', endedAt: session.startedAt });
    });

    it('closes a session once, and only for its owner', async () => {
      const session = await opened(store, { epoch: 3 });
      expect(await store.closeSession(session.id, 2, newMoment())).to.equal(false);
      const closed = await atOnce(6, [store, other], (handle) => handle.closeSession(session.id, 3, newMoment()));
      expect(closed.filter(Boolean)).to.have.length(1);
    });
  });

  describe('lists of sessions', () => {
    let accountId: string;
    let all: Session[];

    before(async () => {
      accountId = sampleSession().accountId;
      const startedAt = newMoment();
      const fields = (i: number) => ({ accountId, user: i % 3 ? 'ann' : null, startedAt: startedAt + (i % 3) });
      all = Array.from({ length: 21 }, (_, i) => sampleSession(fields(i)));
      for (const session of [...all, sampleSession({ startedAt })]) await store.openSession(session);
      for (const [i, session] of all.entries())
        if (i % 2 && (await store.closeSession(session.id, 1, startedAt + 9)))
          all[i] = { ...session, status: 'closed', endedAt: startedAt + 9 };
      all.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1));
    });

    it('are newest first, then by id, without a lost or repeated row over pages', async () => {
      const pages = await allPages((cursor) => store.sessions(query({ accountId, cursor, limit: 4 })));
      expect(pages.map((page) => page.length)).to.deep.equal([4, 4, 4, 4, 4, 1]);
      expect(pages.flat()).to.deep.equal(all);
    });

    it('can end with a full page', async () => {
      const pages = await allPages((cursor) => store.sessions(query({ accountId, cursor, limit: 7 })));
      expect(pages.map((page) => page.length)).to.deep.equal([7, 7, 7]);
    });

    it('can show one user, one status, or both', async () => {
      for (const user of ['ann', null])
        for (const status of ['open', 'closed', null] as const) {
          const expected = all.filter((s) => (!user || s.user === user) && (!status || s.status === status));
          const pages = await allPages((cursor) =>
            store.sessions(query({ accountId, user, status, cursor, limit: 3 })),
          );
          expect(pages.flat()).to.deep.equal(expected);
        }
    });

    it('can show one device, and the sessions that started within an interval', async () => {
      const [first] = all;
      const { deviceId = '', startedAt = 0 } = first ?? {};
      const list = async (fields: Partial<SessionQuery>) =>
        (await allPages((cursor) => store.sessions(query({ accountId, cursor, limit: 5, ...fields })))).flat();
      expect(await list({ deviceId })).to.deep.equal([first]);
      expect(await list({ deviceId, status: 'open' })).to.deep.equal(first?.status === 'open' ? [first] : []);
      expect(await list({ since: startedAt })).to.deep.equal(all.filter((s) => s.startedAt >= startedAt));
      expect(await list({ until: startedAt })).to.deep.equal(all.filter((s) => s.startedAt < startedAt));
      expect(await list({ since: startedAt - 1, until: startedAt, status: 'closed' })).to.deep.equal(
        all.filter((s) => s.startedAt === startedAt - 1 && s.status === 'closed'),
      );
    });

    it('can show those whose data overlap an interval, whenever they were sent', async () => {
      const [owner, at] = [randomUUID(), newMoment()];
      const spans = [[10, 20.5], [30, 40], null] as const;
      const made = spans.map((span, i) =>
        sampleSession({
          accountId: owner,
          startedAt: at - i,
          progress: { ...NO_PROGRESS, ...(span && { firstInstant: at + span[0], lastInstant: at + span[1] }) },
        }),
      );
      for (const session of made) await store.openSession(session);
      const list = async (from: number | null, to: number | null) => {
        const [dataSince, dataUntil] = [from, to].map((time) => (time === null ? null : at + time));
        const pages = await allPages((cursor) =>
          store.sessions(
            query({ accountId: owner, dataSince: dataSince ?? null, dataUntil: dataUntil ?? null, cursor, limit: 1 }),
          ),
        );
        return pages.flat().map(({ id }) => made.findIndex((session) => session.id === id));
      };
      expect(await list(0, 100)).to.deep.equal([0, 1]);
      expect(await list(20.5, 30)).to.deep.equal([0]);
      expect(await list(20.75, 30.5)).to.deep.equal([1]);
      expect(await list(41, null)).to.deep.equal([]);
      expect(await list(null, 10)).to.deep.equal([]);
      expect(await list(null, null)).to.deep.equal([0, 1, 2]);
    });

    it('are empty for an account or a user without sessions', async () => {
      expect(await store.sessions(query({ accountId: 'nobody' }))).to.deep.equal({ rows: [], next: null });
      expect(await store.sessions(query({ accountId, user: 'bob' }))).to.deep.equal({ rows: [], next: null });
    });

    it('refuse a foreign cursor', async () => {
      const foreign = Buffer.from(JSON.stringify(['insights', 1, 'x'])).toString('base64url');
      const wrong = Buffer.from(JSON.stringify(['sessions', 'x', 1])).toString('base64url');
      for (const cursor of ['', 'x', '%00', foreign, wrong, 'bnVsbA'])
        expect(await rejection(store.sessions(query({ accountId, cursor })))).to.be.instanceOf(BadCursor);
    });
  });
}
