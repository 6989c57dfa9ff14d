import { expect } from 'chai';
import { Outbox } from './outbox.js';

/** Second `second` of channel 0 at 10 Hz, 100 bytes. */
const second = (n: number) => ({ channel: 0, seq: 10 * n, end: 10 * n + 10, width: 1, bytes: new Uint8Array(100) });

function outboxOf(seconds: number, limitBytes = 1e6): Outbox {
  const outbox = new Outbox(limitBytes);
  outbox.setRate(0, 10);
  for (let n = 0; n < seconds; n++) outbox.add(second(n));
  return outbox;
}

function takeAll(outbox: Outbox): number[] {
  const taken: number[] = [];
  for (let parcel = outbox.take(); parcel; parcel = outbox.take()) taken.push(parcel.seq / 10);
  return taken;
}

describe('outbox', () => {
  it('gives each parcel once, in order, and knows the amount that waits', () => {
    const outbox = outboxOf(3);
    expect(outbox.unsentBytes).to.equal(300);
    expect(takeAll(outbox)).to.deep.equal([0, 1, 2]);
    expect(outbox.unsentBytes).to.equal(0);
    expect(outbox.unackedMs).to.equal(3000);
  });

  it('subtracts acknowledged data time', () => {
    const outbox = outboxOf(3);
    takeAll(outbox);
    outbox.acknowledge(0, 15);
    expect(outbox.unackedMs).to.equal(1500);
  });

  it('resumes with the parcel that contains the first unacknowledged number', () => {
    const outbox = outboxOf(5);
    takeAll(outbox);
    outbox.acknowledge(0, 25);
    outbox.resume();
    expect(outbox.unsentBytes).to.equal(300);
    expect(takeAll(outbox)).to.deep.equal([2, 3, 4]);
  });

  it('replays the last seconds even if they were acknowledged', () => {
    const outbox = outboxOf(100);
    takeAll(outbox);
    outbox.acknowledge(0, 1000);
    outbox.replay(30_000);
    expect(outbox.unackedMs).to.equal(0);
    const replayed = takeAll(outbox);
    expect([replayed[0], replayed.length]).to.deep.equal([70, 30]);
    expect(outbox.unackedMs).to.equal(30_000);
  });

  it('replays all unacknowledged data, however old', () => {
    const outbox = outboxOf(100);
    takeAll(outbox);
    outbox.acknowledge(0, 200);
    outbox.replay(30_000);
    expect(takeAll(outbox)).to.have.length(80);
  });

  it('forgets parcels that are acknowledged and more than a minute old', () => {
    const outbox = outboxOf(200);
    takeAll(outbox);
    outbox.acknowledge(0, 2000);
    outbox.replay(1e9);
    expect(takeAll(outbox)).to.have.length(60);
  });

  it('drops the oldest when it is full, and counts only samples that the service does not have', () => {
    const outbox = outboxOf(5, 500);
    expect(outbox.add(second(5))).to.equal(10);
    outbox.take();
    outbox.acknowledge(0, 15);
    expect(outbox.add(second(6))).to.equal(5);
    expect(outbox.unsentBytes).to.equal(500);
    expect(takeAll(outbox)).to.deep.equal([2, 3, 4, 5, 6]);
  });

  it('drops many at a time where it holds many, so that they are not all moved for each new one', () => {
    const outbox = outboxOf(640, 64_000);
    expect(outbox.add(second(640))).to.equal(100);
    expect(outbox.add(second(641))).to.equal(0);
    expect(outbox.unsentBytes).to.equal(63_200);
    expect(takeAll(outbox)[0]).to.equal(10);
  });
});
