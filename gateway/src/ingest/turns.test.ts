import { compute, TestGate } from '@device-insights/fanout/process/fair-scheduler.fixture';
import { expect } from 'chai';
import { SessionTurns } from './turns.js';

/** A publisher as far as the turns see it. */
class Gate extends TestGate {
  queued = 0;
}

describe('SessionTurns', () => {
  it('give a few milliseconds without a turn, and new ones after the next turn', async () => {
    const turns = new SessionTurns(new Gate());
    expect(turns.hasTime()).to.equal(true);
    compute(5);
    expect(turns.hasTime()).to.equal(false);
    turns.add({ account: 'a', isWaiting: false, step: () => false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.hasTime()).to.equal(true);
  });

  it('wake the process for messages once a millisecond at most', async () => {
    const turns = new SessionTurns(new Gate());
    const start = performance.now();
    for (let round = 0; round < 20; round++) await messages(turns);
    expect(performance.now() - start).to.be.at.least(18);
  });

  it('let the process wake for each message while a reading waits to be stored', async () => {
    const gate = new Gate();
    gate.queued = 1;
    const turns = new SessionTurns(gate);
    const { wait } = Atomics;
    let rests = 0;
    Atomics.wait = () => {
      rests += 1;
      return 'timed-out';
    };
    try {
      for (let round = 0; round < 20; round++) await messages(turns);
    } finally {
      Atomics.wait = wait;
    }
    expect(rests).to.equal(0);
  });
});

/** A round of the event loop in which messages arrive. */
async function messages(turns: SessionTurns): Promise<void> {
  turns.hasTime();
  turns.hasTime();
  await new Promise((resolve) => setImmediate(resolve));
}
