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

function gather() {
  const delivered: Batch[] = [];
  const timers: { ms: number; run: () => void; cancelled: boolean }[] = [];
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run, cancelled: false };
    timers.push(timer);
    return () => {
      timer.cancelled = true;
    };
  };
  const batches = new Batches({ now: () => 0, after }, (batch) => delivered.push(batch));
  const add = (seq: number, ts: number, ...samples: number[]) =>
    batches.add({ channel: CHANNEL, seq, ts, samples: Float64Array.from(samples) });
  const seen = () => delivered.map(({ seq, ts, samples }) => [seq, ts, ...samples]);
  return { batches, timers, add, seen };
}

describe('batches', () => {
  it('join consecutive samples until there are enough', () => {
    const { add, seen, timers } = gather();
    for (let n = 0; n < 9; n++) add(n, 1000 + 10 * n, n, -n);
    expect(seen()).to.deep.equal([]);
    add(9, 1090.4, 9, -9);
    expect(seen()).to.deep.equal([[0, 1000, ...Array.from({ length: 10 }, (_, n) => [n, -n]).flat()]]);
    expect(timers.map(({ ms, cancelled }) => [ms, cancelled])).to.deep.equal([[100, true]]);
  });

  it('wait no longer than the limit', () => {
    const { add, seen, timers, batches } = gather();
    add(0, 1000, 1, 2);
    timers[0]?.run();
    expect(seen()).to.deep.equal([[0, 1000, 1, 2]]);
    batches.flushAll();
    expect(seen()).to.deep.equal([[0, 1000, 1, 2]]);
  });

  it('join samples without a time to those before, but none with another time than the next', () => {
    const { add, seen, batches } = gather();
    add(0, 1000, 1, 2);
    add(1, 1012, 3, 4);
    add(2, Number.NaN, 5, 6);
    batches.flushAll();
    add(3, Number.NaN, 7, 8);
    add(4, Number.NaN, 9, 10);
    add(5, 1052, 11, 12);
    batches.flushAll();
    expect(seen()).to.deep.equal([
      [0, 1000, 1, 2],
      [1, 1012, 3, 4, 5, 6],
      [3, Number.NaN, 7, 8, 9, 10],
      [5, 1052, 11, 12],
    ]);
  });
});
