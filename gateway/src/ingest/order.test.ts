import { expect } from 'chai';
import { float32 } from './frames.fixture.js';
import { Order } from './order.js';

/** A pulse wave at 50 Hz with noise that repeats only after 997 samples. */
function pulse(i: number): number {
  const beat = (i / 42.1) % 1;
  const noise = ((i * 7919) % 997) / 997 - 0.5;
  return 1000 * Math.exp(-(((beat - 0.25) / 0.09) ** 2)) + 350 * Math.exp(-(((beat - 0.55) / 0.12) ** 2)) + 20 * noise;
}

/** Gives frames `from` to `to` of a signal to an order; `sent` is the number in the signal of the i-th sample of a frame. */
function feed(
  order: Order,
  from: number,
  to: number,
  n: number,
  sent: (k: number, i: number) => number,
  signal = pulse,
) {
  for (let k = from; k < to; k++) {
    const samples = Array.from({ length: n }, (_, i) => signal(sent(k, i)));
    order.take({
      seq: k * n,
      instants: n,
      ts: null,
      skipped: 0,
      lost: 0,
      arrival: 0,
      encoding: 4,
      payload: float32(...samples),
    });
  }
  return order.isRight;
}

const LENGTHS = [5, 10, 25, 50];
const ordered = (n: number) => (k: number, i: number) => k * n + i;
const reversed = (n: number) => (k: number, i: number) => k * n + n - 1 - i;
const swapped = (n: number) => (k: number, i: number) => (k ^ 1) * n + i;

describe('Order', () => {
  for (const n of LENGTHS) {
    it(`notices frames of ${n} samples that are sent newest sample first, and when that is over`, () => {
      const order = new Order();
      expect(feed(order, 0, 100, n, reversed(n))).to.equal(false);
      expect(feed(order, 100, 200, n, ordered(n))).to.equal(true);
    });

    it(`notices frames of ${n} samples that are sent newest sample first after 8 joins if it is clear`, () => {
      const smooth = (i: number) => Math.sin(i / 7) + Math.sin(i / 31);
      expect(feed(new Order(), 0, 9, n, reversed(n), smooth)).to.equal(false);
      expect(feed(new Order(), 0, 30, n, ordered(n), smooth)).to.equal(true);
    });

    it(`notices frames of ${n} samples that are swapped two by two`, () => {
      expect(feed(new Order(), 0, 100, n, swapped(n))).to.equal(false);
    });

    it(`finds nothing wrong with frames of ${n} samples in order, whatever the signal`, () => {
      const signals: ((i: number) => number)[] = [
        pulse,
        () => 7,
        (i) => Math.min(300, pulse(i)),
        (i) => Math.round(pulse(i) / 400),
        (i) => pulse(i - (i % 2)),
        (i) => pulse(i - (i % 5)),
        (i) => pulse(i) + 5000 * (Math.floor(i / (2 * n)) % 3),
        (i) => (i % 2) * 100 + pulse(i) / 100,
        (i) => (i % (2 * n) === 0 ? 10_000 : pulse(i)),
        (i) => i % n,
        (i) => (i % 9 === 0 ? Number.NaN : pulse(i)),
      ];
      for (const signal of signals) expect(feed(new Order(), 0, 300, n, ordered(n), signal)).to.equal(true);
    });
  }

  it('does not clear the order while the signal tells nothing', () => {
    const order = new Order();
    feed(order, 0, 100, 25, reversed(25));
    expect(feed(order, 100, 200, 25, reversed(25), (i) => (i * 7919) % 997)).to.equal(false);
  });

  it('notices it where frames are lost', () => {
    for (const sent of [reversed(25), swapped(25)]) {
      const order = new Order();
      for (let k = 0; k < 150; k++) if (k % 7 !== 3) feed(order, k, k + 1, 25, sent);
      expect(order.isRight).to.equal(false);
    }
  });

  it('does not observe frames of fewer than five samples', () => {
    for (const n of [1, 2, 3, 4]) expect(feed(new Order(), 0, 300, n, reversed(n))).to.equal(true);
  });
});
