import { expect } from 'chai';
import type { Frame } from './frame.js';
import { int16 } from './frames.fixture.js';
import { Numbering } from './numbering.js';
import { Sequence } from './sequence.js';

const T0 = 1_763_600_000_000;

interface Sent {
  readonly seq: number;
  readonly instants?: number;
  /** Time of arrival, and device time; absent: no clock. */
  readonly at: number;
  readonly ts?: number;
}

/** The verdicts on a channel of 100 Hz, as `take` gave them. */
function verdicts(sent: Iterable<Sent>) {
  const numbering = new Numbering(10);
  const sequence = new Sequence(10);
  const found = [];
  for (const { seq, instants = 10, at, ts } of sent) {
    const payload = int16(...new Array<number>(instants).fill(0));
    const frame: Frame = { channel: 0, seq, instants, ts: ts === undefined ? null : T0 + ts, encoding: 1, payload };
    if (sequence.isTooLate(frame)) continue;
    const verdict = numbering.take(frame, sequence.accept(frame, at).fresh, 0, at);
    if (verdict !== undefined) found.push(verdict);
  }
  return found;
}

/** Frames every 100 ms for `seconds`, made by index. */
function every100(seconds: number, make: (k: number) => Omit<Sent, 'at'> & { at?: number }): Sent[] {
  return Array.from({ length: seconds * 10 }, (_, k) => ({ at: 100 * k, ...make(k) }));
}

const codes = (sent: Iterable<Sent>) => verdicts(sent).map((verdict) => verdict?.code ?? null);

describe('Numbering', () => {
  it('finds no fault in a correct stream, with a clock or without one', () => {
    expect(codes(every100(16, (k) => ({ seq: 10 * k })))).to.deep.equal([null, null, null]);
    expect(codes(every100(16, (k) => ({ seq: 10 * k, ts: 100 * k })))).to.deep.equal([null, null, null]);
  });

  it('finds numbers that do not increase', () => {
    expect(codes(every100(16, () => ({ seq: 0 }))).slice(1)).to.deep.equal(['all_duplicates', 'all_duplicates']);
  });

  it('finds numbers that started again within the session, until they are new', () => {
    const before = every100(11, (k) => ({ seq: 10 * k }));
    const anew = every100(20, (k) => ({ seq: 10 * k, at: 12_000 + 100 * k }));
    expect(codes([...before, ...anew])).to.include('all_duplicates');
    expect(codes([...before, ...anew]).at(-1)).to.equal(null);
  });

  for (const width of [2, 3, 6])
    it(`finds numbers that count ${width} for an instant, and gives the expected number`, () => {
      for (const clock of [true, false]) {
        const found = verdicts(every100(16, (k) => ({ seq: 10 * width * k, ...(clock && { ts: 100 * k }) })));
        expect(found.map((verdict) => verdict?.code)).to.deep.equal(['all_lost', 'all_lost', 'all_lost']);
        expect(found[0]).to.include({ expected_seq: (clock ? 480 : 490) * width + 10 });
      }
    });

  it('finds numbers that count frames', () => {
    for (const instants of [2, 10, 50]) {
      const found = codes(every100(16, (k) => ({ seq: k, instants, ts: 10 * instants * k })));
      expect(new Set(found)).to.deep.equal(new Set(['frames_overlap']));
    }
  });

  it('finds no fault in single instants', () => {
    expect(codes(every100(16, (k) => ({ seq: k, instants: 1, ts: 33 * k })))).to.deep.equal([null, null, null]);
  });

  it('finds no fault if a device skips lost numbers, once or at every frame', () => {
    const once = every100(16, (k) => ({ seq: 10 * k + (k > 20 ? 5000 : 0), ts: 100 * k + (k > 20 ? 50_000 : 0) }));
    expect(codes(once)).to.deep.equal([null, null, null]);
    const spots = every100(16, (k) => ({ seq: 100 * k, ts: 1000 * k, at: 1000 * k }));
    expect(new Set(codes(spots))).to.deep.equal(new Set([null]));
    const spotsWithoutClock = every100(16, (k) => ({ seq: 100 * k, at: 1000 * k }));
    expect(new Set(codes(spotsWithoutClock))).to.deep.equal(new Set([null]));
  });

  it('finds no fault if a link loses three of four frames', () => {
    const stream = every100(16, (k) => ({ seq: 10 * k, ts: 100 * k })).filter((_, k) => k % 4 === 0);
    expect(new Set(codes(stream))).to.deep.equal(new Set([null]));
  });

  it('finds no fault in frames that are sent twice, or out of order', () => {
    expect(codes(every100(16, (k) => ({ seq: 10 * (k >> 1), ts: 100 * (k >> 1) })))).to.deep.equal([null, null, null]);
    expect(codes(every100(16, (k) => ({ seq: 10 * (k ^ 3), ts: 100 * (k ^ 3) })))).to.deep.equal([null, null, null]);
  });

  it('finds no fault in overlapping windows whose numbers count instants', () => {
    const sliding = every100(16, (k) => ({ seq: 10 * k, instants: 40, ts: 100 * k }));
    expect(codes(sliding)).to.deep.equal([null, null, null]);
  });

  it('finds no fault if the last minute is sent again after a reconnect, even over a slow link', () => {
    const before = every100(70, (k) => ({ seq: 10 * k, ts: 100 * k }));
    const again = Array.from({ length: 600 }, (_, k) => ({ seq: 1000 + 10 * k, ts: 10_000 + 100 * k }));
    for (const pace of [1, 10, 50]) {
      const replay = again.map((frame, k) => ({ ...frame, at: 75_000 + pace * k }));
      const after = every100(20, (k) => ({
        seq: 7000 + 10 * k,
        ts: 70_000 + 100 * k,
        at: 75_000 + 600 * pace + 100 * k,
      }));
      expect(new Set(codes([...before, ...replay, ...after]))).to.deep.equal(new Set([null]));
    }
  });

  it('finds data time that was delivered before, while there is any', () => {
    const numbering = new Numbering(10);
    const found = [];
    for (let k = 0; k < 150; k++) {
      const verdict = numbering.take(
        { seq: 10 * k, ts: T0 + 100 * k, instants: 10 },
        10,
        k % 20 === 0 && k < 50 ? 10 : 0,
        0,
      );
      if (verdict !== undefined) found.push(verdict?.code ?? null);
    }
    expect(found).to.deep.equal(['frames_overlap', null, null]);
  });

  it('needs three frames, however long they are', () => {
    const long = (count: number) =>
      Array.from({ length: count }, (_, k) => ({ seq: 3000 * k, instants: 1000, at: 0, ts: 10_000 * k }));
    expect(codes(long(3))).to.deep.equal([]);
    expect(codes(long(4))).to.deep.equal(['all_lost']);
  });

  it('finds no fault in back-fill, with a clock or without one', () => {
    for (const clock of [true, false]) {
      const fill = every100(600, (k) => ({ seq: 10 * k, at: 2 * k, ...(clock && { ts: 100 * k }) }));
      expect(new Set(codes(fill))).to.deep.equal(new Set([null]));
    }
  });
});
