import { compute, TestGate } from '@device-insights/fanout/platform/fair-scheduler.fixture';
import { expect } from 'chai';
import { SessionScheduler } from './session-scheduler.js';

/** A publisher as far as the turns see it. */
class Gate extends TestGate {
  queued = 0;
}

describe('the scheduler of the sessions', () => {
  it('gives a few milliseconds without a turn, and new ones after the next turn', async () => {
    const scheduler = new SessionScheduler(new Gate());
    expect(scheduler.hasTime()).to.equal(true);
    compute(5);
    expect(scheduler.hasTime()).to.equal(false);
    scheduler.add({ account: 'a', isWaiting: false, step: () => false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(scheduler.hasTime()).to.equal(true);
  });

  it('wakes the process for messages once a millisecond at most', async () => {
    const scheduler = new SessionScheduler(new Gate());
    const start = performance.now();
    for (let round = 0; round < 20; round++) await messages(scheduler);
    expect(performance.now() - start).to.be.at.least(18);
  });

  it('lets the process wake for each message while a reading waits to be stored', async () => {
    const gate = new Gate();
    gate.queued = 1;
    const scheduler = new SessionScheduler(gate);
    const { wait } = Atomics;
    let rests = 0;
    Atomics.wait = () => {
      rests += 1;
      return 'timed-out';
    };
    try {
      for (let round = 0; round < 20; round++) await messages(scheduler);
    } finally {
      Atomics.wait = wait;
    }
    expect(rests).to.equal(0);
  });
});

/** A round of the event loop in which messages arrive. */
async function messages(scheduler: SessionScheduler): Promise<void> {
  scheduler.hasTime();
  scheduler.hasTime();
  await new Promise((resolve) => setImmediate(resolve));
}
