import { expect } from 'chai';
import { ForwardClock } from './forward-clock.js';
import { ManualClock } from './manual-clock.js';

const START = 1_763_600_000_000;
const HOUR = 3_600_000;

describe('a clock that never goes back', () => {
  it('tells the wall clock’s time, set forward too', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 0.5);
    expect(clock.now()).to.equal(START);
    wall.advance(1001);
    expect(clock.now()).to.equal(START + 1001);
    wall.step(HOUR);
    expect(clock.now()).to.equal(START + 1001 + HOUR);
  });

  it('goes on at its pace where the wall clock is set back, until that has caught up', () => {
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

  it('begins at a moment that lies ahead', () => {
    const wall = new ManualClock(START);
    const clock = new ForwardClock(wall, 1, START + HOUR);
    wall.advance(10);
    expect(clock.now()).to.equal(START + HOUR + 10);
  });
});
