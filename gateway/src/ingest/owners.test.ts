import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Heartbeats } from '../peers/heartbeats.js';
import { sampleSession } from '../store/suite/samples.js';
import { Owners } from './owners.js';

describe('the owners of sessions', () => {
  it('that began while the sessions of others were looked up are not dead', async () => {
    const clock = new ManualClock(1_763_600_000_000);
    const beats = new Map<string, number>();
    let others = ['dead'];
    const store = {
      beats: async () => new Map(beats),
      openSessionsOfOthers: async () => {
        if (others.includes('new')) beats.set('new', clock.now());
        return others.map((gateway) => sampleSession({ gateway }));
      },
    };
    const publisher = { declareLoss: () => undefined };
    const owners = new Owners({
      store,
      heartbeats: new Heartbeats(store, clock),
      publisher,
      clock,
      gateway: 'own',
      graceMs: 60_000,
    });
    await owners.orphans();
    clock.advance(5000);
    const orphans = async () => (await owners.orphans()).map(({ gateway }) => gateway);
    expect(await orphans()).to.deep.equal(['dead']);
    others = ['dead', 'new'];
    expect(await orphans()).to.deep.equal(['dead']);
  });
});
