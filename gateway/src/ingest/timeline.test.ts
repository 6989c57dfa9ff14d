import { expect } from 'chai';
import type { Piece } from './sequence.js';
import { type Placement, Timeline } from './timeline.js';

const T0 = 1_763_600_000_000;
const NOMINAL = 10;
const noOrigin = () => {
  throw new Error('no origin was to be asked for');
};

function piece(seq: number, instants: number, fields: Partial<Piece> = {}): Piece {
  return {
    seq,
    instants,
    skipped: 0,
    lost: 0,
    ts: null,
    encoding: 1,
    payload: new Uint8Array(instants * 2),
    ...fields,
  };
}

interface Stream {
  /** True spacing of the instants, ms. */
  readonly period?: number;
  readonly instants?: number;
  readonly seconds?: number;
  /** Added to the stamp of the frame with this index, ms. */
  readonly jitter?: (frame: number) => number;
  readonly nominal?: number;
}

interface Placed extends Placement {
  readonly seq: number;
  readonly instants: number;
  /** Where the first instant truly lies, ms. */
  readonly truth: number;
}

/** Places a stream of frames whose instants lie at T0 + seq * period. */
function stream({ period = NOMINAL, instants = 10, seconds = 30, jitter = () => 0, nominal = NOMINAL }: Stream) {
  const timeline = new Timeline(nominal);
  const placed: Placed[] = [];
  for (let k = 0; k * instants * period < seconds * 1000; k++) {
    const seq = k * instants;
    const truth = T0 + seq * period;
    placed.push({ seq, instants, truth, ...timeline.place(piece(seq, instants), truth + jitter(k), noOrigin) });
  }
  return { timeline, placed };
}

/** Repeatable noise in -1 .. 1 (a golden-ratio sequence). */
const noise = (k: number) => 2 * ((k * 0.618033988749895) % 1) - 1;

function settled(placed: readonly Placed[], seconds = 10): readonly Placed[] {
  return placed.filter(({ truth }) => truth >= T0 + seconds * 1000);
}

function worst(placed: readonly Placed[]): number {
  return Math.max(...placed.map(({ t, truth }) => Math.abs(t - truth)));
}

/** Frames that do not begin where the one before ended, ms. */
function jumps(placed: readonly Placed[]): number[] {
  return placed.slice(1).map(({ t }, i) => {
    const before = placed[i];
    return before ? t - (before.t + before.instants * before.period) : 0;
  });
}

describe('Timeline', () => {
  it('leaves exact stamps as they are', () => {
    const { placed } = stream({});
    expect(worst(placed)).to.be.lessThan(1e-3);
    expect(placed.every(({ period }) => Math.abs(period - NOMINAL) < 1e-6)).to.equal(true);
  });

  for (const factor of [0.8, 0.95, 1.001, 1.2]) {
    it(`follows a device whose instants are ${factor} times as far apart as its model says`, () => {
      const { placed, timeline } = stream({ period: NOMINAL * factor });
      expect(worst(settled(placed, 6))).to.be.lessThan(5);
      expect(timeline.relativeRate).to.be.closeTo(1 / factor, 0.001);
      expect(Math.max(...jumps(placed).map(Math.abs))).to.be.lessThan(1e-3);
    });

    it(`follows it in frames of two seconds, too (${factor})`, () => {
      const { placed, timeline } = stream({ period: NOMINAL * factor, instants: 200, seconds: 60 });
      expect(timeline.relativeRate).to.be.closeTo(1 / factor, 0.005);
      expect(
        Math.max(...settled(placed, 30).map(({ period }) => Math.abs(period / NOMINAL / factor - 1))),
      ).to.be.lessThan(0.01);
    });
  }

  it('smooths stamps that the transport jitters by 30 ms, without jumps', () => {
    const { placed } = stream({ period: 10.1, jitter: (k) => 30 * noise(k), seconds: 60 });
    expect(worst(settled(placed))).to.be.lessThan(10);
    expect(Math.max(...jumps(placed).map(Math.abs))).to.be.lessThan(1e-3);
    expect(Math.max(...settled(placed).map(({ period }) => Math.abs(period / 10.1 - 1)))).to.be.lessThan(0.1);
  });

  it('follows a rate that drifts', () => {
    const timeline = new Timeline(NOMINAL);
    let truth = T0;
    let error = 0;
    for (let k = 0; k < 3000; k++) {
      error = timeline.place(piece(k * 10, 10), truth, noOrigin).t - truth;
      truth += 10 * (NOMINAL + k * 2e-5);
    }
    expect(Math.abs(error)).to.be.lessThan(3);
  });

  it('keeps the stamps of single instants: a camera knows when it exposed', () => {
    const { placed } = stream({ nominal: 33.3, period: 34, instants: 1, jitter: (k) => 12 * noise(k) });
    const stamps = placed.map(({ seq, truth }) => truth + 12 * noise(seq));
    expect(placed.map(({ t }) => t)).to.deep.equal(stamps);
  });

  it('keeps the stamps of longer frames among single instants, too', () => {
    const timeline = new Timeline(33.3);
    let seq = 0;
    for (let k = 0; k < 200; k++) {
      const instants = k % 5 === 4 ? 6 : 1;
      const stamp = T0 + seq * 33.3 + 8 * noise(k);
      expect(timeline.place(piece(seq, instants), stamp, noOrigin).t).to.equal(stamp);
      seq += instants;
    }
  });

  it('spaces single instants evenly where a driver stamps them in batches', () => {
    const { placed } = stream({ nominal: 40, period: 40, instants: 1, jitter: (k) => -40 * (k % 3) });
    expect(worst(settled(placed))).to.be.lessThan(60);
    const spacing = settled(placed).map(({ t }, i, all) => t - (all[i - 1]?.t ?? t - 40));
    expect(Math.max(...spacing.map((s) => Math.abs(s - 40)))).to.be.lessThan(11);
  });

  it('never turns back, whatever the stamps say', () => {
    for (const instants of [1, 7]) {
      const { placed } = stream({ instants, jitter: (k) => 400 * noise(k * k) });
      let end = Number.NEGATIVE_INFINITY;
      for (const { t, period } of placed) {
        expect(t).to.be.greaterThan(end);
        end = t + (instants - 1) * period;
      }
    }
  });

  it('puts data after missing numbers where their numbers say', () => {
    const timeline = new Timeline(NOMINAL);
    timeline.place(piece(0, 100), T0, noOrigin);
    const { t } = timeline.place(piece(150, 100, { lost: 50 }), T0 + 1500, noOrigin);
    expect(t).to.be.closeTo(T0 + 1500, 1);
  });

  it('takes a step of the stamps of more than 0.25 s as a gap, and a smaller one not', () => {
    const stepped = (ms: number) => {
      const { timeline } = stream({ seconds: 10 });
      return timeline.place(piece(1000, 10), T0 + 10_000 + ms, noOrigin).t - (T0 + 10_000);
    };
    expect(stepped(251)).to.be.closeTo(251, 1);
    expect(stepped(5000)).to.be.closeTo(5000, 1);
    expect(stepped(249)).to.be.closeTo(0, 1);
  });

  it('goes on steadily after a gap', () => {
    const { placed } = stream({ jitter: (k) => (k > 100 ? 3000 : 0) });
    expect(worst(placed.slice(0, 100))).to.be.lessThan(1);
    expect(Math.max(...placed.slice(101).map(({ t, truth }) => Math.abs(t - truth - 3000)))).to.be.lessThan(1);
  });

  it('counts on when the stamps go back', () => {
    const { placed } = stream({ jitter: (k) => (k > 100 ? -3_600_000 : 0) });
    expect(worst(placed)).to.be.lessThan(1);
  });

  it('is not misled by a single stamp that goes back', () => {
    const { placed } = stream({ jitter: (k) => (k === 100 ? -5000 : 0) });
    expect(worst(placed)).to.be.lessThan(1);
  });

  it('follows the rate of stamps that went back once', () => {
    const { timeline } = stream({ period: 10.5, jitter: (k) => (k > 100 ? -60_000 : 0), seconds: 60 });
    expect(timeline.relativeRate).to.be.closeTo(10 / 10.5, 0.001);
  });

  it('counts on from the origin where the device has no clock', () => {
    const timeline = new Timeline(NOMINAL);
    expect(timeline.place(piece(50, 10), null, () => T0).t).to.equal(T0 + 500);
    expect(timeline.place(piece(60, 10), null, noOrigin).t).to.equal(T0 + 600);
    expect(timeline.place(piece(90, 10, { lost: 20 }), null, noOrigin).t).to.equal(T0 + 900);
  });

  it('counts on where a stamp is missing among others', () => {
    const { timeline } = stream({ seconds: 10, period: 10.2 });
    const from = Math.ceil(10_000 / 102) * 10;
    expect(timeline.place(piece(from, 10), null, noOrigin).t).to.be.closeTo(T0 + from * 10.2, 1);
  });

  it('places the rest of a frame whose beginning was already there', () => {
    const { timeline } = stream({ seconds: 10 });
    expect(timeline.place(piece(1000, 5, { skipped: 5 }), T0 + 9950, noOrigin).t).to.be.closeTo(T0 + 10_000, 1e-3);
  });

  it('follows up to twice the rate, so that the analysis sees how far off it is', () => {
    expect(stream({ period: 11.1, nominal: 15.6 }).timeline.relativeRate).to.be.closeTo(15.6 / 11.1, 0.01);
  });
});
