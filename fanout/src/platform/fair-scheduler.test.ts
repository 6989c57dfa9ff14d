import { expect } from 'chai';
import { compute, TestGate } from './fair-scheduler.fixture.js';
import { FairScheduler, type Worker } from './fair-scheduler.js';
import { until } from './until.fixture.js';

describe('the fair scheduler', () => {
  it('lets a worker continue until it has no more work, and again when it is added', async () => {
    const turns = new FairScheduler();
    let steps = 0;
    const worker: Worker = { account: 'a', isWaiting: false, step: () => ++steps % 5 !== 0 };
    turns.add(worker);
    await until(() => steps === 5);
    turns.add(worker);
    await until(() => steps === 10);
  });

  it('serves the other workers while one has endless work', async () => {
    const turns = new FairScheduler();
    let flooding = true;
    let floods = 0;
    const flood: Worker = {
      account: 'a',
      isWaiting: false,
      step: () => {
        compute(0.1);
        floods += 1;
        return flooding;
      },
    };
    const served: number[] = [];
    turns.add(flood);
    for (let i = 0; i < 20; i++) turns.add({ account: 'a', isWaiting: false, step: () => served.push(floods) < 0 });
    await until(() => served.length === 20);
    flooding = false;
    expect(Math.max(...served)).to.be.lessThan(200);
  });

  it('returns to the event loop although work is left', async () => {
    const turns = new FairScheduler();
    let flooding = true;
    let steps = 0;
    turns.add({ account: 'a', isWaiting: false, step: () => ++steps > 0 && flooding });
    await new Promise((resolve) => setImmediate(resolve));
    flooding = false;
    expect(steps).to.be.greaterThan(0);
  });

  it('stops while the gate does not accept work, and continues when it does', async () => {
    const gate = new TestGate();
    const turns = new FairScheduler(gate);
    let steps = 0;
    turns.add({
      account: 'a',
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

  it('forgets a worker that is removed', async () => {
    const turns = new FairScheduler();
    let steps = 0;
    const worker: Worker = { account: 'a', isWaiting: false, step: () => ++steps > 0 };
    turns.add(worker);
    turns.remove(worker);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).to.equal(0);
  });

  it('serves each account alike, however many workers another one has', async () => {
    const turns = new FairScheduler();
    let flooding = true;
    let floods = 0;
    const flood = (): Worker => ({
      account: 'busy',
      isWaiting: false,
      step: () => {
        compute(0.2);
        floods += 1;
        return flooding;
      },
    });
    for (let i = 0; i < 500; i++) turns.add(flood());
    let steps = 0;
    turns.add({
      account: 'quiet',
      isWaiting: false,
      step: () => {
        compute(0.2);
        steps += 1;
        return steps < 50;
      },
    });
    await until(() => steps === 50);
    flooding = false;
    expect(floods).to.be.lessThan(500);
  });
});
