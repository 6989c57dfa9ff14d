import { expect } from 'chai';
import { until } from './bench.fixture.js';
import { Turns, type Worker } from './turns.js';

/** A publisher as far as turns see it. */
class Gate {
  accepting = true;
  queued = 0;
  #reliefs: (() => void)[] = [];

  onRelief(run: () => void): void {
    this.#reliefs.push(run);
  }

  open(): void {
    this.accepting = true;
    for (const run of this.#reliefs.splice(0)) run();
  }
}

/** Keeps the processor for some milliseconds. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('Turns', () => {
  it('let a worker continue until it has no more work, and again when it is added', async () => {
    const turns = new Turns(new Gate());
    let steps = 0;
    const worker: Worker = { isWaiting: false, step: () => ++steps % 5 !== 0 };
    turns.add(worker);
    await until(() => steps === 5);
    turns.add(worker);
    await until(() => steps === 10);
  });

  it('serve the other workers while one has endless work', async () => {
    const turns = new Turns(new Gate());
    let flooding = true;
    let floods = 0;
    const flood: Worker = {
      isWaiting: false,
      step: () => {
        compute(0.1);
        floods += 1;
        return flooding;
      },
    };
    const served: number[] = [];
    turns.add(flood);
    for (let i = 0; i < 20; i++) turns.add({ isWaiting: false, step: () => served.push(floods) < 0 });
    await until(() => served.length === 20);
    flooding = false;
    expect(Math.max(...served)).to.be.lessThan(200);
  });

  it('return to the event loop although work is left', async () => {
    const turns = new Turns(new Gate());
    let flooding = true;
    let steps = 0;
    turns.add({ isWaiting: false, step: () => ++steps > 0 && flooding });
    await new Promise((resolve) => setImmediate(resolve));
    flooding = false;
    expect(steps).to.be.greaterThan(0);
  });

  it('stop while the publisher does not accept readings, and continue when it does', async () => {
    const gate = new Gate();
    const turns = new Turns(gate);
    let steps = 0;
    turns.add({
      isWaiting: false,
      step: () => {
        steps += 1;
        gate.accepting = steps !== 3;
        return true;
      },
    });
    await until(() => steps === 3);
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(steps).to.equal(3);
    gate.open();
    await until(() => steps > 3);
    gate.accepting = false;
  });

  it('give a few milliseconds without a turn, and new ones after the next turn', async () => {
    const turns = new Turns(new Gate());
    expect(turns.hasTime()).to.equal(true);
    compute(5);
    expect(turns.hasTime()).to.equal(false);
    turns.add({ isWaiting: false, step: () => false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.hasTime()).to.equal(true);
  });

  it('forget a worker that is removed', async () => {
    const turns = new Turns(new Gate());
    let steps = 0;
    const worker: Worker = { isWaiting: false, step: () => ++steps > 0 };
    turns.add(worker);
    turns.remove(worker);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).to.equal(0);
  });

  it('wake the process for messages once a millisecond at most', async () => {
    const turns = new Turns(new Gate());
    const start = performance.now();
    for (let round = 0; round < 20; round++) await messages(turns);
    expect(performance.now() - start).to.be.at.least(18);
  });

  it('let the process wake for each message while a reading waits to be stored', async () => {
    const gate = new Gate();
    gate.queued = 1;
    const turns = new Turns(gate);
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
async function messages(turns: Turns): Promise<void> {
  turns.hasTime();
  turns.hasTime();
  await new Promise((resolve) => setImmediate(resolve));
}
