import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { ForwardClock } from './forward-clock.js';

const START = 1_763_600_000_000;
const HOUR = 3_600_000;

describe('a clock that never goes back', () => {
  it('follows the wall clock, also when that is set forward', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 0.5);
    expect(clock.now()).to.equal(START);
    wall.advance(1001);
    expect(clock.now()).to.equal(START + 1001);
    wall.step(HOUR);
    expect(clock.now()).to.equal(START + 1001 + HOUR);
  });

  it('continues at its pace if the wall clock is set back, until the wall clock has caught up', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 0.5);
    clock.now();
    wall.step(-1000);
    expect(clock.now()).to.equal(START);
    for (let ms = 1; ms <= 1999; ms++) {
      wall.advance(1);
      expect(clock.now()).to.equal(START + Math.floor(ms / 2));
    }
    wall.advance(101);
    expect(clock.now()).to.equal(wall.now());
  });

  it('tells how far it is ahead, without a step', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 0.5);
    expect(clock.aheadMs).to.equal(0);
    clock.now();
    wall.step(-HOUR);
    expect(clock.aheadMs).to.equal(HOUR);
    wall.advance(1000);
    expect(clock.aheadMs).to.equal(HOUR - 500);
    wall.step(2 * HOUR);
    expect(clock.aheadMs).to.equal(0);
    wall.step(-2 * HOUR);
    wall.advance(2 * HOUR);
    expect(clock.now()).to.equal(wall.now());
  });

  it('can begin in the future', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 1, START + HOUR);
    wall.advance(10);
    expect(clock.now()).to.equal(START + HOUR + 10);
  });
});
