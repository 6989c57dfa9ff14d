import { expect } from 'chai';
import { type Core, type CoreSession, createCore, ENCODING } from '../core.js';
import { noise, opened, payload, random } from '../signals.js';
import { ecg, jitter, type KnownBeat, rhythm, withEctopics } from './signal.js';

const HZ = 250;
/** Beats in the last half second may still be open. */
const OPEN = 0.6;

describe('R peaks', () => {
  let core: Core;
  let session: CoreSession;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  beforeEach(() => {
    open(1);
  });

  afterEach(() => {
    session.close();
  });

  function open(numChannels: number): void {
    session?.close();
    session = opened(core, [{ modality: 'ecg', sampleRateHz: HZ, numChannels }]);
  }

  /** Pushes instants from `t` on in chunks, and steps at each whole second that is over; returns the peaks of each step. */
  function stream(x: readonly number[], { chunk = HZ, leads = 1, t = 0, hz = HZ } = {}): { end: number; t: number }[] {
    const peaks: { end: number; t: number }[] = [];
    const length = x.length / leads;
    for (let i = 0, second = Math.floor(t); i < length; i += chunk) {
      const part = x.slice(i * leads, (i + chunk) * leads);
      session.push(0, t + i / hz, 1 / hz, ENCODING.float32, payload(part));
      for (; second + 1 <= t + (i + part.length / leads) / hz; second++) {
        core.step([{ session, estimator: 'hr_ecg', end: second + 1 }]);
        for (const peak of session.readPeaks(0)) peaks.push({ end: second + 1, t: peak });
      }
    }
    return peaks;
  }

  const times = (x: readonly number[], options = {}) => stream(x, options).map((peak) => peak.t);

  /** Every known beat has its peak within `tolerance`, and nothing else is found. */
  function expectBeats(got: readonly number[], beats: readonly KnownBeat[], until: number, tolerance = 0.025): void {
    const want = beats.map((b) => b.time).filter((time) => time < until - OPEN);
    const found = got.filter((time) => time < until - OPEN);
    expect(found.length, `${found.length} peaks for ${want.length} beats`).to.equal(want.length);
    found.forEach((time, i) => {
      expect(time, `beat ${i}`).to.be.closeTo(want[i] ?? Number.NaN, tolerance);
    });
  }

  /** Harmonic mean of sensitivity and precision, beats within 50 ms. */
  function f1(found: readonly number[], beats: readonly KnownBeat[]): number {
    const hits = beats.filter((b) => found.some((time) => Math.abs(time - b.time) <= 0.05)).length;
    return (2 * hits) / (found.length + beats.length);
  }

  for (const bpm of [40, 75, 120, 200]) {
    it(`finds every beat at ${bpm} bpm, at its time`, () => {
      const beats = rhythm(40, jitter(bpm, 60 / bpm, 2 / bpm));
      expectBeats(times(ecg(40, beats)), beats, 40, 0.008);
    });
  }

  it('finds every beat of a random rhythm', () => {
    const beats = rhythm(60, jitter(3, 0.7, 0.3));
    expectBeats(times(ecg(60, beats)), beats, 60);
  });

  it('does not mistake tall T waves for beats', () => {
    const beats = rhythm(40, jitter(4, 0.9, 0.05), 'tall_t');
    expectBeats(times(ecg(40, beats)), beats, 40);
  });

  it('adds no beats in a pause', () => {
    const beats = rhythm(60, (i) => (i % 7 === 6 ? 2.4 : 0.8));
    expectBeats(times(ecg(60, beats)), beats, 60);
  });

  for (const every of [10, 2, 1]) {
    it(`finds broad ectopic beats after every ${every} normal ones`, () => {
      const beats = withEctopics(60, 0.8, every);
      expectBeats(times(ecg(60, beats)), beats, 60, 0.05);
    });
  }

  it('finds ectopic beats if the data begin just before a beat', () => {
    const beats = withEctopics(60, 0.8, 2);
    const x = ecg(60, beats);
    for (const missing of [0.232, 0.252, 0.272]) {
      open(1);
      const seen = beats.map((beat) => ({ ...beat, time: beat.time - missing }));
      expectBeats(times(x.slice(missing * HZ)), seen, 59, 0.05);
    }
  });

  it('places a broad R wave at its top, not where it falls most steeply', () => {
    const beats = rhythm(40, jitter(9, 0.8, 0.05)).map((b, i) => (i % 4 === 3 ? { ...b, shape: 'steep' as const } : b));
    expectBeats(times(ecg(40, beats)), beats, 40);
  });

  it('finds beats in baseline wander of twice their size', () => {
    const beats = rhythm(40, jitter(5, 0.8, 0.05));
    expectBeats(times(ecg(40, beats, { wander: 2 })), beats, 40);
  });

  it('finds nearly all beats in white noise of a seventh of the R wave', () => {
    const beats = rhythm(60, jitter(6, 0.8, 0.05));
    expect(f1(times(ecg(60, beats, { noise: 1 / 7 })), beats)).to.be.at.least(0.96);
  });

  it('follows the better of two leads', () => {
    const beats = rhythm(60, jitter(7, 0.8, 0.05));
    const clean = ecg(60, beats);
    const hiss = noise(clean.length, 8);
    const noisy = (i: number, on: boolean) => (clean[i] ?? 0) + (on ? 450 * (hiss[i] ?? 0) : 0);
    const x = clean.flatMap((_, i) => [noisy(i, i > 20 * HZ && i < 40 * HZ), noisy(i, i > 40 * HZ)]);
    open(2);
    expect(f1(times(x, { leads: 2 }), beats)).to.be.at.least(0.96);
  });

  it('finds beats of either polarity and any size', () => {
    const beats = rhythm(30, jitter(9, 0.8, 0.05));
    for (const scale of [-1, 1e-5, 1e6]) {
      open(1);
      expectBeats(times(ecg(30, beats).map((v) => v * scale)), beats, 30);
    }
  });

  it('decides within half a second, whatever data come later', () => {
    const beats = rhythm(30, jitter(10, 0.8, 0.2));
    const peaks = stream(ecg(30, beats));
    const next = beats.filter((b) => b.time > 4 && b.time < 29);
    for (const { time } of next) {
      const peak = peaks.find((p) => Math.abs(p.t - time) < 0.05);
      // The first step at which half a second has passed; 4 grid samples of a second's end wait for the next one.
      expect(peak?.end, `beat at ${time}`).to.be.at.most(Math.ceil(time + 0.5 + 5 / 128));
    }
  });

  it('gives the same beats for any chunking', () => {
    const beats = rhythm(30, jitter(11, 0.7, 0.2));
    const x = ecg(30, beats, { noise: 0.1 });
    const want = times(x);
    for (const chunk of [1, 7, 100, 5 * HZ]) {
      open(1);
      expect(times(x, { chunk })).to.deep.equal(want);
    }
  });

  it('continues after a gap, without a peak in it', () => {
    const beats = rhythm(40, jitter(12, 0.8, 0.02));
    const x = ecg(40, beats);
    const before = times(x.slice(0, 15 * HZ));
    const after = times(x.slice(19 * HZ), { t: 19 });
    const found = [...before, ...after];
    // Next to the gap the features miss grid samples: a beat there may be found or not.
    const clear = (time: number) => time < 14.6 || time > 19.4;
    const kept = beats.filter((b) => clear(b.time));
    expectBeats(found.filter(clear), kept, 40);
    expect(found.every((time) => time < 15 || time > 19)).to.equal(true);
  });

  it('learns again after a long loss', () => {
    const beats = rhythm(20, jitter(13, 0.8, 0.02));
    const x = ecg(20, beats);
    times(x);
    const found = times(
      x.map((v) => v / -50),
      { t: 400 },
    );
    expectBeats(
      found.filter((time) => time > 400).map((time) => time - 400),
      beats,
      20,
    );
  });

  it('places even beats evenly, wherever they lie between the grid samples', () => {
    for (const [rate, bpm] of [
      [125, 61.3],
      [250, 77.7],
      [500, 72],
      [1000, 70],
    ] as const) {
      const even = Array.from({ length: bpm }, (_, i) => ({ time: 0.5 + (i * 60) / bpm, shape: 'normal' as const }));
      open(1);
      const got = times(ecg(58, even, { hz: rate, noise: 0, wander: 0 }), { hz: rate, chunk: rate }).slice(10);
      const intervals = got.slice(1).map((time, i) => time - (got[i] ?? Number.NaN));
      expect(Math.max(...intervals.map((v) => Math.abs(v - 60 / bpm))), `${bpm} bpm`).to.be.below(0.0002);
    }
  });

  it('handles levels of any size, with beats on top of them', () => {
    const beats = rhythm(30, jitter(16, 0.8, 0.02));
    const x = ecg(30, beats);
    for (const level of [-8_000_000, 8_000_000]) {
      open(1);
      expectBeats(times(x.map((v) => v + level)), beats, 30);
    }
  });

  it('finds beats again after a square wave at the largest values', () => {
    const beats = rhythm(60, jitter(17, 0.8, 0.02));
    const x = ecg(60, beats).map((v, i) => (i > 5 * HZ && i < 25 * HZ ? (Math.floor(i / 50) % 2 ? 3e38 : -3e38) : v));
    const late = (time: number) => time > 35;
    expectBeats(
      times(x).filter(late),
      beats.filter((b) => late(b.time)),
      60,
    );
  });

  it('goes on where a slow wave ends in broad beats that are faster than it can follow', () => {
    const [next, beats] = [random(8), [] as number[]];
    for (let t = 15.3; t < 35; t += 0.2 * (1 + 0.005 * next())) beats.push(t);
    const wave = (t: number) =>
      1000 * Math.exp(-0.5 * (t / 0.04) ** 2) - 600 * Math.exp(-0.5 * ((t - 0.09) / 0.05) ** 2);
    const x = Array.from({ length: 30 * HZ }, (_, i) => {
      const t = i / HZ;
      const rest = 50 * (next() + next() + next());
      if (t < 15) return 2000 * Math.sin(2 * Math.PI * 0.3 * t);
      return beats.filter((beat) => Math.abs(t - beat) < 0.9).reduce((sum, beat) => sum + wave(t - beat), rest);
    });
    expect(stream(x).at(-1)?.end).to.be.at.least(29);
  });

  it('finds no beat in a flat line, zeros or missing data', () => {
    for (const level of [0, 12345, -1e12]) {
      open(1);
      expect(times(new Array<number>(20 * HZ).fill(level))).to.deep.equal([]);
    }
    expect([...session.readPeaks(0)]).to.deep.equal([]);
  });

  it('recovers from clipping, absurd values and missing values', () => {
    const beats = rhythm(60, jitter(14, 0.8, 0.02));
    const x = ecg(60, beats);
    const hiss = noise(x.length, 15);
    for (let i = 10 * HZ; i < 30 * HZ; i++) {
      const v = hiss[i] ?? 0;
      x[i] = [Number.NaN, v > 0 ? 3e38 : -3e38, Math.sign(v) * 32768, 1e-40 * v][Math.floor(i / (5 * HZ)) - 2] ?? 0;
    }
    const found = times(x);
    expect(found.every((time) => Number.isFinite(time))).to.equal(true);
    expectBeats(
      found.filter((time) => time > 40),
      beats.filter((b) => b.time > 40),
      60,
    );
  });
});
