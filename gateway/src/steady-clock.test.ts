import { ManualClock } from '@device-insights/fanout/process/manual-clock';
import { expect } from 'chai';
import { SteadyClock } from './steady-clock.js';

const HOUR_MS = 3_600_000;

describe('a steady clock', () => {
  it('has run for an hour, from the start', () => {
    const clock = new ManualClock();
    const steady = new SteadyClock(clock);
    expect(steady.isSteady()).to.equal(false);
    clock.advance(HOUR_MS - 1);
    expect(steady.isSteady()).to.equal(false);
    clock.advance(1);
    expect(steady.isSteady()).to.equal(true);
  });

  for (const [direction, sign] of [
    ['forward', 1],
    ['back', -1],
  ] as const)
    it(`is one that was not set ${direction} within the hour, except by less than a minute`, () => {
      const clock = new ManualClock();
      const steady = new SteadyClock(clock);
      clock.advance(HOUR_MS);
      clock.step(sign * 59_000);
      expect(steady.isSteady()).to.equal(true);
      clock.step(sign * 61_000);
      expect(steady.isSteady()).to.equal(false);
      clock.advance(HOUR_MS - 1);
      expect(steady.isSteady()).to.equal(false);
      clock.advance(1);
      expect(steady.isSteady()).to.equal(true);
    });
});
