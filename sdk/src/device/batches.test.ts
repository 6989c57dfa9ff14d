import { expect } from 'chai';
import { Batches } from './batches.js';
import type { Batch, Channel } from './outbox.js';

const CHANNEL: Channel = {
  index: 3,
  ch_id: 'c',
  modality: 'ecg',
  sample_rate_hz: 100,
  bit_depth: 16,
  num_channels: 2,
  next_seq: 0,
  ...{ origin: 0, next: 0, acked: -1, sent: -1, answered: -1 },
};

function gather(batchMs = 100) {
  const delivered: Batch[] = [];
  const timers: { ms: number; run: () => void; cancelled: boolean }[] = [];
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run, cancelled: false };
    timers.push(timer);
    return () => {
      timer.cancelled = true;
    };
  };
  const batches = new Batches(batchMs, { now: () => 0, after }, (batch) => delivered.push(batch));
  const add = (seq: number, ts: number, ...samples: number[]) =>
    batches.add({ channel: CHANNEL, seq, ts, samples: Float64Array.from(samples) });
  const seen = () => delivered.map(({ seq, ts, samples }) => [seq, ts, ...samples]);
  return { batches, timers, add, seen };
}

describe('batches', () => {
  it('join consecutive samples until there are enough', () => {
    const { add, seen, timers } = gather(30);
    add(0, 1000, 1, 2);
    add(1, 1010, 3, 4);
    expect(seen()).to.deep.equal([]);
    add(2, 1020.4, 5, 6);
    expect(seen()).to.deep.equal([[0, 1000, 1, 2, 3, 4, 5, 6]]);
    expect(timers.map(({ ms, cancelled }) => [ms, cancelled])).to.deep.equal([[30, true]]);
  });

  it('wait no longer than the limit', () => {
    const { add, seen, timers, batches } = gather();
    add(0, 1000, 1, 2);
    timers[0]?.run();
    expect(seen()).to.deep.equal([[0, 1000, 1, 2]]);
    batches.flushAll();
    expect(seen()).to.deep.equal([[0, 1000, 1, 2]]);
  });

  it('do not join samples with jittering stamps or skipped numbers', () => {
    const { add, seen, batches } = gather();
    add(0, 1000, 1, 2);
    add(1, 1012, 3, 4);
    add(3, 1032, 5, 6);
    add(4, Number.NaN, 7, 8);
    add(5, Number.NaN, 9, 10);
    batches.flushAll();
    expect(seen()).to.deep.equal([
      [0, 1000, 1, 2],
      [1, 1012, 3, 4],
      [3, 1032, 5, 6],
      [4, Number.NaN, 7, 8, 9, 10],
    ]);
  });
});
