import { ManualClock } from '@device-insights/fanout/platform/manual-clock';
import { expect } from 'chai';
import { ClockWatch } from './clock-watch.js';
import { Heartbeats } from './heartbeats.js';

const START = 1_000_000_000;

describe('the watch of the clocks', () => {
  let clock: ManualClock;
  let beats: Map<string, number>;
  let aheadMs: number;
  let lines: string[];
  let watch: ClockWatch;
  beforeEach(() => {
    clock = new ManualClock(START);
    beats = new Map();
    aheadMs = 0;
    lines = [];
    const log = {
      warn: (_: object, text: string) => lines.push(text),
      info: (_: object, text: string) => lines.push(text),
    };
    const publisher = {
      get aheadMs() {
        return aheadMs;
      },
    };
    const heartbeats = new Heartbeats({ beats: async () => new Map(beats) }, clock);
    watch = new ClockWatch({ heartbeats, gateway: 'me', publisher, clock, log });
  });

  /** A second later, with heartbeats of another gateway whose clock is `offset` ms ahead. */
  async function second(offset: number | null): Promise<void> {
    clock.advance(1000);
    beats.set('me', clock.now());
    if (offset !== null) beats.set('other', clock.now() + offset);
    await watch.look();
  }

  it('tells once by how much another gateway is ahead, and when the clocks agree again', async () => {
    await watch.look();
    for (let i = 0; i < 3; i++) await second(60_000);
    expect(watch.behindMs).to.equal(60_000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/behind another gateway/);
    await second(0);
    expect(watch.behindMs).to.equal(0);
    expect(lines[1]).to.equal('the clocks agree again');
  });

  it('does not mind a gateway that is behind or that is no longer alive, nor the age of a heartbeat', async () => {
    await second(null);
    for (const offset of [-60_000, -3000, 1500]) {
      await second(offset);
      expect(watch.differenceMs).to.equal(Math.abs(offset));
    }
    expect(lines).to.deep.equal([]);
    await second(60_000);
    for (let i = 0; i < 4; i++) await second(null);
    expect(watch.behindMs).to.equal(0);
    expect(lines).to.have.length(2);
  });

  it('tells at the start that the clock was ahead when the store was last used', async () => {
    beats.set('former', START + 3_600_000);
    for (let i = 0; i < 3; i++) await second(null);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/a gateway of this store had a clock that is ahead/);
    expect(watch.behindMs).to.equal(0);
  });

  it('does not take its own heartbeat for that of a gateway which is ahead, when the clock is set back', async () => {
    await watch.look();
    for (let i = 0; i < 2; i++) await second(null);
    clock.step(-3_600_000);
    aheadMs = 3_600_000;
    await watch.look(); // Before the next heartbeat is written.
    expect(watch.behindMs).to.equal(3_600_000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/was set back/);
  });

  it('tells that the clock was set back, while the stamps of insights are ahead of it', async () => {
    await second(null);
    aheadMs = 3_600_000;
    for (let i = 0; i < 2; i++) await second(null);
    expect(watch.behindMs).to.equal(3_600_000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/was set back/);
  });
});
