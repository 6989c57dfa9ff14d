import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Handles } from '../suite.js';
import { atOnce, newMoment, sampleSession } from './samples.js';

export function ownershipSuite(handles: () => Handles): void {
  describe('owners of sessions', () => {
    it('are changed by a claim that knows the epoch', async () => {
      const { store, other } = handles();
      const session = sampleSession();
      await store.openSession(session);
      const gateway = randomUUID();
      const claimed = { ...session, gateway, epoch: 2 };
      expect(await other.claimSession(session.id, 1, gateway, newMoment())).to.deep.equal(claimed);
      expect(await store.session(session.id)).to.deep.equal(claimed);
      expect(await store.claimSession(session.id, 1, randomUUID(), newMoment())).to.equal(null);
    });

    it('are not changed where the session is closed or unknown', async () => {
      const { store } = handles();
      const session = sampleSession();
      await store.openSession(session);
      await store.closeSession(session.id, 1, newMoment());
      expect(await store.claimSession(session.id, 1, randomUUID(), newMoment())).to.equal(null);
      expect(await store.claimSession(randomUUID(), 1, randomUUID(), newMoment())).to.equal(null);
    });

    it('come one at a time, however many claim at once', async () => {
      const { store, other } = handles();
      const session = sampleSession();
      await store.openSession(session);
      for (const epoch of [1, 2, 3]) {
        const claims = await atOnce(8, [store, other], (handle, i) =>
          handle.claimSession(session.id, epoch, `gateway ${i}`, newMoment()),
        );
        const winners = claims.filter((claim) => claim !== null);
        expect(winners).to.have.length(1);
        expect(await store.session(session.id)).to.deep.equal(winners[0]);
      }
    });

    it('cannot both close and hand over a session', async () => {
      const { store, other } = handles();
      for (let round = 0; round < 6; round++) {
        const session = sampleSession();
        await store.openSession(session);
        const [closed, claimed] = await Promise.all([
          store.closeSession(session.id, 1, newMoment()),
          other.claimSession(session.id, 1, randomUUID(), newMoment()),
        ]);
        expect(closed).to.equal(claimed === null);
      }
    });

    it('learn what was taken from them, each time and since when', async () => {
      const { store, other } = handles();
      const session = sampleSession();
      const [second, third] = [randomUUID(), randomUUID()];
      const at = newMoment();
      await store.openSession(session);
      await store.claimSession(session.id, 1, second, at);
      await store.claimSession(session.id, 2, third, at + 10);
      expect(await other.sessionsTakenFrom(session.gateway, at)).to.deep.equal([{ id: session.id, epoch: 2 }]);
      expect(await other.sessionsTakenFrom(second, at)).to.deep.equal([{ id: session.id, epoch: 3 }]);
      expect(await other.sessionsTakenFrom(second, at + 11)).to.deep.equal([]);
      expect(await other.sessionsTakenFrom(third, at)).to.deep.equal([]);
    });

    it('take nothing from themselves', async () => {
      const { store } = handles();
      const session = sampleSession();
      const at = newMoment();
      await store.openSession(session);
      expect((await store.claimSession(session.id, 1, session.gateway, at))?.epoch).to.equal(2);
      expect(await store.sessionsTakenFrom(session.gateway, at)).to.deep.equal([]);
    });
  });

  describe('gateways', () => {
    it('live from beat to beat', async () => {
      const { store, other } = handles();
      const [early, late] = [randomUUID(), randomUUID()];
      const at = newMoment();
      await store.beat(early, at);
      await store.beat(late, at + 1);
      expect(await other.gatewaysSince(at + 1)).to.deep.equal([late]);
      expect(await other.gatewaysSince(at)).to.have.members([early, late]);
      await store.beat(early, at + 2);
      await store.beat(early, at);
      expect(await other.gatewaysSince(at + 2)).to.deep.equal([early]);
    });

    it('leave orphans when they fall silent, or never spoke', async () => {
      const { store, other } = handles();
      const at = newMoment();
      const [live, silent, mute, closed] = [0, 1, 2, 3].map(() => sampleSession());
      if (!live || !silent || !mute || !closed) throw new Error('four sessions');
      for (const session of [live, silent, mute, closed]) await store.openSession(session);
      await store.closeSession(closed.id, 1, at);
      await store.beat(silent.gateway, at - 1);
      await store.beat(live.gateway, at);
      const orphans = (await other.orphanedSessions(at)).filter((s) =>
        [live, silent, mute, closed].some((m) => m.id === s.id),
      );
      expect(orphans).to.have.deep.members([silent, mute]);
    });
  });
}
