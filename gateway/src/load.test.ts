import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { loadOf } from './load.js';

describe('the load of a process', () => {
  it('is told in rounded numbers, none of which is negative', async () => {
    const clock = new ManualClock();
    const ingest = { connections: 0, sessions: 0 };
    const core = { coreSeconds: 0, sessionSeconds: 0 };
    const load = loadOf({ ingest, publisher: { queued: 0 }, core, fanout: null, maxSessions: 1, clock });
    await load.look();
    clock.advance(1000);
    const seen = await load.look(); // Before the timer of the delay was due: there is no value yet.
    load.close();
    for (const value of Object.values(seen)) expect(value === null || value >= 0, `${value}`).to.equal(true);
    for (const value of [seen.cpu, seen.event_loop_delay_ms, seen.uptime_s])
      expect(`${value}`).to.match(/^\d+(\.\d\d?)?$/);
  });
});
