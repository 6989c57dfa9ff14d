import { expect } from 'chai';
import { type Core, type CoreChannel, createCore, ENCODING, type Estimate } from '../core.js';
import { isTrusted, noise, opened, payload, pulse, streamed } from '../signals.js';

const HZ = 64;
const RED: CoreChannel = { modality: 'ppg_red', sampleRateHz: HZ, numChannels: 1 };
const INFRARED: CoreChannel = { modality: 'ppg_ir', sampleRateHz: HZ, numChannels: 1 };

const ACCEL: CoreChannel = { modality: 'accel', sampleRateHz: HZ, numChannels: 3 };

/** An optical channel of `dc` counts whose pulse is that part of it, at 72 bpm. */
function optical(seconds: number, dc: number, part: number): number[] {
  return Array.from({ length: seconds * HZ }, (_, i) => dc * (1 - part * pulse((i / HZ) * 1.2)));
}

function plus(x: readonly number[], y: readonly number[], scale: number): number[] {
  return x.map((v, i) => v + scale * (y[i] ?? 0));
}

function walk(n: number, seed: number): number[] {
  let at = 0;
  return noise(n, seed).map((v) => {
    at += v;
    return at;
  });
}

describe('spo2', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  function estimate(
    red: readonly number[],
    infrared: readonly number[],
    end = Math.floor(red.length / HZ),
    part = 1e9,
    accel: readonly number[] = [],
  ): Estimate | null {
    const session = opened(core, [RED, INFRARED, ACCEL]);
    [red, infrared].forEach((x, channel) => {
      for (let i = 0; i < x.length; i += part) {
        session.push(channel, i / HZ, 1 / HZ, ENCODING.float32, payload(x.slice(i, i + part)));
      }
    });
    session.push(2, 0, 1 / HZ, ENCODING.float32, payload(accel));
    const [answer] = core.step([{ session, estimator: 'spo2', end }]);
    session.close();
    return answer ?? null;
  }

  /** Asks after each second from the fourth on; index = window end, seconds. */
  const estimates = (red: readonly number[], infrared: readonly number[]) =>
    streamed(core, [RED, INFRARED], [red, infrared], 'spo2', { first: 4 });

  for (const ratio of [0.4, 0.7, 0.95, 1, 1.05, 1.4, 1.6]) {
    it(`finds a ratio of ${ratio} within a thousandth and trusts it, also of a pulse of 0.3 %`, () => {
      for (const part of [0.01, 0.003]) {
        const noisy = (dc: number, own: number, seed: number) => plus(optical(10, dc, own), noise(10 * HZ, seed), 6);
        const answer = estimate(noisy(180_000, part * ratio, 1), noisy(200_000, part, 2));
        expect(answer?.value).to.be.closeTo(ratio, 0.001 * ratio + (part < 0.01 ? 0.01 : 0.002));
        expect(answer?.confidence).to.be.at.least(0.6);
      }
    });
  }

  for (const unit of [1, 0.001, 9.81, 16_384])
    it(`doubts a ratio of a wearer who moves, also a little all the time, and not of one who turns the wrist (1 g is ${unit})`, () => {
      const [red, infrared] = [optical(10, 1e5, 0.005), optical(10, 1e5, 0.01)];
      const trust = (g: number, from = 0) => {
        const swing = (t: number) => (t < from ? 0 : g * Math.SQRT2 * Math.sin(2 * Math.PI * 1.3 * t));
        const accel = Array.from({ length: 10 * HZ }, (_, i) => [0.6, 0.8 + swing(i / HZ), 0]).flat();
        return estimate(
          red,
          infrared,
          10,
          1e9,
          accel.map((v) => v * unit),
        )?.confidence;
      };
      expect(trust(0)).to.be.above(0.8);
      expect(trust(0.01)).to.equal(trust(0));
      expect(trust(0.09, 7)).to.equal(trust(0));
      expect(trust(0.03)).to.equal(0);
      expect(trust(0.3)).to.equal(0);
    });

  it('answers after four seconds', () => {
    const [red, infrared] = [optical(8, 1e5, 0.007), optical(8, 1e5, 0.01)];
    const early = estimate(red, infrared, 4);
    expect(early?.value).to.be.closeTo(0.7, 0.01);
    expect(early?.confidence).to.be.at.least(0.5);
  });

  it('holds the ratio while the optical channel drifts and with noise of a fifth of the pulse', () => {
    for (const seed of [1, 2, 3, 4]) {
      const drift = Array.from({ length: 8 * HZ }, (_, i) => 3000 * Math.sin(i / HZ));
      const red = plus(plus(optical(8, 1e5, 0.008), drift, 0.8), noise(8 * HZ, seed), 160);
      const infrared = plus(plus(optical(8, 1e5, 0.01), drift, 1), noise(8 * HZ, seed + 9), 200);
      expect(estimate(red, infrared)?.value).to.be.closeTo(0.8, 0.03);
    }
  });

  it('leaves out a second in which one optical channel jumps', () => {
    const red = optical(8, 1e5, 0.005).map((v, i) => (i > 3.2 * HZ && i < 3.5 * HZ ? v + 4000 : v));
    const answer = estimate(red, optical(8, 1e5, 0.01));
    expect(answer?.value).to.be.closeTo(0.5, 0.03);
  });

  it('leaves out the seconds in which a wearable changes its light, or the offset of both channels', () => {
    for (const at of [1.5, 3.9, 6.2]) {
      const stepped = (x: readonly number[], step: (v: number) => number) =>
        x.map((v, i) => (i < at * HZ ? v : step(v)));
      for (const step of [(v: number) => 1.04 * v, (v: number) => 0.8 * v, (v: number) => v + 4000]) {
        const answer = estimate(stepped(optical(8, 1e5, 0.005), step), stepped(optical(8, 1.1e5, 0.01), step));
        expect(answer?.value, `at ${at} s`).to.be.closeTo(0.5, 0.06);
        expect(answer?.confidence).to.be.above(0.4); // Of eight seconds, one or two are left out
      }
    }
  });

  it('refers each second of a pulse to its own level where a wearable changes the gain of one channel', () => {
    for (const at of [1.5, 2.8, 3.9, 4.1, 5.2, 6.2])
      for (const gain of [0.5, 0.75, 1.3, 1.6, 2]) {
        const red = optical(8, 1e5, 0.005).map((v, i) => (i < at * HZ ? v : gain * v));
        const answer = estimate(red, optical(8, 1.1e5, 0.01));
        expect(answer?.value, `${gain} at ${at} s`).to.be.closeTo(0.5, 0.02);
        const other = estimate(optical(8, 1.1e5, 0.005), red);
        expect(other?.value, `infrared, ${gain} at ${at} s`).to.be.closeTo(1, 0.04);
      }
  });

  it('does not trust a movement in rhythm that no accelerometer shows, but a pulse that is three times as large', () => {
    const seconds = 60;
    const infrared = (grown: (t: number) => number) =>
      Array.from({ length: seconds * HZ }, (_, i) => 1e5 * (1 - grown(i / HZ)));
    // A steep rise and a slow fall, as at a finger
    const beat = (t: number) => 0.01 * Math.exp(-0.5 * (Math.log(((t % 0.8) + 1e-3) / 0.2) / 0.6) ** 2);
    const swing = (t: number) => beat(t) + (t < 30 ? 0 : 0.03 * Math.sin(2 * Math.PI * 1.25 * t));
    const larger = (t: number) => (t < 30 ? 1 : 3) * beat(t);
    const session = (grown: (t: number) => number, share: (t: number) => number) =>
      estimates(
        infrared((t) => share(t) * grown(t)),
        infrared(grown),
      );
    const moved = session(swing, (t) => (t < 30 ? 0.5 : 1));
    const grown = session(larger, () => 0.5);
    expect(moved.slice(8, 30).every(isTrusted)).to.equal(true);
    expect(moved.slice(40).filter(isTrusted)).to.deep.equal([]);
    expect(grown.slice(8, 30).every(isTrusted)).to.equal(true);
    expect(grown.slice(40).every(isTrusted)).to.equal(true);
  });

  it('finds the ratio within 3 % in gaps and drifting noise, or does not trust it', () => {
    const cut = (x: number[], from: number, to: number) => x.map((v, i) => (i >= from && i < to ? Number.NaN : v));
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const red = plus(optical(9, 80_000, 0.006), walk(9 * HZ, seed), 2 * seed);
      const infrared = plus(optical(9, 120_000, 0.009), walk(9 * HZ, seed + 50), 2 * seed);
      const answer = estimate(cut(red, 30 * seed, 40 * seed), cut(infrared, 200, 200 + 12 * seed), 9);
      if (answer && answer.confidence >= 0.5) expect(answer.value, `seed ${seed}`).to.be.closeTo(0.006 / 0.009, 0.02);
    }
  });

  it('gives the same bits for any chunking of the payload', () => {
    const red = plus(optical(8, 1e5, 0.006), noise(8 * HZ, 1), 50);
    const infrared = plus(optical(8, 1e5, 0.01), noise(8 * HZ, 2), 50);
    const whole = estimate(red, infrared);
    for (const part of [1, 13, 200]) expect(estimate(red, infrared, 8, part)).to.deep.equal(whole);
  });

  it('uses no sample after the window', () => {
    const [red, infrared] = [optical(12, 1e5, 0.006), optical(12, 1e5, 0.01)];
    const before = estimate(red.slice(0, 8 * HZ + 1), infrared.slice(0, 8 * HZ + 1), 8);
    const loud = noise(4 * HZ, 3).map((v) => 1e6 * v);
    expect(
      estimate([...red.slice(0, 8 * HZ + 1), ...loud], [...infrared.slice(0, 8 * HZ + 1), ...loud], 8),
    ).to.deep.equal(before);
  });

  it('keeps an irregular rhythm trusted', () => {
    const next = noise(40, 6);
    let [phase, beat] = [0, 0];
    const wave = Array.from({ length: 8 * HZ }, () => {
      phase += (1.2 * (1 + 0.35 * (next[beat] ?? 0))) / HZ;
      beat = Math.floor(phase);
      // a systolic rise that is six times as steep as the fall, as in a finger
      const p = phase % 1;
      return p < 0.14 ? p / 0.14 : (1 - p) / 0.86;
    });
    const answer = estimate(
      wave.map((v) => 1e5 - 600 * v),
      wave.map((v) => 1e5 - 1000 * v),
    );
    expect(answer?.value).to.be.closeTo(0.6, 0.01);
    expect(answer?.confidence).to.be.at.least(0.5);
  });

  it('does not trust a pulse on which a slower or a faster movement, or noise in red, raises the ratio', () => {
    const movement = (hz: number) => Array.from({ length: 10 * HZ }, (_, i) => -Math.cos((2 * Math.PI * hz * i) / HZ));
    const [red, infrared] = [optical(10, 90_000, 0.0045), optical(10, 130_000, 0.01)];
    const alike = (x: readonly number[], part: number) =>
      estimate(plus(red, x, 90_000 * part), plus(infrared, x, 130_000 * part));
    for (const hz of [1.05, 1.5, 1.9, 2.3]) {
      expect(alike(movement(hz), 0.003)?.value).to.be.above(0.59);
      expect(alike(movement(hz), 0.003)?.confidence).to.be.below(0.5);
      expect(alike(movement(hz), 0.0003)?.value).to.be.below(0.47);
      expect(alike(movement(hz), 0.0003)?.confidence).to.be.above(0.9);
    }
    const noisy = estimate(plus(red, movement(1.05), 90_000 * 0.002), infrared);
    expect(noisy?.value).to.be.above(0.6);
    expect(noisy?.confidence).to.be.below(0.5);
  });

  it('does not trust noise in one optical channel, or the same noise in both', () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const level = optical(8, 1e5, 0);
      const [x, y] = [noise(8 * HZ, seed), walk(8 * HZ, seed)];
      const pairs = [
        [plus(level, x, 300), plus(level, noise(8 * HZ, seed + 99), 300)],
        [plus(level, x, 300), plus(level, x, 300)],
        [plus(level, y, 100), plus(level, y, 120)],
        [optical(8, 1e5, 0.01), plus(level, x, 300)],
      ] as const;
      for (const [red, infrared] of pairs) expect(estimate(red, infrared)?.confidence ?? 0).to.be.below(0.5);
    }
  });

  const alike: Record<string, (t: number) => number> = {
    'settle together': (t) => 20_000 * Math.exp(-t / 5),
    'settle together, fast': (t) => 20_000 * Math.exp(-t / 2),
    'step together': (t) => (t > 5 ? 10_000 : 0),
    'share two spikes': (t) => (Math.abs(t - 2.1) < 0.02 || Math.abs(t - 6.7) < 0.02 ? 20_000 : 0),
    'run between the same rails at 7 Hz': (t) => (Math.floor(14 * t) % 2 ? 131_071 : 0),
  };
  for (const [name, value] of Object.entries(alike)) {
    it(`does not trust optical channels that ${name}`, () => {
      const x = optical(8, 1e5, 0).map((v, i) => v + value(i / HZ));
      for (const end of [4, 6, 8]) expect(estimate(x, x, end)?.confidence ?? 0, `at ${end} s`).to.be.below(0.5);
    });
  }

  it('does not trust a channel that is at the end of its range for a part of each beat, or whose pulse is a few counts high', () => {
    const light = [0.005, 0.01].map((part, seed) => plus(optical(8, 50_000, part), noise(8 * HZ, seed), 8));
    const coarse = (v: number) => Math.round(v / 128);
    const changes = [0.005, 0.01].map((part) => [
      (v: number) => Math.min(v, 50_000 * (1 - 0.1 * part)),
      (v: number) => Math.max(v, 50_000 * (1 - 0.3 * part)),
      coarse,
    ]);
    const confidence = (red: (v: number) => number, infrared: (v: number) => number) =>
      estimate((light[0] ?? []).map(red), (light[1] ?? []).map(infrared))?.confidence ?? 0;
    const [ofRed = [], ofInfrared = []] = changes;
    expect(confidence(Math.round, Math.round)).to.be.at.least(0.8);
    for (const change of ofRed) expect(confidence(change, Math.round)).to.be.below(0.5);
    for (const change of ofInfrared) expect(confidence(Math.round, change)).to.be.below(0.5);
  });

  it('gives none for a flat, a missing or a too short optical channel', () => {
    const good = optical(8, 1e5, 0.01);
    const flat = optical(8, 1e5, 0);
    expect(estimate(flat, good)).to.equal(null);
    expect(estimate(good, flat)).to.equal(null);
    expect(estimate(good, [])).to.equal(null);
    expect(estimate(good, good, 2)).to.equal(null);
    expect(
      estimate(
        good.map((v, i) => (i < 6 * HZ ? Number.NaN : v)),
        good,
      ),
    ).to.equal(null);
  });

  it('gives none if an optical channel is not above zero, because it then has no level', () => {
    const ac = optical(8, 1e5, 0.01).map((v) => v - 1e5);
    expect(estimate(ac, ac)).to.equal(null);
  });

  it('does not trust optical channels without their constant part, to which the ratio refers', () => {
    const [red, infrared] = [30, 20].map((level) => optical(8, 1e5, 0.01).map((v) => v - 1e5 + 600 + level)) as [
      number[],
      number[],
    ];
    expect(estimate(red, infrared)?.confidence).to.be.below(0.1);
  });

  it('stays finite on zeros, missing values, rails and 1e38', () => {
    const rails = noise(8 * HZ, 4).map((v) => (v > 0 ? 262_143 : 0));
    const huge = noise(8 * HZ, 5).map((v) => 1e38 * v);
    const gaps = optical(8, 1e5, 0.01).map((v, i) => (i % 3 ? Number.NaN : v));
    const zeros = rails.map(() => 0);
    for (const x of [rails, huge, gaps, zeros]) {
      for (const y of [rails, huge, gaps, zeros, optical(8, 1e5, 0.01)]) {
        const answer = estimate(x, y);
        if (answer)
          expect(Number.isFinite(answer.value) && answer.confidence >= 0 && answer.confidence <= 1).to.equal(true);
      }
    }
  });
});
