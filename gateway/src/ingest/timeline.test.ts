import { expect } from 'chai';
import { Pace } from './pace.js';
import type { Piece } from './sequence.js';
import { type Placement, Timeline } from './timeline.js';

const T0 = 1_763_600_000_000;
const NOMINAL = 10;
function piece(seq: number, instants: number, fields: Partial<Piece> = {}): Piece {
  return {
    seq,
    instants,
    skipped: 0,
    lost: 0,
    arrival: 0,
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
    placed.push({
      seq,
      instants,
      truth,
      ...timeline.place(piece(seq, instants), truth + jitter(k), truth),
    });
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

/** The rate of the newest frame relative to the model's. */
function relativeRate(placed: readonly Placed[], nominal = NOMINAL): number {
  return nominal / (placed.at(-1)?.period ?? Number.NaN);
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
      const { placed } = stream({ period: NOMINAL * factor });
      expect(worst(settled(placed, 6))).to.be.lessThan(5);
      expect(relativeRate(placed)).to.be.closeTo(1 / factor, 0.001);
      expect(Math.max(...jumps(placed).map(Math.abs))).to.be.lessThan(1e-3);
    });

    it(`also follows it in frames of two seconds (${factor})`, () => {
      const { placed } = stream({ period: NOMINAL * factor, instants: 200, seconds: 60 });
      expect(relativeRate(placed)).to.be.closeTo(1 / factor, 0.005);
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
      error = timeline.place(piece(k * 10, 10), truth, truth).t - truth;
      truth += 10 * (NOMINAL + k * 2e-5);
    }
    expect(Math.abs(error)).to.be.lessThan(3);
  });

  it('keeps the stamps of single instants: a camera knows when it exposed', () => {
    const { placed } = stream({ nominal: 33.3, period: 34, instants: 1, jitter: (k) => 12 * noise(k) });
    const stamps = placed.map(({ seq, truth }) => truth + 12 * noise(seq));
    expect(placed.map(({ t }) => t)).to.deep.equal(stamps);
  });

  it('also keeps the stamps of longer frames among single instants', () => {
    const timeline = new Timeline(33.3);
    let seq = 0;
    for (let k = 0; k < 200; k++) {
      const instants = k % 5 === 4 ? 6 : 1;
      const stamp = T0 + seq * 33.3 + 8 * noise(k);
      expect(timeline.place(piece(seq, instants), stamp, T0).t).to.equal(stamp);
      seq += instants;
    }
  });

  it('spaces single instants evenly if a driver stamps them in batches', () => {
    const { placed } = stream({ nominal: 40, period: 40, instants: 1, jitter: (k) => -40 * (k % 3) });
    expect(worst(settled(placed))).to.be.lessThan(60);
    const spacing = settled(placed).map(({ t }, i, all) => t - (all[i - 1]?.t ?? t - 40));
    expect(Math.max(...spacing.map((s) => Math.abs(s - 40)))).to.be.lessThan(11);
  });

  it('never goes back, whatever the stamps', () => {
    for (const instants of [1, 7]) {
      const { placed } = stream({ instants, jitter: (k) => 400 * noise(k * k) });
      let end = Number.NEGATIVE_INFINITY;
      for (const { t, period } of placed) {
        expect(t).to.be.greaterThan(end);
        end = t + (instants - 1) * period;
      }
    }
  });

  it('places data after missing numbers by their numbers', () => {
    const timeline = new Timeline(NOMINAL);
    timeline.place(piece(0, 100), T0, T0);
    const { t } = timeline.place(piece(150, 100, { lost: 50 }), T0 + 1500, T0);
    expect(t).to.be.closeTo(T0 + 1500, 1);
  });

  it('treats a step of the stamps of more than 0.25 s as a gap, and a smaller one not', () => {
    const stepped = (ms: number) => {
      const { timeline } = stream({ seconds: 10 });
      return timeline.place(piece(1000, 10), T0 + 10_000 + ms, T0).t - (T0 + 10_000);
    };
    expect(stepped(251)).to.be.closeTo(251, 1);
    expect(stepped(5000)).to.be.closeTo(5000, 1);
    expect(stepped(249)).to.be.closeTo(0, 1);
  });

  it('continues steadily after a gap', () => {
    const { placed } = stream({ jitter: (k) => (k > 100 ? 3000 : 0) });
    expect(worst(placed.slice(0, 100))).to.be.lessThan(1);
    expect(Math.max(...placed.slice(101).map(({ t, truth }) => Math.abs(t - truth - 3000)))).to.be.lessThan(1);
  });

  it('continues when the stamps go back', () => {
    const { placed } = stream({ jitter: (k) => (k > 100 ? -3_600_000 : 0) });
    expect(worst(placed)).to.be.lessThan(1);
  });

  it('is not misled by a single stamp that goes back', () => {
    const { placed } = stream({ jitter: (k) => (k === 100 ? -5000 : 0) });
    expect(worst(placed)).to.be.lessThan(1);
  });

  it('does not trust stamps that jitter by more than 0.25 s, nor runs ahead of them', () => {
    const jitters = [
      (k: number) => 300 * (noise(k) + 1),
      (k: number) => 400 * noise(k),
      (k: number) => -((k * 100) % 1000), // whole seconds
      (k: number) => Math.max(0, 3000 - ((k * 100) % 10_000)), // a link that stalls for 3 s every 10 s
    ];
    for (const jitter of jitters) {
      const { placed } = stream({ jitter, seconds: 120 });
      expect(settled(placed).filter(({ trusted }) => trusted)).to.have.length(0);
      expect(Math.max(...placed.map(({ t, truth }) => t - truth))).to.be.lessThan(4000);
    }
  });

  it('does not trust a spacing that the stamps contradict repeatedly, even if they jitter', () => {
    for (const period of [6.7, 13.3, 18.2])
      for (const instants of [200, 400]) {
        const { placed } = stream({ period, instants, jitter: (k) => 50 * noise(k), seconds: 300 });
        const wrong = settled(placed, 60).filter((p) => p.trusted && Math.abs(p.period / period - 1) > 0.1);
        expect(wrong, `${period} ms, ${instants} instants`).to.deep.equal([]);
      }
  });

  it('does not trust times that differ from the stamps because these are too coarse to show the rate', () => {
    const coarse = stream({ period: 8, instants: 100, seconds: 120, jitter: (k) => -((800 * k) % 500) }).placed;
    for (let k = 0; k + 10 < coarse.length; k++) {
      const window = coarse.slice(k, k + 10); // 8 s
      const isRight = Math.abs((window.at(-1)?.period ?? 0) / 8 - 1) < 0.05;
      expect(isRight || window.some(({ trusted }) => !trusted)).to.equal(true);
    }
  });

  it('does not trust the frame at which it corrects the rate: those before it were placed at the wrong one', () => {
    const { placed } = stream({ period: 8, instants: 63 * 2 });
    const first = placed.findIndex(({ period }) => Math.abs(period / 8 - 1) < 0.05);
    expect(placed.slice(0, first + 1).some(({ trusted }) => !trusted)).to.equal(true);
  });

  it('trusts stamps again 10 s after they became steady, and returns to them', () => {
    const { placed } = stream({ jitter: (k) => (k < 300 ? 300 * (noise(k) + 1) : 300), seconds: 120 });
    const steady = settled(placed, 45);
    expect(steady.every(({ trusted }) => trusted)).to.equal(true);
    expect(Math.max(...steady.map(({ t, truth }) => Math.abs(t - truth - 300)))).to.be.lessThan(251);
  });

  it('follows the rate of stamps that went back once', () => {
    const { placed } = stream({ period: 10.5, jitter: (k) => (k > 100 ? -60_000 : 0), seconds: 60 });
    expect(relativeRate(placed)).to.be.closeTo(10 / 10.5, 0.001);
  });

  it('continues from the origin if the device has no clock', () => {
    const timeline = new Timeline(NOMINAL);
    timeline.count(new Pace(NOMINAL, { seq: 0, time: T0, period: NOMINAL }, false));
    expect(timeline.place(piece(50, 10), null, T0 + 500)).to.deep.equal({
      t: T0 + 500,
      period: NOMINAL,
      trusted: false,
    });
    const later = T0 + 900;
    expect(timeline.place(piece(60, 10), null, later).t).to.equal(T0 + 600);
    expect(timeline.place(piece(90, 10, { lost: 20 }), null, later).t).to.equal(T0 + 900);
  });

  it('continues with the stamps of a device that got its clock later', () => {
    const timeline = new Timeline(NOMINAL);
    timeline.count(new Pace(NOMINAL, { seq: 0, time: T0, period: NOMINAL }, false));
    timeline.place(piece(0, 100), null, T0);
    expect(timeline.place(piece(100, 100), T0 + 990, T0)).to.deep.include({ trusted: true });
    expect(timeline.place(piece(200, 100), T0 + 1990, T0).t).to.be.closeTo(T0 + 2000, 10);
  });

  it('continues if one stamp is missing', () => {
    const { timeline } = stream({ seconds: 10, period: 10.2 });
    const from = Math.ceil(10_000 / 102) * 10;
    expect(timeline.place(piece(from, 10), null, T0).t).to.be.closeTo(T0 + from * 10.2, 1);
  });

  it('places the rest of a frame whose beginning is already known', () => {
    const { timeline } = stream({ seconds: 10 });
    expect(timeline.place(piece(1000, 5, { skipped: 5 }), T0 + 9950, T0).t).to.be.closeTo(T0 + 10_000, 1e-3);
  });

  describe('compared with arrival', () => {
    const hourBack = -3_600_000;

    /** How far a stream's frames begin ahead of their arrival, which is the truth, ms. */
    const ahead = (placed: readonly Placed[]) => placed.reduce((most, { t, truth }) => Math.max(most, t - truth), 0);

    for (const instants of [1, 10, 100]) {
      const at = (k: number) => (k * instants * NOMINAL) / 1000;

      it(`follows a clock that was set back in two steps and then corrected (frames of ${instants})`, () => {
        const jitter = (k: number) => (at(k) < 10 ? 0 : at(k) < 20 ? hourBack / 2 : at(k) < 30 ? hourBack : 0);
        const { placed } = stream({ instants, jitter, seconds: 60 });
        expect(worst(placed)).to.be.lessThan(1);
        expect(placed.every(({ trusted }) => trusted)).to.equal(true);
      });

      it(`is not moved by two different wrong stamps in a row, however often (frames of ${instants})`, () => {
        const stamps = (k: number) => [-80_000, -40_000][((k * instants) % 1000) / instants - 1] ?? 0;
        const { placed } = stream({ instants, jitter: stamps, seconds: 60 });
        expect(worst(placed)).to.be.lessThan(1);
      });

      it(`follows the stamps at three times the model's rate (frames of ${instants})`, () => {
        const { placed } = stream({ instants, period: NOMINAL / 3, seconds: 120 });
        expect(ahead(placed)).to.be.lessThan(1500);
      });

      it(`stays within a minute of arrival at any rate, and does not trust such times (frames of ${instants})`, () => {
        const { placed } = stream({ instants, period: NOMINAL / 40, seconds: 60 });
        expect(ahead(placed)).to.be.at.most(60_001 + instants * NOMINAL);
        expect(jumps(placed).every((jump) => jump > -NOMINAL)).to.equal(true);
        expect(placed.every(({ t, truth, trusted }) => !trusted || t - truth <= 60_000)).to.equal(true);
      });
    }

    it('treats a step forward after the clock was set back as a gap if the arrival shows one, and otherwise as a corrected clock', () => {
      for (const pause of [5000, 0]) {
        const timeline = new Timeline(NOMINAL);
        const place = (k: number, ts: number, arrival: number) =>
          timeline.place(piece(k * 10, 10), T0 + ts, T0 + arrival).t - T0;
        for (let k = 0; k < 100; k++) place(k, k * 100, k * 100);
        for (let k = 100; k < 200; k++) place(k, k * 100 + hourBack, k * 100);
        expect(place(200, 25_000 + hourBack, 20_000 + pause)).to.be.closeTo(20_000 + pause, 1);
      }
    });

    it('also treats it as a gap in back-fill', () => {
      const timeline = new Timeline(NOMINAL);
      const place = (k: number, ts: number) => timeline.place(piece(k * 100, 100), ts, T0 + 3_600_000).t;
      for (let k = 0; k < 10; k++) place(k, T0 + k * 1000);
      for (let k = 10; k < 20; k++) place(k, T0 + k * 1000 + hourBack);
      expect(place(20, T0 + 320_000 + hourBack)).to.be.closeTo(T0 + 320_000, 1);
    });

    it('gives up numbers that jump an hour ahead of stamps and arrival', () => {
      const { timeline } = stream({ seconds: 10 });
      const arrival = T0 + 10_000;
      const { t } = timeline.place(piece(361_000, 10, { lost: 360_000 }), T0 + 10_000, arrival);
      expect(t).to.be.closeTo(T0 + 10_000, 1);
    });

    it('corrects time that ran a minute ahead without going back, and trusts it when it is correct', () => {
      const { timeline } = stream({ seconds: 10 });
      timeline.place(piece(1000, 10), T0 + 70_000, T0 + 10_000);
      let end = T0 + 70_000;
      const trusted: boolean[] = [];
      for (let k = 0; k < 4000; k++) {
        const truth = T0 + 10_100 + k * 100;
        const numbered = piece(k === 0 ? 1010 : 2010 + k * 10, 10, { lost: k === 1 ? 1000 : 0 });
        const place = timeline.place(numbered, truth, truth);
        expect(place.t).to.be.at.least(end);
        end = place.t + 9 * place.period;
        trusted.push(place.trusted);
        if (k === 3999) expect(place.t).to.be.closeTo(truth, 251);
      }
      expect(trusted.slice(2, 100)).not.to.include(true);
      expect(trusted.at(-1)).to.equal(true);
    });

    it('bounds the time of frames without a stamp among stamped ones', () => {
      const { timeline } = stream({ seconds: 10 });
      const arrival = T0 + 10_000;
      expect(timeline.place(piece(1_000_000, 10, { lost: 999_000 }), null, arrival).t).to.be.at.most(T0 + 70_000);
    });
  });

  it('does not trust equal gaps, which may be a rate far below that of the model', () => {
    const { placed } = stream({ instants: 100, period: 2 * NOMINAL });
    expect(placed.slice(3).some(({ trusted }) => trusted)).to.equal(false);
    const lossy = stream({ instants: 100, jitter: (k) => 1000 * Math.floor(k / 5) });
    expect(lossy.placed.every(({ trusted }) => trusted)).to.equal(true);
  });

  it('follows up to ten times the rate, so that the analysis sees how far off it is', () => {
    expect(relativeRate(stream({ period: NOMINAL / 8 }).placed)).to.be.closeTo(8, 0.1);
    expect(relativeRate(stream({ period: 11.1, nominal: 15.6 }).placed, 15.6)).to.be.closeTo(15.6 / 11.1, 0.01);
  });
});
