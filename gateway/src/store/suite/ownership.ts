import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { atOnce, type Handles, newMoment, opened, sampleSession } from './samples.js';

export function ownershipSuite({ store, other }: Handles): void {
  describe('owners of sessions', () => {
    it('change by a claim with the current epoch', async () => {
      const session = await opened(store);
      const gateway = randomUUID();
      const claimed = { ...session, gateway, epoch: 2 };
      expect(await other.claimSession(session.id, 1, gateway)).to.deep.equal(claimed);
      expect(await store.session(session.id)).to.deep.equal(claimed);
      expect(await store.claimSession(session.id, 1, randomUUID())).to.equal(null);
    });

    it('do not change if the session is closed or unknown', async () => {
      const session = await opened(store);
      await store.closeSession(session.id, 1, newMoment());
      expect(await store.claimSession(session.id, 1, randomUUID())).to.equal(null);
      expect(await store.claimSession(randomUUID(), 1, randomUUID())).to.equal(null);
    });

    it('change one at a time for simultaneous claims', async () => {
      const session = await opened(store);
      for (const epoch of [1, 2, 3]) {
        const claims = await atOnce(8, [store, other], (handle, i) =>
          handle.claimSession(session.id, epoch, `gateway ${i}`),
        );
        const winners = claims.filter((claim) => claim !== null);
        expect(winners).to.have.length(1);
        expect(await store.session(session.id)).to.deep.equal(winners[0]);
      }
    });

    it('cannot both close and hand over a session', async () => {
      for (let round = 0; round < 6; round++) {
        const session = await opened(store);
        const [closed, claimed] = await Promise.all([
          store.closeSession(session.id, 1, newMoment()),
          other.claimSession(session.id, 1, randomUUID()),
        ]);
        expect(closed).to.equal(claimed === null);
      }
    });

    it('get each session that was taken from them, once', async () => {
      const [session, another] = [sampleSession(), sampleSession()];
      const [second, third] = [randomUUID(), randomUUID()];
      await store.openSession(session);
      await store.openSession({ ...another, gateway: session.gateway });
      await store.claimSession(session.id, 1, second);
      await store.claimSession(session.id, 2, third);
      expect(await other.takenSessions(session.gateway)).to.deep.equal([{ id: session.id, epoch: 2 }]);
      expect(await store.takenSessions(session.gateway)).to.deep.equal([]);
      expect(await other.takenSessions(second)).to.deep.equal([{ id: session.id, epoch: 3 }]);
      expect(await other.takenSessions(third)).to.deep.equal([]);
      await store.claimSession(session.id, 3, session.gateway);
      await store.claimSession(session.id, 4, second);
      await store.claimSession(another.id, 1, second);
      expect(await other.takenSessions(session.gateway)).to.have.deep.members([
        { id: session.id, epoch: 5 },
        { id: another.id, epoch: 2 },
      ]);
    });

    it('get the newest 20 take-overs of a session', async () => {
      const session = sampleSession();
      const second = randomUUID();
      await store.openSession(session);
      for (let epoch = 1; epoch <= 44; epoch++) {
        const gateway = epoch % 2 === 1 ? second : session.gateway;
        await store.claimSession(session.id, epoch, gateway);
      }
      const taken = [...(await other.takenSessions(session.gateway)), ...(await other.takenSessions(second))];
      const epochs = taken.map(({ epoch }) => epoch).sort((x, y) => x - y);
      expect(epochs).to.deep.equal(Array.from({ length: 20 }, (_, i) => 26 + i));
    });

    it('do not get their own claims', async () => {
      const session = await opened(store);
      expect((await store.claimSession(session.id, 1, session.gateway))?.epoch).to.equal(2);
      expect(await store.takenSessions(session.gateway)).to.deep.equal([]);
    });

    it('list the open sessions of other gateways, oldest first', async () => {
      const at = newMoment();
      const [late, early, mine, closed] = [2, 1, 0, 0].map((age) => sampleSession({ startedAt: at + age }));
      if (!late || !early || !mine || !closed) throw new Error('four sessions');
      for (const session of [late, early, mine, closed]) await store.openSession(session);
      await store.closeSession(closed.id, 1, at);
      const ours = new Set([late, early, mine, closed].map(({ id }) => id));
      const found = await other.openSessionsOfOthers([mine.gateway, randomUUID()]);
      expect(found.filter(({ id }) => ours.has(id))).to.deep.equal([early, late]);
    });
  });

  describe('gateways', () => {
    it('have a heartbeat, which also goes back if their clock does', async () => {
      const [one, two] = [randomUUID(), randomUUID()];
      const at = newMoment();
      await store.beat(one, at);
      await store.beat(two, at + 1);
      await store.beat(one, at - 1000);
      const beats = await other.beats();
      expect([beats.get(one), beats.get(two), beats.get(randomUUID())]).to.deep.equal([at - 1000, at + 1, undefined]);
    });

    it('can ask the clock of the server, if it has one of its own', async () => {
      const now = await store.serverTime();
      if (now !== null) expect(now).to.be.closeTo(Date.now(), 5000);
    });

    it('are forgotten on request if their heartbeat is old, and only then', async () => {
      const [old, young] = [randomUUID(), randomUUID()];
      const at = newMoment();
      await store.beat(old, at - 100_000);
      await store.beat(young, at - 90_000);
      await store.beat(randomUUID(), at + 86_400_000 * 365);
      expect([...(await store.beats()).keys()]).to.include.members([old, young]);
      await store.forgetGateways(at - 90_000);
      const beats = await other.beats();
      expect([beats.has(old), beats.get(young)]).to.deep.equal([false, at - 90_000]);
    });
  });
}
