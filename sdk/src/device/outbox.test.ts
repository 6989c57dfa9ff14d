import { expect } from 'chai';
import { Backlog, type Channel, Outbox } from './outbox.js';

/** A channel of 10 Hz. */
const channelOf = (): Channel => ({
  ...{ index: 0, ch_id: 'a', modality: 'ppg', sample_rate_hz: 10, bit_depth: 16, num_channels: 1, next_seq: 0 },
  ...{ origin: 0, next: 0, acked: -1, sent: -1, answered: -1 },
});

/** Bytes of the frame of one second. */
const BYTES = 36;

function outboxOf(seconds: number, limit = 1e6) {
  const outbox = new Outbox(limit);
  const channel = channelOf();
  outbox.channels = [channel];
  const add = (n: number) =>
    outbox.add({ channel, seq: 10 * n, ts: Number.NaN, samples: new Float64Array(10).fill(n) }, 65_536);
  for (let n = 0; n < seconds; n++) add(n);
  return { outbox, add };
}

/** Takes all frames; returns the second of each. */
function takeAll(outbox: Outbox): number[] {
  const taken: number[] = [];
  for (let frame = outbox.take(); frame; frame = outbox.take())
    taken.push(new DataView(frame.buffer).getUint32(4, true) / 10);
  return taken;
}

describe('outbox', () => {
  it('gives each frame once, in order, and knows the amount that waits', () => {
    const { outbox } = outboxOf(3);
    expect(outbox.unsentBytes).to.equal(3 * BYTES);
    expect(takeAll(outbox)).to.deep.equal([0, 1, 2]);
    expect(outbox.unsentBytes).to.equal(0);
    expect(outbox.unackedMs).to.equal(3000);
  });

  it('subtracts acknowledged data time', () => {
    const { outbox } = outboxOf(3);
    takeAll(outbox);
    outbox.ack({ 0: 15 });
    expect(outbox.unackedMs).to.equal(1500);
  });

  it('resumes with the frame that contains the first unacknowledged number', () => {
    const { outbox } = outboxOf(5);
    takeAll(outbox);
    outbox.ack({ 0: 25 });
    outbox.resume(0);
    expect(outbox.unsentBytes).to.equal(3 * BYTES);
    expect(takeAll(outbox)).to.deep.equal([2, 3, 4]);
  });

  it('replays the last seconds even if they were acknowledged', () => {
    const { outbox } = outboxOf(100);
    takeAll(outbox);
    outbox.ack({ 0: 1000 });
    outbox.resume(30_000);
    expect(outbox.unackedMs).to.equal(0);
    const replayed = takeAll(outbox);
    expect([replayed[0], replayed.length]).to.deep.equal([70, 30]);
    expect(outbox.unackedMs).to.equal(30_000);
  });

  it('replays all unacknowledged data, however old', () => {
    const { outbox } = outboxOf(100);
    takeAll(outbox);
    outbox.ack({ 0: 200 });
    outbox.resume(30_000);
    expect(takeAll(outbox)).to.have.length(80);
  });

  it('forgets frames that are acknowledged and more than a minute old', () => {
    const { outbox } = outboxOf(200);
    takeAll(outbox);
    outbox.ack({ 0: 2000 });
    outbox.resume(1e9);
    expect(takeAll(outbox)).to.have.length(60);
  });

  it('drops the oldest when it is full, and counts only samples that the service does not have', () => {
    const { outbox, add } = outboxOf(5, 5 * BYTES);
    expect(add(5)).to.equal(10);
    outbox.take();
    outbox.ack({ 0: 15 });
    expect(add(6)).to.equal(5);
    expect(outbox.unsentBytes).to.equal(5 * BYTES);
    expect(takeAll(outbox)).to.deep.equal([2, 3, 4, 5, 6]);
  });
});

describe('a backlog', () => {
  it('drops many at a time where it holds many, so that they are not all moved for each new one', () => {
    const backlog = new Backlog<{ readonly n: number; readonly bytes: Uint8Array }>(64_000);
    const dropped = Array.from({ length: 651 }, (_, n) => backlog.add({ n, bytes: new Uint8Array(100) }).length);
    expect(dropped.flatMap((count, n) => (count > 0 ? [[n, count]] : []))).to.deep.equal([
      [640, 10],
      [650, 10],
    ]);
    expect([backlog.bytes, backlog.items[0]?.n]).to.deep.equal([63_100, 20]);
  });

  it('never drops the newest, however large it is', () => {
    const backlog = new Backlog<{ readonly bytes: Uint8Array }>(10);
    backlog.add({ bytes: new Uint8Array(5) });
    expect(backlog.add({ bytes: new Uint8Array(50) })).to.have.length(1);
    expect(backlog.bytes).to.equal(50);
  });
});
