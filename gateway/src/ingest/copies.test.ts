import { expect } from 'chai';
import { Copies } from './copies.js';
import { int16 } from './frames.fixture.js';
import type { Piece } from './sequence.js';

const T0 = 1_763_600_000_000;

/** Repeatable noise in -1 .. 1 (a golden-ratio sequence). */
const noise = (k: number) => 2 * ((k * 0.618033988749895) % 1) - 1;
const pulse = (k: number) => Math.round(500 * Math.sin(k / 8) + 30 * noise(k));

interface Part {
  /** The instants of the measurement, from 0. */
  readonly from: number;
  readonly to: number;
  /** Device time of the first one after T0, ms. */
  readonly ts: number;
}

/** Parts of `size` instants, at 50 Hz. */
function parts(from: number, to: number, size: number): Part[] {
  const count = Math.ceil((to - from) / size);
  return Array.from({ length: count }, (_, k) => {
    const at = from + k * size;
    return { from: at, to: Math.min(to, at + size), ts: 20 * at };
  });
}

/** Packets of 50 instants for a minute, each followed by what `then` adds, in frames of `size`. */
function packets(size: number, then: (k: number) => Part[]): Part[] {
  return Array.from({ length: 60 }, (_, k) => [...parts(50 * k, 50 * k + 50, size), ...then(k)]).flat();
}

const again = (k: number, size: number) => (k < 0 ? [] : parts(50 * k, 50 * k + 50, size));

/** The numbers of instants that were found new and copied. */
function counts(sent: readonly Part[], signal = pulse, period = 20) {
  const copies = new Copies(period);
  let [seq, fresh, copied] = [0, 0, 0];
  for (const { from, to, ts } of sent) {
    const instants = to - from;
    const payload = int16(...Array.from({ length: instants }, (_, i) => signal(from + i)));
    const piece: Piece = { seq, instants, ts: T0 + ts, skipped: 0, lost: 0, arrival: 0, encoding: 1, payload };
    const count = copies.take(piece);
    seq += instants;
    copied += count;
    fresh += instants - count;
  }
  return { fresh, copied };
}

describe('Copies', () => {
  for (const size of [1, 2, 5, 10, 25, 50]) {
    it(`finds packets that arrive twice or three times, in frames of ${size}`, () => {
      for (const times of [1, 2]) {
        const sent = packets(size, (k) => Array.from({ length: times }, () => again(k, size)).flat());
        const { fresh } = counts(sent);
        expect(fresh).to.be.within(3000, 3009); // The first few prove that it is a copy.
      }
    });

    it(`finds copies that come some packets later, or of some packets alone, in frames of ${size}`, () => {
      expect(counts(packets(size, (k) => again(k - 4, size))).fresh).to.be.within(3000, 3009);
      if (size > 2)
        expect(counts(packets(size, (k) => (k % 7 === 0 ? again(k, size) : []))).fresh).to.be.within(3000, 3009);
    });

    it(`finds no copy in correct data, whose stamps jitter, are rounded, or go back, in frames of ${size}`, () => {
      const stamps = [
        (ts: number) => ts,
        (ts: number) => ts + 140 * noise(ts),
        (ts: number) => Math.round(ts / 10) * 10,
        (ts: number) => Math.floor(ts / 1000) * 1000,
        (ts: number) => (ts > 30_000 ? ts - 5000 : ts),
        (ts: number) => (ts > 30_000 && ts < 40_000 ? ts - 300 : ts),
      ];
      const signals = [pulse, () => 0, (k: number) => Math.round(pulse(k) / 100), (k: number) => Math.floor(k / 40)];
      for (const stamp of stamps)
        for (const signal of signals) {
          const sent = parts(0, 3000, size).map((part) => ({ ...part, ts: stamp(part.ts) }));
          expect(counts(sent, signal).copied).to.be.at.most(15);
        }
    });
  }

  it('finds packets that arrive twice instant by instant at a high rate, up to the last instant', () => {
    for (const hz of [200, 250, 500, 1000])
      for (const size of [10, 20, 50]) {
        const period = 1000 / hz;
        const instants = Array.from({ length: 3000 }, (_, at) => ({ from: at, to: at + 1, ts: period * at }));
        const sent = instants.flatMap((_, at) => (at % size === 0 ? Array(2).fill(instants.slice(at, at + size)) : []));
        const { fresh } = counts(sent.flat(), (k) => Math.round(500 * Math.sin(k / 8) + 30 * noise(k)), period);
        expect(fresh, `${hz} Hz, ${size} a packet`).to.be.within(3000, 3000 + 2 * size);
        expect(counts(instants, pulse, period).copied, `${hz} Hz, once`).to.equal(0);
      }
  });

  it('finds copies that are split otherwise, and takes the new data after them in the same frame', () => {
    expect(counts(packets(10, (k) => again(k, 7))).fresh).to.be.within(3000, 3009);
    expect(counts(packets(10, (k) => again(k, 50))).fresh).to.equal(3000);
    expect(counts([...parts(0, 50, 10), ...parts(0, 50, 10), ...parts(20, 120, 50)]).fresh).to.equal(120);
  });

  it('finds copies whose stamps jitter or are rounded', () => {
    const stamped = (stamp: (ts: number, i: number) => number) =>
      packets(10, (k) => again(k, 10)).map((part, i) => ({ ...part, ts: stamp(part.ts, i) }));
    expect(counts(stamped((ts, i) => ts + 40 * noise(i))).fresh).to.be.within(3000, 3009);
    expect(counts(stamped((ts) => Math.round(ts / 10) * 10)).fresh).to.equal(3000);
  });

  it('finds copies with parts that do not change', () => {
    const steps = (k: number) => (k % 50 < 30 ? 0 : pulse(k));
    expect(
      counts(
        packets(10, (k) => again(k, 10)),
        steps,
      ).fresh,
    ).to.be.within(3000, 3050);
  });

  it('finds copies in another encoding, also where a value is missing', () => {
    const copies = new Copies(20);
    const values = Array.from({ length: 50 }, (_, k) => 30_000 + pulse(k));
    const take = (encoding: 1 | 2 | 3 | 4, ts: number, part: number[]) => {
      const width = [0, 2, 3, 4, 4][encoding] ?? 0;
      const payload = Buffer.alloc(width * part.length);
      for (const [i, value] of part.entries())
        if (encoding === 4) payload.writeFloatLE(value, width * i);
        else payload.writeIntLE(value, width * i, width);
      return copies.take({
        seq: 0,
        instants: part.length,
        ts: T0 + ts,
        skipped: 0,
        lost: 0,
        arrival: 0,
        encoding,
        payload,
      });
    };
    expect(take(1, 0, values)).to.equal(0);
    for (const encoding of [2, 3, 4] as const) expect(take(encoding, 0, values)).to.equal(50);
    const holed = values.with(20, Number.NaN);
    expect(take(4, 1000, holed)).to.equal(0);
    expect(take(2, 1000, holed.slice(0, 20))).to.equal(20);
    expect(take(4, 1400, holed.slice(20, 30))).to.equal(10);
    expect(take(3, 1600, holed.slice(30))).to.equal(20);
  });

  for (const [size, hop] of [
    [50, 25],
    [50, 10],
    [10, 5],
    [12, 8],
  ] as const) {
    it(`finds the beginning of frames of ${size} that overlaps the previous one, if each begins ${hop} later`, () => {
      const sent = Array.from({ length: 100 }, (_, k) => ({ from: hop * k, to: hop * k + size, ts: 20 * hop * k }));
      const length = 99 * hop + size;
      expect(counts(sent).fresh).to.be.within(length, length + 10);
    });
  }

  it('finds the frames after one whose stamp was too far off', () => {
    const late = (part: Part, i: number) => (i === 13 ? { ...part, ts: part.ts - 60 } : part); // of a copied packet
    expect(counts(packets(5, (k) => again(k, 5)).map(late)).fresh).to.be.within(3000, 3015);
  });

  it('tells when the instants that proved a copy were used', () => {
    const copies = new Copies(20);
    const taken = parts(0, 20, 5)
      .concat(parts(0, 20, 5))
      .map(({ from, ts }) => {
        const payload = int16(...Array.from({ length: 5 }, (_, i) => pulse(from + i)));
        const count = copies.take({
          seq: 0,
          instants: 5,
          ts: T0 + ts,
          skipped: 0,
          lost: 0,
          arrival: 0,
          encoding: 1,
          payload,
        });
        return [count, copies.isTorn];
      });
    const fresh = [0, false];
    expect(taken).to.deep.equal([fresh, fresh, fresh, fresh, fresh, [5, true], [5, false], [5, false]]);
  });

  it('tells when a frame ended with the beginning of a copy', () => {
    const copies = new Copies(20);
    const take = (from: number[], ts: number) => {
      const payload = int16(...from.map(pulse));
      return copies.take({
        seq: 0,
        instants: from.length,
        ts: T0 + ts,
        skipped: 0,
        lost: 0,
        arrival: 0,
        encoding: 1,
        payload,
      });
    };
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    take(range(0, 40), 0);
    take([...range(40, 50), ...range(0, 10)], 800);
    expect(copies.isTorn).to.equal(false);
    expect(take(range(10, 30), 200)).to.equal(20);
    expect(copies.isTorn).to.equal(true);
    take(range(30, 50), 600);
    expect(copies.isTorn).to.equal(false);
  });
});
