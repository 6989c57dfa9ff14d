import { expect } from 'chai';
import { type Core, createCore, ENCODING, type Estimate, type Estimator } from '../core.js';
import { isTrusted, noise, opened, payload, random, rateIn, streamed, wrongOf } from '../signals.js';
import { ecg, jitter, type KnownBeat, rhythm, withEctopics, withSmooth } from './signal.js';

const HZ = 250;
/** Samples of 200 ms. */
const FRAME = HZ / 5;

describe('hr_ecg', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  /** Estimates at each whole second, pushed as it comes. */
  const estimates = (x: readonly number[], hz = HZ, numChannels = 1, estimator: Estimator = 'hr_ecg') =>
    streamed(core, [{ modality: 'ecg', sampleRateHz: hz, numChannels }], [x], estimator).slice(1);

  /** Estimates at each whole second of an ECG of which a share of the frames of 200 ms is lost. */
  function estimatesOfRest(x: readonly number[], lost: number, seed: number): (Estimate | null)[] {
    const session = opened(core, [{ modality: 'ecg', sampleRateHz: HZ, numChannels: 1 }]);
    const chance = random(seed);
    const answers = [];
    for (let frame = 0; (frame + 1) * FRAME <= x.length; frame++) {
      const part = x.slice(frame * FRAME, (frame + 1) * FRAME);
      if (chance() < 2 * lost - 1) continue;
      session.push(0, (frame * FRAME) / HZ, 1 / HZ, ENCODING.float32, payload(part));
      if (frame % 5 === 4) answers.push(...core.step([{ session, estimator: 'hr_ecg', end: (frame + 1) / 5 }]));
    }
    session.close();
    return answers;
  }

  const last = (x: readonly number[]) => estimates(x).at(-1) ?? null;
  /** How many estimates are trusted from that second on. */
  const trustedFrom = (answers: readonly (Estimate | null)[], end: number) =>
    answers.slice(end - 1).filter(isTrusted).length;

  for (const bpm of [40, 75, 120, 200]) {
    it(`gives ${bpm} bpm after 4 s, and within 0.2 bpm after 8 s`, () => {
      const answers = estimates(ecg(12, rhythm(13, 60 / bpm)));
      expect(answers[3]?.value).to.be.closeTo(bpm, 1);
      for (const answer of answers.slice(8)) {
        expect(answer?.value).to.be.closeTo(bpm, 0.2);
        expect(answer?.confidence).to.be.at.least(0.8);
      }
    });
  }

  /** Beats at `bpm` that are `width` seconds (standard deviation) wide; one is at t = 0. */
  function train(t: number, bpm: number, width: number): number {
    const since = ((((t * bpm) / 60 + 0.5) % 1) - 0.5) * (60 / bpm);
    return 500 * Math.exp(-(since ** 2) / (2 * width ** 2));
  }

  /** Estimates at each whole second of another wave of `from` seconds, and of 40 s of beats after it. */
  function estimatesAfter(from: number, bpm: number, width: number, hz: number, before: (t: number) => number) {
    const next = random(bpm);
    const x = Array.from({ length: (from + 40) * hz }, (_, i) => {
      const t = i / hz;
      return (t < from ? before(t) : train(t - from, bpm, width)) + 10 * next();
    });
    return estimates(x, hz);
  }

  it('trusts most right rates where noise is 0.3 of the R waves, and no wrong one', () => {
    const noise = 0.3;
    const answers = [1, 2, 3, 4].flatMap((seed) =>
      estimates(ecg(70, rhythm(70, jitter(seed, 60 / 72, 0.02)), { noise, seed })).slice(20),
    );
    expect(wrongOf(answers, 72, 5)).to.deep.equal([]);
    expect(answers.filter(isTrusted).length / answers.length).to.be.above(0.7);
  });

  it('trusts no half of a rate that it found in noise as high as 0.4 of the R waves', () => {
    const next = random(75);
    const beats = rhythm(71, () => (60 / 72) * (1 + 0.02 * next()));
    const answers = estimates(ecg(70, beats, { noise: 0.4, seed: 3 })).slice(20);
    const halves = answers.filter((answer) => Math.abs((answer?.value ?? 0) - 36) < 5);
    expect(halves.length).to.be.above(20);
    expect(Math.max(...halves.map((answer) => answer?.confidence ?? 0))).to.be.below(0.5);
  });

  it('is as sure of rates in noise of 0.3 of the R waves as they are right, to a fifth, and no surer', () => {
    const off = [50, 72, 95, 120, 150, 176].flatMap((bpm) => {
      const next = random(bpm);
      const beats = rhythm(71, () => (60 / bpm) * (1 + 0.02 * next()));
      const answers = estimates(ecg(70, beats, { noise: 0.3, seed: bpm })).slice(20);
      return answers.map((answer) => Number(Math.abs((answer?.value ?? 0) - bpm) <= 5) - (answer?.confidence ?? 0));
    });
    expect(off.reduce((sum, v) => sum + v, 0) / off.length).to.be.within(0, 0.2);
  });

  it('is 60 over the mean interval between the beats of its 8 s', () => {
    const beats = rhythm(40, jitter(1, 0.8, 0.15));
    const answers = estimates(ecg(40, beats));
    for (let end = 12; end < 40; end++) {
      // A beat needs 0.25 s to be seen; the newest one then is missing in the estimate.
      const times = beats.map(({ time }) => time);
      const rates = [0, 0.27].map((unseen) => rateIn(times, end - 8, end - unseen));
      const value = answers[end - 1]?.value ?? Number.NaN;
      const off = Math.min(...rates.map((rate) => Math.abs(rate - value)));
      // A beat at the window's very edge may fall on its other side.
      expect(off, `at ${end} s`).to.be.at.most(1.2);
    }
  });

  it('is right and trusted within 10 s where a heart jumps to several times its rate', () => {
    for (const hz of [50, 250])
      for (const width of [0.01, 0.014])
        for (const [first, bpm] of [
          [25, 180],
          [30, 140],
          [30, 180],
          [40, 220],
          [60, 260],
          [75, 300],
        ] as const) {
          const answers = estimatesAfter(24, bpm, width, hz, (t) => train(t, first, width));
          for (const answer of answers.slice(24 + 9)) {
            expect(answer?.value, `${first} to ${bpm} bpm at ${hz} Hz, ${width} s`).to.be.closeTo(bpm, 0.02 * bpm);
            expect(answer?.confidence, `${first} to ${bpm} bpm at ${hz} Hz, ${width} s`).to.be.at.least(0.5);
          }
        }
  });

  it('is right and trusted within half a minute after a flat line, a wave, noise or a chirp, and before not trusted', () => {
    const next = random(1);
    const before = {
      flat: () => 0,
      wave: (t: number) => 1000 * Math.sin(2 * Math.PI * 0.3 * t),
      noise: () => 1000 * next(),
      chirp: (t: number) => 500 * Math.sin(2 * Math.PI * (1 + 0.7 * t) * t),
    };
    for (const [name, wave] of Object.entries(before))
      for (const from of [15, 30])
        for (const hz of [50, 250])
          for (const bpm of [75, 110, 180, 220]) {
            const what = `${bpm} bpm after ${from} s of ${name} at ${hz} Hz`;
            for (const [second, answer] of estimatesAfter(from, bpm, 0.014, hz, wave).entries()) {
              const isRight = Math.abs((answer?.value ?? 0) - bpm) < 5;
              if (second >= from + 28) expect([isRight, isTrusted(answer)], what).to.deep.equal([true, true]);
              else if (second >= from + 8) expect(isTrusted(answer) && !isRight, what).to.equal(false);
            }
          }
  });

  it('trusts an irregular rhythm of clear beats, including ectopic ones', () => {
    for (const beats of [rhythm(40, jitter(2, 0.7, 0.3)), withEctopics(40, 0.8, 3)]) {
      expect(last(ecg(40, beats))?.confidence).to.be.at.least(0.8);
    }
  });

  it('does not trust a rate in which it may have missed the ectopic beats', () => {
    for (const [bpm, every] of [
      [58, 1],
      [66, 1],
      [75, 1],
      [75, 2],
    ] as const)
      for (const height of [0.6, 0.8]) {
        const known = withEctopics(60, 60 / bpm, every);
        const of = (shape: string) => known.filter((beat) => beat.shape === shape);
        const small = ecg(60, of('ectopic'), { noise: 0, wander: 0 });
        const lead = ecg(60, of('normal')).map((v, i) => v + height * (small[i] ?? 0));
        const rate = bpm; // As many ectopic beats as beats that their pauses leave out
        expect(
          wrongOf(estimates(lead).slice(12), rate),
          `one after ${every} at ${bpm} bpm, ${height} high`,
        ).to.deep.equal([]);
      }
  });

  it('does not trust a rate that leaves out smooth ectopic beats on the T waves of fast beats', () => {
    for (const [bpm, every] of [
      [84, 3],
      [92, 2],
      [106, 2],
      [106, 3],
    ] as const) {
      const answers = estimates(ecg(90, withSmooth(90, 60 / bpm, every), { wander: 0 }));
      const wrong = answers.slice(12).filter((e) => e && e.confidence >= 0.5 && Math.abs(e.value - bpm) > 10);
      expect(wrong, `one after ${every} at ${bpm} bpm`).to.deep.equal([]);
    }
  });

  it('trusts a slow rhythm with blocked beats, whose pauses hide none', () => {
    const beats = rhythm(60, (i) => (i % 4 === 3 ? 1.4 : 0.7));
    const answers = estimates(ecg(60, beats)).slice(14);
    expect(answers.filter((e) => e && e.confidence >= 0.5)).to.have.length(answers.length);
  });

  it('does not trust the hum of loose electrodes, whatever its beat note on the grid', () => {
    for (const [hz, mains] of [
      [130, 60],
      [130, 59.97],
      [126, 60],
      [125, 50],
      [250, 60],
    ] as const) {
      const level = noise(240, hz);
      const hum = Array.from({ length: 120 * hz }, (_, i) => {
        const swell = 1 + 0.03 * (level[Math.floor((2 * i) / hz)] ?? 0);
        return 1000 * swell * Math.sin((2 * Math.PI * mains * i) / hz);
      });
      for (const e of estimates(hum, hz).slice(10))
        expect(e?.confidence ?? 0, `${mains} Hz at ${hz} Hz`).to.be.below(0.5);
    }
  });

  it('trusts neither a heart rate nor a breath in mains hum of any shape, with noise, swells or clipping, at any sampling rate', () => {
    const waves: Record<string, (phase: number, seconds: number, white: number) => number> = {
      pure: (p) => Math.sin(p),
      harmonics: (p) => Math.sin(p) + 0.3 * Math.sin(3 * p + 1) + 0.15 * Math.sin(2 * p + 0.5),
      noisy: (p, _, white) => Math.sin(p) + 0.03 * white,
      swelling: (p, t) => (1 + 0.4 * Math.sin(2 * Math.PI * 0.23 * t)) * Math.sin(p),
      clipped: (p) => Math.min(0.6, Math.sin(p)),
      drifting: (p, t) => Math.sin(p) + 2 * Math.sin(2 * Math.PI * 0.2 * t),
      square: (p) => Math.sign(Math.sin(p)),
      rectified: (p) => Math.abs(Math.sin(p)),
      halved: (p) => Math.max(0, Math.sin(p)),
      sawtooth: (p) => ((p / Math.PI) % 2) - 1,
      peaked: (p) => Math.sin(p) ** 9,
    };
    for (const hz of [100, 125, 128, 200, 250, 256, 360, 500, 512])
      for (const mains of [50, 60])
        for (const off of [0.002, -0.005, 0.015])
          for (const [name, wave] of Object.entries(waves)) {
            const white = noise(40 * hz, hz);
            const hum = white.map((w, i) => {
              const t = i / hz;
              return 70_000 + Math.round(400 * wave(2 * Math.PI * mains * (1 + off) * t, t, w));
            });
            const what = `${name} ${mains} Hz at ${hz} Hz, ${100 * off} % off`;
            const answers = [...estimates(hum, hz), ...estimates(hum, hz, 1, 'rr_ecg')];
            expect(answers.filter(isTrusted).length, what).to.be.at.most(2);
          }
  });

  it('counts each beat of a run of ventricular tachycardia, or does not trust the rate', () => {
    for (const interval of [0.35, 0.41, 0.46]) {
      const before = rhythm(31, 0.65);
      const run = Array.from({ length: Math.floor(20 / interval) }, (_, i) => ({
        time: 31 + i * interval,
        shape: 'ectopic' as const,
      }));
      const after = rhythm(30, 0.65).map(({ time, shape }) => ({ time: time + 51, shape }));
      const answers = estimates(ecg(81, [...before, ...run, ...after]));
      const within = answers.slice(40, 50);
      expect(wrongOf(within, 60 / interval), `${interval} s`).to.deep.equal([]);
      const trusted = within.filter(isTrusted);
      if (interval > 0.4) expect(trusted.length, `${interval} s`).to.be.at.least(8);
      expect(trustedFrom(answers, 65), `${interval} s, afterwards`).to.be.at.least(15);
    }
  });

  it('trusts a rhythm of two kinds of beats, whichever of them it learnt first', () => {
    const paced = rhythm(121, 0.8, 'ectopic');
    const own = rhythm(121, 0.8);
    for (const share of [0.2, 0.5, 0.8]) {
      const next = random(7);
      const mixed = own.map((beat, i) => (0.5 + 0.5 * next() < share ? beat : (paced[i] ?? beat)));
      const x = ecg(120, mixed);
      for (const begin of [0, 13, 47]) {
        const answers = estimates(x.slice(begin * HZ));
        expect(right(answers, 75) / answers.slice(20).length, `${share} from ${begin} s`).to.be.at.least(0.95);
      }
    }
  });

  it('trusts an ECG beside a lead of noise, of hum or without a signal as much as alone', () => {
    const beats = withEctopics(80, 0.8, 6);
    const own = ecg(80, beats, { noise: 0.04 });
    const white = noise(own.length, 21);
    const second: Record<string, (i: number) => number> = {
      noise: (i) => 300 * (white[i] ?? 0),
      hum: (i) => 400 * Math.sin((2 * Math.PI * 50.15 * i) / HZ),
      nothing: () => 0,
    };
    const alone = trustedFrom(estimates(own), 11);
    expect(alone).to.be.at.least(65);
    for (const [name, lead] of Object.entries(second))
      for (const isFirst of [false, true]) {
        const both = own.flatMap((v, i) => (isFirst ? [lead(i), v] : [v, lead(i)]));
        expect(trustedFrom(estimates(both, HZ, 2), 11), name).to.be.at.least(alone - 1);
      }
  });

  it('trusts an ECG in hum as high as its R waves', () => {
    for (const mains of [50, 60]) {
      const beats = ecg(40, rhythm(41, 0.8));
      const hum = beats.map((v, i) => v + 500 * Math.sin((2 * Math.PI * mains * i) / HZ));
      for (const e of estimates(hum).slice(10)) expect(e?.confidence).to.be.at.least(0.8);
    }
  });

  /** A regular ECG with a T wave of that height at its usual place (Bazett 1920), and a little noise. */
  function regular(bpm: number, hz: number, tWave: number, seconds = 60): number[] {
    const bump = (x: number, at: number, width: number) => Math.exp(-(((x - at) / width) ** 2));
    const beat = 60 / bpm;
    const top = 0.39 * Math.sqrt(beat) - 0.09;
    const grain = noise(seconds * hz, bpm);
    const wave = (x: number) => bump(x, 0, 0.011) - 0.2 * bump(x, 0.028, 0.01) + tWave * bump(x, top, 0.2 * top);
    return grain.map((v, i) => {
      const x = ((i / hz) % beat) - beat / 2;
      return 800 * (wave(x) + wave(x + beat) + 0.02 * v);
    });
  }

  const right = (answers: readonly (Estimate | null)[], bpm: number) =>
    answers.slice(20).filter((e) => isTrusted(e) && wrongOf([e], bpm, 5).length === 0).length;

  it('trusts hearts from 25 to 300 bpm at any sampling rate', () => {
    for (const bpm of [25, 33, 48, 110, 170, 225, 265, 300])
      for (const hz of [125, 200, 360, 512])
        expect(right(estimates(regular(bpm, hz, 0.15), hz), bpm), `${bpm} bpm at ${hz} Hz`).to.equal(40);
  });

  it('trusts no wrong rate of slow hearts whose T waves are as high as the R waves, or higher', () => {
    for (const bpm of [40, 45, 50])
      for (const tWave of [1, 1.4, 1.8]) {
        const answers = estimates(regular(bpm, 250, tWave), 250).slice(20);
        expect(wrongOf(answers, bpm), `${bpm} bpm, ${tWave} high`).to.deep.equal([]);
      }
  });

  it('does not trust two clear leads of which each shows another heart', () => {
    const [one, two] = [regular(60, HZ, 0.2), regular(85, HZ, 0.2)];
    const both = one.flatMap((v, i) => [v, two[i] ?? 0]);
    expect(trustedFrom(estimates(both, HZ, 2), 20)).to.equal(0);
  });

  it('takes no lost frame for a pause between beats', () => {
    for (const seed of [31, 32, 33, 34])
      for (const lost of [0.03, 0.1, 0.2]) {
        const interval = 0.6 + 0.1 * (seed - 31);
        const answers = estimatesOfRest(ecg(120, rhythm(121, jitter(seed, interval, 0.03))), lost, seed + 10).slice(10);
        const trusted = answers.flatMap((a) => (a && a.confidence >= 0.5 ? [Math.abs(a.value - 60 / interval)] : []));
        expect(Math.max(...trusted), `${lost} lost, seed ${seed}`).to.be.below(10);
        if (lost < 0.1) expect(trusted.length).to.be.above(0.8 * answers.length);
      }
  });

  it('does not trust an interval in which a link may have repeated one value instead of a beat', () => {
    for (const seed of [41, 42, 43, 44])
      for (const held of [0.25, 0.5, 1]) {
        const interval = 0.5 + 0.15 * (seed - 41);
        const known = ecg(120, rhythm(121, jitter(seed, interval, 0.03)));
        const at = (i: number) => ((i / HZ) % 5 < held ? i - Math.round(((i / HZ) % 5) * HZ) : i);
        const answers = estimates(known.map((_, i) => known[Math.max(0, at(i))] ?? 0)).slice(10);
        expect(wrongOf(answers, 60 / interval), `${held} s, seed ${seed}`).to.deep.equal([]);
      }
  });

  it('does not trust an interval in which a link may have drawn a line, or a curve, instead of a beat', () => {
    const line = (u: number) => u;
    const curve = (u: number) => u * u * (3 - 2 * u);
    for (const [seed, fill] of [41, 42, 43, 44].flatMap((n) => [[n, line] as const, [n, curve] as const]))
      for (const filled of [0.5, 0.8, 1.2]) {
        const interval = 0.5 + 0.15 * (seed - 41);
        const known = ecg(120, rhythm(121, jitter(seed, interval, 0.03)));
        const joined = known.map((v, i) => {
          const since = (i / HZ) % 5;
          if (i < 5 * HZ || since >= filled) return v;
          const from = i - Math.round(since * HZ);
          const [a = 0, b = 0] = [known[from], known[from + Math.round(filled * HZ)]];
          return Math.round(a + (b - a) * fill(since / filled));
        });
        expect(wrongOf(estimates(joined).slice(10), 60 / interval), `${fill}, ${filled} s, seed ${seed}`).to.deep.equal(
          [],
        );
      }
  });

  it('trusts a pause between beats that noise fills as it does the others', () => {
    const beats = rhythm(61, (i) => (i % 10 === 9 ? 1.7 : 0.8));
    for (const answer of estimates(ecg(60, beats)).slice(10)) expect(answer?.confidence).to.be.at.least(0.5);
  });

  it('does not trust the pulses of a pacemaker which no beat follows, nor the pops of an electrode', () => {
    const pulses: ((t: number, hz: number) => number)[] = [
      (t, hz) => (t < 1 / hz ? 1 : 0),
      (t, hz) => (t < 1 / hz ? -1 : 0.15 * Math.exp(-t / 0.03)),
      (t) => Math.exp(-t / 0.06),
    ];
    for (const [k, pulse] of pulses.entries())
      for (const hz of [125, 250, 500])
        for (const interval of [0.6, 0.85, 1]) {
          const grain = noise(60 * hz, k);
          const x = grain.map((v, i) => 1000 * pulse((i / hz) % interval, hz) + 20 * v);
          const wrong = estimates(x, hz).filter(isTrusted);
          expect(wrong.length, `${pulse}, ${interval} s at ${hz} Hz`).to.be.at.most(3);
        }
  });

  it('does not trust P waves after the ventricles have stopped, nor those of a block that conducts each third one', () => {
    const blocked = (beats: readonly KnownBeat[], conducts: (beat: KnownBeat, i: number) => boolean) =>
      beats.map((beat, i) => (conducts(beat, i) ? beat : { ...beat, shape: 'blocked' as const }));
    for (const seed of [61, 62, 63, 64]) {
      const beats = rhythm(181, jitter(seed, 0.6 + 0.1 * (seed - 61), 0.02));
      const stopped = ecg(
        180,
        blocked(beats, ({ time }) => time < 40),
        { noise: 0.01, seed },
      );
      expect(trustedFrom(estimates(stopped), 50), `stopped, seed ${seed}`).to.be.at.most(2);
      const third = ecg(
        120,
        blocked(beats, (_, i) => i % 3 === 0),
        { noise: 0.01, seed },
      );
      expect(
        estimates(third).filter((e) => e && e.confidence >= 0.5 && e.value > 50),
        `block, seed ${seed}`,
      ).to.deep.equal([]);
    }
  });

  it('does not trust a rate that counts peaked T waves as beats', () => {
    for (const [seed, interval] of [0.75, 0.85, 1, 1.15, 1.3].entries()) {
      const x = ecg(90, rhythm(91, jitter(71 + seed, interval, 0.02), 'peaked_t'), { noise: 0.01, seed });
      expect(wrongOf(estimates(x), 60 / interval), `${interval} s`).to.deep.equal([]);
    }
  });

  it('does not trust twice a slow rate by T waves that are as high as the R waves, and follow late', () => {
    for (const interval of [1.2, 1.35, 1.5]) {
      const x = ecg(90, rhythm(91, interval, 'slow_t'), { noise: 0.01 });
      expect(wrongOf(estimates(x), 60 / interval), `${interval} s`).to.deep.equal([]);
    }
  });

  it('does not trust half the rate where every other QRS complex is small, from the first reading on', () => {
    for (const interval of [0.4, 0.45, 0.5]) {
      const beats = rhythm(91, interval).map((beat, i) => (i % 2 ? { ...beat, shape: 'small' as const } : beat));
      const answers = estimates(ecg(90, beats, { noise: 0.01 }));
      expect(wrongOf(answers, 60 / interval), `${interval} s`).to.deep.equal([]);
    }
  });

  it('trusts an ECG again that an electrode has made ten times as small at once', () => {
    for (const interval of [0.5, 0.7, 1]) {
      const x = ecg(90, rhythm(91, jitter(7, interval, 0.02))).map((v, i) => (i < 40 * HZ ? v : 0.1 * v));
      expect(trustedFrom(estimates(x), 70), `${interval} s`).to.equal(21);
    }
  });

  it('trusts an ECG after the jumps of an electrode from end to end of its range', () => {
    const beats = ecg(90, rhythm(91, 0.8));
    const x = beats.map((v, i) => (i < 40 * HZ ? 8e6 * (Math.floor(i / 180) % 2) : v));
    expect(trustedFrom(estimates(x), 70)).to.equal(21);
  });

  it('trusts beats without T waves after the noise of a dry electrode, however large', () => {
    for (const seed of [3, 5, 6]) {
      const white = noise(40 * HZ, seed);
      for (const size of [1, 5, 10, 30, 100]) {
        const x = Array.from({ length: 90 * HZ }, (_, i) => {
          const beat = Math.exp(-(((((1.2 * i) / HZ) % 1) - 0.5) ** 2) / 2e-4);
          return beat + 0.05 * Math.sin(i / HZ) + size * (white[i] ?? 0);
        });
        expect(trustedFrom(estimates(x), 70), `noise of ${size}, seed ${seed}`).to.equal(21);
      }
    }
  });

  it('trusts beats that follow the pulses of a pacemaker', () => {
    for (const hz of [250, 500]) {
      const paced = ecg(40, rhythm(41, 0.85, 'ectopic'), { hz });
      const x = paced.map((v, i) => {
        const since = (i / hz - 0.32 + 0.85) % 0.85;
        return v + (since < 1 / hz ? 400 : 0);
      });
      for (const answer of estimates(x, hz).slice(10)) expect(answer?.confidence, `${hz} Hz`).to.be.at.least(0.8);
    }
  });

  it('does not trust an interval in which noise may have hidden beats, as in bursts of tremor', () => {
    for (const seed of [51, 52, 53, 54])
      for (const loud of [0.3, 0.6, 1]) {
        const interval = 0.5 + 0.15 * (seed - 51);
        const known = ecg(120, rhythm(121, jitter(seed, interval, 0.03)));
        const height = loud * Math.max(...known);
        const tremor = noise(known.length, seed);
        const shaken = known.map((v, i) => v + ((i / HZ) % 10 < 3 ? height * (tremor[i] ?? 0) : 0));
        const answers = estimates(shaken).slice(10);
        expect(wrongOf(answers, 60 / interval), `${loud}, seed ${seed}`).to.deep.equal([]);
        expect(answers.filter(isTrusted).length, `${loud}, seed ${seed}`).to.be.above(loud < 1 ? 10 : 5);
      }
  });

  it('hardly ever trusts a wrong rate where a link repeats one value for as short as a beat', () => {
    const errors = [51, 52, 53, 54].flatMap((seed) => {
      const interval = 0.5 + 0.15 * (seed - 51);
      const chance = random(seed);
      const known = ecg(120, rhythm(121, jitter(seed, interval, 0.03)));
      const held = 0.08 * HZ;
      let lost = false;
      const repeated = known.map((_, i) => {
        if (i % held === 0) lost = chance() > 0.7;
        return known[lost ? i - (i % held) : i] ?? 0;
      });
      const answers = estimates(repeated);
      return answers.flatMap((a) => (a && a.confidence >= 0.5 ? [Math.abs(a.value - 60 / interval)] : []));
    });
    expect(errors.length).to.be.above(150);
    expect(errors.filter((error) => error > 10).length).to.be.below(10);
  });

  it('trusts an irregular rhythm as much where the first of two leads is dead', () => {
    const lead = ecg(60, withEctopics(61, 0.9, 5));
    const alone = trustedFrom(estimates(lead), 10);
    expect(alone).to.be.above(30);
    const both = lead.flatMap((v) => [0, v]);
    expect(trustedFrom(estimates(both, HZ, 2), 10)).to.equal(alone);
  });

  it('trusts a coarse ECG that is flat between its beats, a rhythm with pauses, too', () => {
    const coarse = (beats: readonly KnownBeat[]) =>
      ecg(60, beats, { noise: 0, wander: 0 }).map((v) => 100 * Math.round(v / 100));
    const steady = estimates(coarse(rhythm(61, 1.1))).slice(10);
    for (const answer of steady) expect(answer?.confidence).to.be.at.least(0.8);
    const uneven = estimates(coarse(rhythm(61, jitter(5, 0.8, 0.1)))).slice(10);
    for (const answer of uneven) expect(answer?.confidence).to.be.at.least(0.8);
  });

  it('does not trust rounding errors of huge constants and drifts, nor stairs', () => {
    const leads: ((t: number) => number)[] = [
      ...[1e9, 1e12, 1e30, 3e38].map((v) => () => v),
      (t) => 1000 * t,
      (t) => (t - 30) ** 3,
      (t) => 20_000 * Math.exp(-t / 5),
      (t) => 50_000 + 1000 * Math.sin((2 * Math.PI * t) / 30),
      (t) => 50_000 + 1000 * Math.sin((2 * Math.PI * t) / 60),
      (t) => Math.round(50_000 + 30 * t),
      (t) => Math.round(50_000 + t),
      (t) => 1000 * Math.floor(t / 1.7),
    ];
    for (const lead of leads) {
      const answers = estimates(Array.from({ length: 60 * HZ }, (_, i) => lead(i / HZ)));
      for (const answer of answers) expect(answer?.confidence ?? 0, `${lead}`).to.be.below(0.5);
    }
  });

  it('hardly trusts spikes at random times', () => {
    const trusted = [1, 2, 3].flatMap((seed) => {
      const next = random(seed);
      const spikes = Array.from({ length: 60 * HZ }, () => 5 * next() + (next() > 1 - 2.4 / HZ ? 1000 : 0));
      return estimates(spikes).slice(20).filter(isTrusted);
    });
    expect(trusted.length).to.be.below(18); // of 120
  });

  it('does not trust a window with an extra beat in a regular rhythm', () => {
    const beats = rhythm(40, 0.8);
    const known = [...beats, { time: 30.3, shape: 'normal' as const }].sort((a, b) => a.time - b.time);
    const answers = estimates(ecg(40, known));
    expect(answers[28]?.confidence).to.be.at.least(0.8);
    expect(answers[33]?.confidence).to.be.below(0.6);
  });

  it('trusts beats of 1000 units on an offset of 8 million', () => {
    const beats = ecg(20, rhythm(21, 0.8));
    const most = Math.max(...beats);
    expect(last(beats.map((v) => 8e6 + (1000 * v) / most))?.confidence).to.be.at.least(0.8);
  });

  it('does not trust noise', () => {
    const white = noise(60 * HZ, 3).map((v) => 500 * v);
    let drift = 0;
    const walk = white.map((v) => {
      drift += v;
      return drift;
    });
    const rails = white.map((v) => Math.sign(v) * 32768);
    const chatter = white.map((_, i) => (Math.floor(i / 73) % 2 ? 32767 : -32768));
    for (const x of [white, walk, rails, chatter]) {
      for (const answer of estimates(x).slice(20)) expect(answer?.confidence ?? 0).to.be.below(0.5);
    }
  });

  it('gives nothing for a flat line', () => {
    for (const level of [0, 5, -1e9]) {
      expect(estimates(new Array<number>(20 * HZ).fill(level)).every((answer) => answer === null)).to.equal(true);
    }
  });

  it('stops trusting when the beats stop', () => {
    const x = ecg(40, rhythm(20, 0.8)).map((v, i) => (i < 20 * HZ ? v : 0));
    const answers = estimates(x);
    expect(answers[18]?.confidence).to.be.at.least(0.8);
    expect(answers[24]?.confidence ?? 0).to.be.below(0.5);
    expect(answers[30]).to.equal(null);
  });

  it('has lower confidence with more noise', () => {
    const beats = rhythm(60, jitter(4, 0.8, 0.03));
    const trust = [0.02, 0.15, 0.6].map((level) => {
      const answers = estimates(ecg(60, beats, { noise: level })).slice(20);
      return answers.reduce((sum, a) => sum + (a?.confidence ?? 0), 0) / answers.length;
    });
    const [clean = 0, some = 0, most = 0] = trust;
    expect(clean).to.be.above(0.9);
    expect(some).to.be.below(clean);
    expect(most).to.be.below(0.5);
  });

  it('gives finite values for any input', () => {
    const next = random(5);
    const absurd = [Number.NaN, 3e38, -3e38, 1e-40, 0];
    const x = Array.from({ length: 30 * HZ }, () => absurd[Math.floor((next() + 1) * 2.5)] ?? 0);
    for (const answer of estimates(x)) {
      if (!answer) continue;
      expect(answer.value).to.be.within(20, 300);
      expect(answer.confidence).to.be.within(0, 1);
    }
  });
});
