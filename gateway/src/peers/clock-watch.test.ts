import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { ClockWatch } from './clock-watch.js';
import { Heartbeats } from './heartbeats.js';

const START = 1_000_000_000;

describe('the watch of the clocks', () => {
  let clock: ManualClock;
  let beats: Map<string, number>;
  let aheadMs: number;
  /** Time by which the store's own clock is ahead, ms; null without one. */
  let serverMs: number | null;
  let lines: string[];
  let watch: ClockWatch;
  beforeEach(() => {
    clock = new ManualClock(START);
    beats = new Map();
    aheadMs = 0;
    serverMs = null;
    lines = [];
    const log = {
      error: (_: object, text: string) => lines.push(text),
      warn: (_: object, text: string) => lines.push(text),
      info: (_: object, text: string) => lines.push(text),
    };
    const publisher = {
      get aheadMs() {
        return aheadMs;
      },
    };
    const store = { serverTime: async () => (serverMs === null ? null : clock.now() + serverMs) };
    const heartbeats = new Heartbeats({ beats: async () => new Map(beats) }, clock);
    watch = new ClockWatch({ heartbeats, store, gateway: 'me', publisher, clock, log });
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

  /** Some seconds, with heartbeats of other gateways whose clocks are so far ahead, ms. */
  async function seconds(...offsets: number[]): Promise<void> {
    for (let i = 0; i < 3; i++) {
      clock.advance(1000);
      offsets.forEach((offset, n) => void beats.set(`other ${n}`, clock.now() + offset));
      await watch.look();
    }
  }

  const HOUR_MS = 3_600_000;
  const cases: readonly [what: string, others: number[], store: number | null, errorMs: number][] = [
    ['that is an hour ahead of two others', [-HOUR_MS, -HOUR_MS - 900], null, HOUR_MS],
    ['that is two minutes behind two others', [120_000, 120_000], null, -120_000],
    ['that is an hour ahead of another one and of the store', [-HOUR_MS], -HOUR_MS, HOUR_MS],
    ['that is alone, and an hour ahead of the store', [], -HOUR_MS, HOUR_MS],
    ['that agrees with the store, though two others do not', [HOUR_MS, HOUR_MS], 0, 0],
  ];
  for (const [what, others, store, errorMs] of cases)
    it(`names the clock ${what}: ${errorMs === 0 ? 'not this one' : 'this one'}`, async () => {
      serverMs = store;
      await seconds(...others);
      expect(watch.errorMs).to.be.closeTo(errorMs, 1000);
      if (errorMs === 0) return watch.check();
      const side = errorMs > 0 ? 'ahead of' : 'behind';
      expect(() => watch.check()).to.throw(`${Math.abs(errorMs) / 1000} s ${side} most clocks`);
      expect(lines.filter((line) => line.includes('of this gateway is wrong'))).to.have.length(1);
      serverMs = 0;
      await seconds(...others.map(() => 0));
      watch.check();
    });

  it('does not call itself behind a gateway whose clock is wrong, as most agree with this one', async () => {
    await watch.look();
    await seconds(0, HOUR_MS);
    serverMs = 20;
    await seconds(-900, HOUR_MS);
    expect([watch.errorMs, watch.behindMs]).to.deep.equal([0, 0]);
    expect(lines).to.deep.equal([]);
  });

  it('names none of two gateways without a third clock', async () => {
    await seconds(-HOUR_MS);
    expect(watch.errorMs).to.equal(0);
    watch.check();
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
