import { expect } from 'chai';
import fc from 'fast-check';
import type { Frame } from './frame.js';
import { int16 } from './frames.fixture.js';
import { Held, type Piece, Sequence } from './sequence.js';

const PERIOD = 10;

/** A frame whose samples are their own numbers. */
function frame(seq: number, instants: number): Frame {
  const payload = int16(...Array.from({ length: instants }, (_, i) => (seq + i) % 1000));
  return { channel: 0, seq, ts: 1000 + seq * PERIOD, encoding: 1, instants, payload };
}

function open() {
  const pieces: Piece[] = [];
  const sequence = new Sequence(PERIOD);
  let now = 0;
  return {
    sequence,
    pieces,
    send: (seq: number, instants: number) => {
      const { fresh, pieces: found } = sequence.accept(frame(seq, instants), now);
      pieces.push(...found);
      return fresh;
    },
    flush: () => void pieces.push(...sequence.flush()),
    wait: (ms: number) => {
      now += ms;
      pieces.push(...sequence.tick(now));
    },
    ranges: () => pieces.map(({ seq, instants, lost }) => [seq, instants, lost]),
  };
}

function samples({ payload }: Piece): number[] {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return Array.from({ length: payload.length / 2 }, (_, i) => view.getInt16(i * 2, true));
}

describe('Sequence', () => {
  it('passes on frames in order at once', () => {
    const { sequence, send, ranges } = open();
    send(0, 10);
    send(10, 5);
    expect(ranges()).to.deep.equal([
      [0, 10, 0],
      [10, 5, 0],
    ]);
    expect(sequence.next).to.equal(15);
  });

  it('starts at the first frame, and counts lower numbers as given up', () => {
    const { sequence, send, ranges } = open();
    expect(sequence.next).to.equal(null);
    send(100, 10);
    expect(ranges()).to.deep.equal([[100, 10, 0]]);
    expect(sequence.isTooLate(frame(90, 10))).to.equal(true);
  });

  it('puts reordered frames in order', () => {
    const { sequence, send, ranges } = open();
    for (const seq of [0, 20, 30, 10]) send(seq, 10);
    expect(ranges()).to.deep.equal([
      [0, 10, 0],
      [10, 10, 0],
      [20, 10, 0],
      [30, 10, 0],
    ]);
    expect(sequence.next).to.equal(40);
  });

  it('holds back data at a gap', () => {
    const { sequence, send } = open();
    send(0, 10);
    send(20, 10);
    expect(sequence.next).to.equal(10);
  });

  it('ignores numbers already received and uses the new ones of a frame', () => {
    const { send, pieces } = open();
    send(0, 10);
    expect(send(0, 10)).to.equal(0);
    expect(send(5, 10)).to.equal(5);
    expect(pieces.map(({ seq, skipped }) => [seq, skipped])).to.deep.equal([
      [0, 0],
      [10, 5],
    ]);
    expect(pieces.map(samples)[1]).to.deep.equal([10, 11, 12, 13, 14]);
  });

  it('uses both ends of a frame whose middle it already holds', () => {
    const { send, pieces, ranges } = open();
    send(0, 10);
    send(15, 5);
    expect(send(10, 20)).to.equal(15);
    expect(ranges()).to.deep.equal([
      [0, 10, 0],
      [10, 5, 0],
      [15, 5, 0],
      [20, 10, 0],
    ]);
    expect(pieces.flatMap(samples)).to.deep.equal(Array.from({ length: 30 }, (_, i) => i));
  });

  it('gives up a gap when data more than 2 s after its end have arrived', () => {
    const { sequence, send, ranges } = open();
    send(0, 10);
    send(20, 201);
    expect(sequence.next).to.equal(10);
    send(221, 1);
    expect(sequence.next).to.equal(222);
    expect(ranges()[1]).to.deep.equal([20, 201, 10]);
  });

  it('gives up only the gap whose time has passed', () => {
    const { sequence, send } = open();
    for (const seq of [0, 20, 100]) send(seq, 10);
    send(215, 10);
    expect(sequence.next).to.equal(30);
  });

  it('gives up all gaps when no new data have arrived for 2 s', () => {
    const { sequence, send, wait, ranges } = open();
    for (const seq of [0, 20, 40]) send(seq, 10);
    wait(1999);
    send(40, 10);
    expect(sequence.next).to.equal(10);
    wait(1);
    expect(sequence.next).to.equal(50);
    expect(ranges()).to.deep.equal([
      [0, 10, 0],
      [20, 10, 10],
      [40, 10, 10],
    ]);
  });

  it('refuses a frame as too late only if it has no new numbers and some of its numbers had been given up', () => {
    const { sequence, send, flush } = open();
    for (const seq of [0, 20]) send(seq, 10);
    flush();
    expect(sequence.isTooLate(frame(10, 10))).to.equal(true);
    expect(sequence.isTooLate(frame(5, 10))).to.equal(true);
    expect(sequence.isTooLate(frame(0, 10))).to.equal(false);
    expect(sequence.isTooLate(frame(10, 21))).to.equal(false);
    expect(send(10, 21)).to.equal(1);
  });

  it('remembers only the newest numbers that it has given up, and takes older ones for repeated', () => {
    const { sequence, send, flush } = open();
    for (let n = 0; n <= 100; n++) send(n * 400, 1);
    flush();
    expect(sequence.isTooLate(frame(99 * 400 + 1, 1))).to.equal(true);
    expect(sequence.isTooLate(frame(1, 1))).to.equal(false);
    expect(send(1, 1)).to.equal(0);
  });

  it('drops numbers that were given up', () => {
    const { send, ranges, flush } = open();
    for (const seq of [0, 20]) send(seq, 10);
    flush();
    send(10, 25);
    expect(ranges().at(-1)).to.deep.equal([30, 5, 0]);
  });

  it('treats a jump by billions of numbers as one gap', () => {
    const { sequence, send, wait, ranges } = open();
    send(0, 10);
    send(2 ** 32 - 10, 10);
    wait(2000);
    expect(sequence.next).to.equal(2 ** 32);
    expect(ranges()[1]).to.deep.equal([2 ** 32 - 10, 10, 2 ** 32 - 20]);
  });

  it('limits the amount of data that it holds behind a gap', () => {
    const sequence = new Sequence(0.1);
    for (let seq = 0; seq < 20_000; seq += 2) sequence.accept(frame(seq, 1), 0);
    expect(sequence.next).to.be.greaterThan(20_000 - 2 * 4100);
  });

  it('limits that amount for all channels of a session together, and holds on when there is room again', () => {
    const amount = new Held();
    const channels = Array.from({ length: 64 }, () => new Sequence(0.1, amount));
    for (let seq = 0; seq < 500; seq += 2) for (const channel of channels) channel.accept(frame(seq, 1), 0);
    expect(amount.pieces).to.be.within(1, 4096);
    for (const channel of channels) channel.flush();
    expect(amount).to.deep.include({ pieces: 0, bytes: 0 });
    const [channel] = channels;
    channel?.accept(frame(600, 1), 0);
    expect(channel?.next).to.equal(499);
  });

  it('copies the frames that it holds, because their bytes belong to the socket', () => {
    const sequence = new Sequence(PERIOD);
    const late = frame(2, 1);
    const { pieces: first } = sequence.accept(frame(0, 1), 0);
    sequence.accept(late, 0);
    late.payload.fill(9);
    expect([...first, ...sequence.flush()].flatMap(samples)).to.deep.equal([0, 2]);
  });

  it('delivers each number at most once, in order, with every loss counted, for any frames', () => {
    const frames = fc.array(fc.record({ seq: fc.nat(400), n: fc.integer({ min: 1, max: 40 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(frames, (list) => {
        const { sequence, send, pieces, flush } = open();
        for (const { seq, n } of list) send(seq, n);
        flush();
        let next = pieces[0]?.seq ?? 0;
        for (const piece of pieces) {
          expect(piece.seq).to.equal(next + piece.lost);
          expect(samples(piece)).to.deep.equal(
            samples({ ...frame(piece.seq, piece.instants), skipped: 0, lost: 0, arrival: 0 }),
          );
          next = piece.seq + piece.instants;
        }
        if (pieces.length > 0) expect(sequence.next).to.equal(next);
      }),
    );
  });
});
