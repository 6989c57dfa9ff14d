import { ManualClock } from '@device-insights/fanout/process/manual-clock';
import { expect } from 'chai';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import { SplitFeed } from './split-feed.js';

describe('a live feed within one process', () => {
  it('is split while another gateway has heartbeats in the same store', async () => {
    const clock = new ManualClock(1_000_000);
    const store = await openTemporaryStore(clock);
    await store.beat('former', clock.now());
    const feed = new SplitFeed(store, clock, 'me');
    clock.advance(1000);
    await store.beat('me', clock.now());
    await feed.look();
    expect(() => feed.check()).not.to.throw();
    await store.beat('other', clock.now() - 3_600_000);
    await feed.look();
    expect(() => feed.check()).to.throw(/REDIS_URL/);
    clock.advance(3001);
    await feed.look();
    expect(() => feed.check()).not.to.throw();
    await store.close();
  });
});
