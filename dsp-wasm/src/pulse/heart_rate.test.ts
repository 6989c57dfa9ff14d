import { expect } from 'chai';
import { type Core, type CoreChannel, createCore, ENCODING } from '../core.js';
import { isTrusted, noise, opened, payload, ppg, pulse, random, rateIn, streamed, wrongOf } from '../signals.js';

const HZ = 50;
const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: HZ, numChannels: 1 };
const RED_AND_INFRARED: readonly CoreChannel[] = (['ppg_red', 'ppg_ir'] as const).map((modality) => ({
  ...GREEN,
  modality,
}));
const ACCEL: CoreChannel = { modality: 'accel', sampleRateHz: HZ, numChannels: 3 };

describe('hr_ppg', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  /** Estimates from the fourth second on; index = window end, seconds. */
  const run = (channels: readonly CoreChannel[], data: readonly (readonly number[])[], seconds: number) =>
    streamed(core, channels, data, 'hr_ppg', { seconds, first: 4 });

  const times = (seconds: number) => Array.from({ length: seconds * HZ }, (_, i) => i / HZ);

  for (const bpm of [42, 60, 75, 98, 130, 180]) {
    it(`finds ${bpm} bpm within 1 bpm and trusts it`, () => {
      const estimates = run([GREEN], [ppg(14, HZ, bpm)], 14);
      for (const e of estimates.slice(8)) {
        expect(e?.value).to.be.closeTo(bpm, 1);
        expect(e?.confidence).to.be.at.least(0.8);
      }
    });
  }

  /** A pulse whose systolic wave lasts about 0.1 s at any rate, as far as it can, in noise of a hundredth of its height. */
  const brief = (bpm: number, seconds: number) => {
    const beat = 60 / bpm;
    const width = Math.min(1, 0.55 + 0.45 * beat);
    const bump = (x: number, at: number, wide: number) => Math.exp(-(((x - at * width) / (wide * width)) ** 2));
    const hiss = noise(seconds * HZ, bpm);
    return times(seconds).map((t, i) => {
      const x = t % beat;
      return 80_000 - 800 * (bump(x, 0.16, 0.07) + 0.3 * bump(x, 0.38, 0.09)) + 8 * (hiss[i] ?? 0);
    });
  };

  for (const bpm of [30, 33, 210, 220]) {
    it(`trusts ${bpm} bpm, at the ends of the range, within 1 bpm`, () => {
      for (const e of run([GREEN], [brief(bpm, 40)], 40).slice(16)) {
        expect(e?.value).to.be.closeTo(bpm, 1);
        expect(e?.confidence).to.be.at.least(0.5);
      }
    });
  }

  for (const bpm of [245, 260, 280])
    it(`does not trust another rate where the light pulses ${bpm} times a minute, above the range`, () => {
      const hiss = noise(70 * HZ, bpm);
      const light = times(70).map((t, i) => {
        const turn = (2 * Math.PI * bpm * t) / 60;
        return -800 * (Math.sin(turn) + 0.2 * Math.sin(2 * turn + 1)) - 80 * Math.sin(turn / 2) + 8 * (hiss[i] ?? 0);
      });
      expect(wrongOf(run([GREEN], [light], 70), bpm)).to.deep.equal([]);
    });

  it('has a first estimate after four seconds', () => {
    expect(run([GREEN], [ppg(4, HZ, 75)], 4)[4]?.value).to.be.closeTo(75, 4);
  });

  it('does not give the double rate for a strong second harmonic', () => {
    const wave = times(14).map((t) => Math.sin(2 * Math.PI * t) + 0.7 * Math.sin(4 * Math.PI * t + 1));
    expect(run([GREEN], [wave], 14)[14]?.value).to.be.closeTo(60, 2);
  });

  it('follows a ramp of 2 bpm a second within 3 bpm of its mean over the window', () => {
    const rate = (t: number) => (t < 10 ? 70 : t < 30 ? 70 + 2 * (t - 10) : 110);
    let phase = 0;
    const wave = times(38).map((t) => {
      phase += rate(t) / 60 / HZ;
      return 1000 - pulse(phase);
    });
    const mean = (end: number) => times(8).reduce((sum, t) => sum + rate(end - 8 + t), 0) / (8 * HZ);
    run([GREEN], [wave], 38).forEach((e, end) => {
      if (end >= 10) expect(e?.value, `at ${end} s`).to.be.closeTo(mean(end), 3);
    });
  });

  it('changes little as beats enter and leave the window, in a rhythm with respiratory variation', () => {
    let phase = 0;
    const wave = times(60).map((t) => {
      phase += (66 + 6 * Math.sin((2 * Math.PI * t) / 4)) / 60 / HZ; // 15 breaths a minute
      return 1000 - pulse(phase);
    });
    for (const e of run([GREEN], [wave], 60).slice(12)) expect(e?.value).to.be.closeTo(66, 1.2);
  });

  /** A pulse at each of these times, s, as high as it says. */
  function pulses(beats: readonly { time: number; height: number }[], seconds: number): number[] {
    const wave = (t: number) => (t <= 0 ? 0 : Math.exp(-0.5 * (Math.log(t / 0.2) / 0.5) ** 2));
    return times(seconds).map((t) => 1000 - beats.reduce((sum, { time, height }) => sum + height * wave(t - time), 0));
  }

  /** 75 beats a minute; every fifth is early, and the pause after it makes up for that. */
  const ectopic = (height: number) =>
    Array.from({ length: 60 }, (_, i) => (i % 5 ? { time: 0.8 * i, height: 100 } : { time: 0.8 * i - 0.28, height }));

  for (const [height, what] of [
    [60, 'early beats'],
    [20, 'early beats whose pulses are weak'],
    [0, 'early beats without a pulse, by the pause after them'],
  ] as const) {
    it(`counts ${what}`, () => {
      for (const e of run([GREEN], [pulses(ectopic(height), 40)], 40).slice(12)) expect(e?.value).to.be.closeTo(75, 5);
    });
  }

  it('reads an irregular rhythm by its beats, and trusts it', () => {
    const next = noise(100, 3);
    const beats = next.map((_, i) => ({
      time: 0.8 * i + 0.15 * next.slice(0, i).reduce((a, v) => a + v, 0),
      height: 100,
    }));
    const rates = run([GREEN], [pulses(beats, 60)], 60);
    const shown = beats.map(({ time }) => time + 0.1);
    for (let end = 12; end <= 60; end++)
      expect(rates[end]?.value, `at ${end} s`).to.be.closeTo(rateIn(shown, end - 8, end), 5);
    expect(rates.slice(12).filter(isTrusted).length).to.be.at.least(40); // of 49
  });

  it('follows an irregular rhythm of clear pulses from window to window', () => {
    const next = noise(200, 7);
    const beats = next.map((_, i) => ({
      time: 0.7 * i + 0.35 * next.slice(0, i).reduce((a, v) => a + v, 0),
      height: 100,
    }));
    const shown = beats.map(({ time }) => time + 0.1);
    const errors = run([GREEN], [pulses(beats, 120)], 120).flatMap((e, end) =>
      e && end >= 12 ? [Math.abs(e.value - rateIn(shown, end - 8 + 0.3, end))] : [],
    );
    expect(errors.reduce((sum, v) => sum + v, 0) / errors.length).to.be.below(2);
  });

  it('gives the rate of the heartbeats in the window, whose pulses come later, if the beats are timed sharply', () => {
    const beats = [0];
    while ((beats.at(-1) ?? 0) < 120) {
      const t = beats.at(-1) ?? 0;
      beats.push(t + 0.8 * (1 + 0.05 * Math.sin(1.6 * t) + 0.05 * Math.sin(0.6 * t)));
    }
    const optical = beats.map((time) => ({ time: time + 0.2, height: 100 }));
    const errors = run([GREEN], [pulses(optical, 120)], 120).flatMap((e, end) =>
      e && end >= 12 ? [Math.abs(e.value - rateIn(beats, end - 8, end))] : [],
    );
    expect(errors.reduce((sum, v) => sum + v, 0) / errors.length).to.be.below(0.5);
  });

  it('reads bigeminy at the rate of all its beats, and trusts it', () => {
    const beats = Array.from({ length: 80 }, (_, i) => ({ time: 0.8 * i - 0.16 * (i % 2), height: i % 2 ? 30 : 100 }));
    for (const e of run([GREEN], [pulses(beats, 60)], 60).slice(12)) {
      expect(e?.value).to.be.closeTo(75, 5);
      expect(e?.confidence).to.be.at.least(0.5);
    }
  });

  /** Bigeminy of 80 beats a minute: the third harmonic of a pair is stronger than its second, the rate. */
  const bigeminy = Array.from({ length: 80 }, (_, i) => ({
    time: 0.75 * i - 0.21 * (i % 2),
    height: i % 2 ? 45 : 100,
  }));

  it('trusts the beats of bigeminy beside a line at three halves of their rate', () => {
    for (const e of run([GREEN], [pulses(bigeminy, 60)], 60).slice(12)) {
      expect(e?.value).to.be.closeTo(80, 5);
      expect(e?.confidence).to.be.at.least(0.5);
    }
  });

  /** Beats at random intervals of 0.34 to 0.7 s, whose pulses are the weaker the sooner they come. */
  const fibrillation = (seed: number) => {
    const beats = [{ time: 0, height: 100 }];
    for (const x of noise(200, seed)) {
      const interval = 0.52 + 0.18 * x;
      const height = 100 * (1 - Math.exp((0.3 - interval) / 0.16));
      beats.push({ time: (beats.at(-1)?.time ?? 0) + interval, height });
    }
    return beats;
  };

  /** The trusted rates that are off by more than 10 bpm from that of the beats, over 90 s: of 79. */
  const wrongIn = (beats: readonly { time: number; height: number }[]) =>
    run([GREEN], [pulses(beats, 90)], 90).flatMap((e, end) => {
      const rate = rateIn(
        beats.map(({ time }) => time),
        end - 8,
        end,
      );
      return end >= 12 ? wrongOf([e], rate) : [];
    });

  it('seldom trusts a rate that misses weak pulses at irregular times', () => {
    const wrong = [1, 2, 3, 4, 5, 6].flatMap((seed) => wrongIn(fibrillation(seed)));
    expect(wrong.length).to.be.below(40); // of 474
  });

  it('does not trust half of the rate where a weak pulse follows each beat, later than a second wave', () => {
    const beats = Array.from({ length: 80 }, (_, i) => ({ time: 0.75 * i - 0.2 * (i % 2), height: i % 2 ? 20 : 100 }));
    expect(wrongOf(run([GREEN], [pulses(beats, 60)], 60).slice(12), 80, 5)).to.deep.equal([]);
  });

  it('does not trust two thirds of the rate where each third beat has no pulse', () => {
    const beats = Array.from({ length: 90 }, (_, i) => ({ time: 0.7 * i, height: i % 3 === 2 ? 0 : 100 }));
    expect(wrongOf(run([GREEN], [pulses(beats, 60)], 60).slice(12), 60 / 0.7, 5)).to.deep.equal([]);
  });

  it('does not trust the sinus rate of a block that leaves out a beat after each three or four', () => {
    for (const [interval, every] of [
      [0.6, 5],
      [0.68, 5],
      [0.83, 4],
    ] as const) {
      const beats = Array.from({ length: 100 }, (_, i) => i)
        .filter((i) => i % every !== 0)
        .map((i) => ({ time: interval * i, height: 100 }));
      const truth = (60 / interval) * (1 - 1 / every);
      const rates = run([GREEN], [pulses(beats, 60)], 60).slice(12);
      expect(wrongOf(rates, truth), `${interval} s, each ${every}th`).to.deep.equal([]);
    }
  });

  it('does not trust a rate while the window begins or ends with a pause of several beats', () => {
    for (const [bpm, pause, loud] of [
      [75, 4.5, 8],
      [99, 3.5, 8],
      [75, 4.5, 40],
      [99, 3.5, 40],
    ] as const) {
      const light = brief(bpm, 60);
      const from = Math.round((60 / bpm) * Math.round((25 * bpm) / 60) * HZ);
      const level = 80_000;
      const hiss = noise(60 * HZ, 5);
      for (let i = from; i < from + pause * HZ; i++) light[i] = level + loud * (hiss[i] ?? 0);
      const trusted = run([GREEN], [light], 60).map((e) => (e?.confidence ?? 0) >= 0.5);
      const paused = [28, 29].map((end) => trusted[end]);
      const back = [from / HZ + pause + 5].map((end) => trusted[Math.ceil(end)]);
      expect([...paused, ...back], `${bpm} bpm, noise ${loud}`).to.deep.equal([false, false, false]);
      expect(trusted.slice(16, 25), `${bpm} bpm, before`).not.to.include(false);
      expect(trusted.slice(40), `${bpm} bpm, afterwards`).not.to.include(false);
    }
  });

  it('does not trust half of the rate where every second of the regular pulses is weak', () => {
    for (const height of [30, 35, 40, 45]) {
      const beats = Array.from({ length: 110 }, (_, i) => ({ time: 0.6 * i, height: i % 2 ? height : 100 }));
      expect(wrongOf(run([GREEN], [pulses(beats, 60)], 60).slice(12), 100, 5), `height ${height}`).to.deep.equal([]);
    }
  });

  it('does not trust half of a fast rate where every second pulse is weak, but of the same shape', () => {
    for (const bpm of [150, 165, 180])
      for (const height of [0.3, 0.35, 0.4]) {
        const light = times(60).map((t) => {
          const beats = (t * bpm) / 60;
          return 100_000 - 500 * (Math.floor(beats) % 2 ? height : 1) * pulse(beats);
        });
        expect(wrongOf(run([GREEN], [light], 60).slice(20), bpm, 5), `${bpm} bpm, height ${height}`).to.deep.equal([]);
      }
  });

  it('does not trust half of a fast rate where the upstroke of every second pulse is too flat to see', () => {
    const next = random(3);
    for (const bpm of [190, 205, 218])
      for (const height of [0.35, 0.45, 0.55]) {
        const light = times(60).map((t) => {
          const beats = (t * bpm) / 60;
          const wave = 0.5 - 0.5 * Math.cos(2 * Math.PI * beats);
          return 100_000 - 500 * (Math.floor(beats) % 2 ? height : 1) * wave + 20 * next();
        });
        expect(wrongOf(run([GREEN], [light], 60).slice(20), bpm, 5), `${bpm} bpm, height ${height}`).to.deep.equal([]);
      }
  });

  it('counts the beats of a run of fast ones, or hardly ever trusts the rate', () => {
    const beats = [{ time: 0, height: 100 }];
    for (let i = 1; (beats.at(-1)?.time ?? 0) < 90; i++) {
      const fast = i % 10 >= 6;
      beats.push({ time: (beats.at(-1)?.time ?? 0) + (fast ? 0.46 : 0.9), height: fast ? 50 : 100 });
    }
    expect(wrongIn(beats).length).to.be.below(5);
  });

  /** 97 beats a minute for `normal` s, then bigeminy in which the premature beats have no pulse until `to`, s. */
  const pulseDeficit = (normal: number, to: number) =>
    Array.from({ length: 800 }, (_, i) => ({ time: 0.62 * i, height: 100 })).filter(
      ({ time }, i) => time < normal || time > to || i % 2 === 0,
    );

  it('does not trust a rate that is suddenly half of the one before, and trusts the whole one again', () => {
    const rates = run([GREEN], [pulses(pulseDeficit(30, 90), 120)], 120);
    for (const e of rates.slice(42, 90)) expect(e?.value).to.be.closeTo(48.4, 2);
    expect(rates.slice(42, 90).filter(isTrusted)).to.deep.equal([]);
    for (const e of rates.slice(104)) {
      expect(e?.value).to.be.closeTo(96.8, 2);
      expect(e?.confidence).to.be.at.least(0.5);
    }
  });

  it('does not trust double of the rate where the second harmonic covers the fundamental, once that has shown', () => {
    const phase = (t: number) => 2 * Math.PI * (0.9 * t + 0.1 * Math.sin(0.2 * t));
    const wave = times(80).map(
      (t) => -0.35 * Math.cos(phase(t)) - Math.cos(2 * phase(t) + 1) - 0.3 * Math.cos(4 * phase(t)),
    );
    expect(wrongOf(run([GREEN], [wave], 80).slice(30), 54)).to.deep.equal([]);
  });

  it('trusts half of the rate before after five minutes', () => {
    for (const e of run([GREEN], [pulses(pulseDeficit(30, 360), 360)], 360).slice(330)) {
      expect(e?.value).to.be.closeTo(48.4, 2);
      expect(e?.confidence).to.be.at.least(0.5);
    }
  });

  it('trusts a rate that falls to less than half within a minute, as after exercise', () => {
    const beats = [{ time: 0, height: 100 }];
    for (let t = 0; t < 110; beats.push({ time: t, height: 100 }))
      t += 60 / (55 + 70 * Math.exp(-Math.max(0, t - 20) / 20));
    for (const e of run([GREEN], [pulses(beats, 110)], 110).slice(20)) expect(e?.confidence).to.be.at.least(0.5);
  });

  /** 65 beats a minute, and runs of five beats at 158 a minute whose pulses are weak. */
  const withRuns = [{ time: 0, height: 100 }];
  for (let i = 1; i < 160; i++) {
    const isFast = i % 18 >= 13;
    const interval = isFast ? 0.38 : i % 18 === 0 ? 1.1 : 0.92;
    withRuns.push({ time: (withRuns.at(-1)?.time ?? 0) + interval, height: isFast ? 25 : 100 });
  }

  it('hardly ever trusts a rate that leaves out a run of weak fast pulses', () => {
    expect(wrongIn(withRuns).length).to.be.below(3);
  });

  it('expects a further run of weak fast pulses after one was seen, and trusts no rate while the next one begins', () => {
    const estimates = run([GREEN], [pulses(withRuns, 90)], 90);
    expect(estimates.slice(8, 13).some(isTrusted)).to.equal(true); // before the first run
    expect(estimates.slice(30).some(isTrusted)).to.equal(false);
  });

  it('trusts an even rhythm whose pulses, with their second waves, some breaths make weak', () => {
    const beats = Array.from({ length: 90 }, (_, i) => ({ time: 0.9 * i, height: i % 9 < 4 ? 40 : 100 }));
    const second = beats.map(({ time, height }) => ({ time: time + 0.36, height: 0.35 * height }));
    for (const e of run([GREEN], [pulses([...beats, ...second], 60)], 60).slice(20)) {
      expect(e?.value).to.be.closeTo(60 / 0.9, 2);
      expect(e?.confidence).to.be.at.least(0.5);
    }
  });

  it('does not count the second wave of a slow pulse', () => {
    const beats = Array.from({ length: 30 }, (_, i) => ({ time: 1.15 * i, height: 100 }));
    const second = beats.map(({ time }) => ({ time: time + 0.38, height: 35 }));
    for (const e of run([GREEN], [pulses([...beats, ...second], 30)], 30).slice(10))
      expect(e?.value).to.be.closeTo(60 / 1.15, 2);
  });

  it('finds the pulse next to a stronger line of motion, with the accelerometer', () => {
    const next = noise(40 * HZ, 2);
    const swing = (t: number) => (t < 10 ? 0 : Math.sin(2 * Math.PI * 1.35 * t));
    const optical = times(40).map((t, i) => 100 * pulse((t * 100) / 60) + 60 * swing(t) + 5 * (next[i] ?? 0));
    const accel = times(40).flatMap((t, i) => [0.4 * swing(t), 0.01 * (next[i] ?? 0), 1 + 0.3 * swing(t)]);
    run([GREEN, ACCEL], [optical, accel], 40).forEach((e, end) => {
      if (end >= 8) expect(e?.value, `at ${end} s`).to.be.closeTo(100, 5);
    });
  });

  it('finds the pulse from the start next to an arm swing that is ten times as strong in the optical channel', () => {
    const next = noise(60 * HZ, 8);
    const swing = (t: number) => Math.sin(2 * Math.PI * 0.7 * t) + 0.1 * Math.sin(2 * Math.PI * 1.4 * t + 1);
    const optical = times(60).map((t, i) => 100 * pulse((t * 112) / 60) + 400 * swing(t) + 10 * (next[i] ?? 0));
    const accel = times(60).flatMap((t, i) => [0.1 * swing(t), 0.005 * (next[i] ?? 0), 1 + 0.02 * swing(t + 0.2)]);
    run([GREEN, ACCEL], [optical, accel], 60).forEach((e, end) => {
      if (end >= 8) expect(e?.value, `at ${end} s`).to.be.closeTo(112, 5);
    });
  });

  it('tells a pulse from a stronger swing six beats a minute beside it, by its phase', () => {
    const next = noise(90 * HZ, 16);
    const swing = (t: number) => Math.sin(2 * Math.PI * (104 / 60) * t + 0.5 * Math.sin(0.9 * t));
    const light = times(90).map((t, i) => 100 * pulse((t * 110) / 60) + 300 * swing(t - 0.07) + 5 * (next[i] ?? 0));
    const accel = times(90).flatMap((t, i) => [0.3 * swing(t), 0.005 * (next[i] ?? 0), 1 + 0.2 * swing(t - 0.15)]);
    const rates = run([GREEN, ACCEL], [light, accel], 90).slice(25);
    for (const e of rates) expect(e?.value).to.be.closeTo(110, 5);
    const mean = rates.reduce((sum, e) => sum + (e?.value ?? 0), 0) / rates.length;
    expect(mean).to.be.closeTo(110, 1.5); // The two lines, which the window cannot separate, have their mean at 107
  });

  for (const [bpm, second] of [
    [67, 1.4],
    [62, 1.8],
    [67, 1.8],
  ] as const)
    it(`never trusts double of ${bpm} bpm whose second harmonic is ${second} times as high, where the motion begins before the pulse is known`, () => {
      const [next, own] = [noise(90 * HZ, bpm), noise(90 * HZ, bpm + 1)];
      const beat = (t: number) => 2 * Math.PI * ((bpm * t) / 60 + 0.05 * Math.sin(0.4 * t));
      const swing = (t: number) => Math.sin(2 * Math.PI * (1.37 * t + 0.2 * Math.sin(0.3 * t)));
      const light = times(90).map(
        (t, i) =>
          100 * (Math.cos(beat(t)) + second * Math.cos(2 * beat(t) + 1)) + 150 * swing(t - 0.1) + 50 * (next[i] ?? 0),
      );
      const accel = times(90).flatMap((t, i) => [0.3 * swing(t), 0.02 * (own[i] ?? 0), 1 + 0.2 * swing(t - 0.15)]);
      expect(wrongOf(run([GREEN, ACCEL], [light, accel], 90), bpm)).to.deep.equal([]);
    });

  for (const { what, seed, felt, shake } of [
    { what: 'steps', seed: 1, felt: 1, shake: 0.01 },
    { what: 'a bike that rattles', seed: 2, felt: 0.08, shake: 0.075 },
  ])
    it(`does not trust double or triple of a pulse from the start where the cadence of ${what} is that of the pulse`, () => {
      const next = noise(120 * HZ, seed);
      const other = noise(120 * HZ, seed + 10);
      const drift = (t: number) => 0.225 * (1 - Math.cos(t / 9));
      const bumps = (beats: number) => {
        const x = (beats + 10) % 1;
        return Math.exp(-(((x - 0.2) / 0.1) ** 2)) + 0.3 * Math.exp(-(((x - 0.5) / 0.12) ** 2));
      };
      const swing = (t: number) => {
        const turn = 2 * Math.PI * ((70 / 60) * t + 0.06 * (1 - Math.cos(t / 5)));
        return Math.sin(turn) + 0.5 * Math.sin(2 * turn + 1) + 0.2 * Math.sin(3 * turn + 2);
      };
      const light = times(120).map(
        (t, i) => -2400 * bumps((70 / 60) * t + drift(t)) + 840 * swing(t) + 100 * (next[i] ?? 0),
      );
      const accel = times(120).flatMap((t, i) => [
        felt * swing(t) + shake * (next[i] ?? 0),
        0.6 * felt * swing(t + 0.2) + shake * (other[i] ?? 0),
        1 + shake * (next[i + 1] ?? 0),
      ]);
      expect(wrongOf(run([GREEN, ACCEL], [light, accel], 120), 70, 8)).to.deep.equal([]);
    });

  it('uses the optical channel with less motion artefact', () => {
    const next = noise(40 * HZ, 9);
    const swing = (t: number) => Math.sin(2 * Math.PI * 1.3 * t);
    const green = times(40).map((t, i) => 100 * pulse((t * 100) / 60) + 300 * swing(t) + 5 * (next[i] ?? 0));
    const red = times(40).map((t, i) => 100 * pulse((t * 100) / 60) + 60 * swing(t) - 5 * (next[i] ?? 0));
    const accel = times(40).flatMap((t) => [0.4 * swing(t), 0.1 * swing(t + 0.1), 1 + 0.3 * swing(t)]);
    const channels = [GREEN, { ...GREEN, modality: 'ppg_red' as const }, ACCEL];
    run(channels, [green, red, accel], 40).forEach((e, end) => {
      if (end >= 8) expect(e?.value, `at ${end} s`).to.be.closeTo(100, 3);
    });
  });

  it('stops trusting a rate within 25 s if motion covers the pulse', () => {
    const next = noise(80 * HZ, 10);
    const swing = (t: number) => Math.sin(2 * Math.PI * 1.3 * t);
    const height = (t: number) => (t < 30 ? 100 : 0);
    const light = times(80).map((t, i) => height(t) * pulse((t * 100) / 60) + 200 * swing(t) + 10 * (next[i] ?? 0));
    const accel = times(80).flatMap((t) => [0.4 * swing(t), 0.2 * swing(t + 0.1), 1 + 0.3 * swing(t)]);
    const rates = run([GREEN, ACCEL], [light, accel], 80);
    expect(rates.slice(15, 30).every(isTrusted)).to.equal(true);
    expect(rates.slice(55).filter(isTrusted)).to.deep.equal([]);
  });

  const none = () => [Number.NaN, Number.NaN, Number.NaN];
  const missing: Record<string, (t: number, motion: readonly number[]) => readonly number[]> = {
    'has no accelerometer': none,
    'has a stuck accelerometer': () => [0.1, 0.2, 0.9],
    'has an accelerometer that feels nothing of it': (t) => [0.1, 0.001 * Math.sin(1e5 * t), 0.9],
    'loses its accelerometer in motion': (t, motion) => (t < 45 ? motion : none()),
  };
  for (const [what, seen] of Object.entries(missing)) {
    it(`does not take the swings of an arm for a pulse where a wearable ${what}`, () => {
      const next = noise(120 * HZ, 18);
      const wave = (hz: number, t: number) => (t < 30 ? 0 : Math.sin(2 * Math.PI * hz * t + hz));
      const swing = (t: number) => wave(1.25, t) + 0.3 * wave(0.625, t) + 0.15 * wave(1.875, t);
      const light = times(120).map((t, i) => 1e5 - 60 * pulse((t * 95) / 60) + 120 * swing(t) + 3 * (next[i] ?? 0));
      const accel = times(120).flatMap((t) => seen(t, [0.4 * swing(t), 0.2 * swing(t + 0.1), 1 + 0.3 * swing(t)]));
      const rates = run([GREEN, ACCEL], [light, accel], 120);
      expect(rates.slice(10, 30).every(isTrusted)).to.equal(true);
      expect(wrongOf(rates.slice(38), 95, 5)).to.deep.equal([]);
    });
  }

  it('does not take pedalling for a pulse where a rough road shakes the accelerometer, and red and infrared move alike', () => {
    const [hiss, road] = [noise(90 * HZ, 23), noise(270 * HZ, 24)];
    const rides = (t: number) => (t < 30 ? 0 : 1);
    const accel = times(90).flatMap((t, i) =>
      [0, 0, 1].map((g, axis) => g + rides(t) * 0.7 * (road[3 * i + axis] ?? 0)),
    );
    const optical = (level: number, beat: number, moves: number) =>
      times(90).map((t, i) => {
        const pedals = Math.sin(2 * Math.PI * 1.35 * t) + 0.3 * Math.sin(4 * Math.PI * 1.35 * t + 1);
        const moved = 0.8 * moves * rides(t) * pedals;
        return level * (1 - 0.01 * (beat * pulse((t * 118) / 60) + moved + 0.03 * (hiss[i] ?? 0)));
      });
    const channels = [...RED_AND_INFRARED, ACCEL];
    const rates = (moves: number) =>
      run(channels, [optical(60_000, 0.45, moves), optical(90_000, 1, moves), accel], 90).slice(60);
    expect(wrongOf(rates(1), 118)).to.deep.equal([]);
    expect(rates(0).filter(isTrusted).length).to.be.above(25);
  });

  it('never trusts double of the cadence, which a heart cannot have reached so soon, where a rough road shakes the accelerometer', () => {
    const [hiss, road] = [noise(120 * HZ, 25), noise(360 * HZ, 26)];
    const rides = (t: number) => (t < 45 ? 0 : 1);
    const pedals = (t: number) => 2 * Math.PI * (1.6 * t + 0.1 * Math.sin(0.2 * t));
    const light = times(120).map((t, i) => {
      const moved = 60 * Math.cos(pedals(t)) + 250 * Math.cos(2 * pedals(t));
      return 100 * pulse((t * 100) / 60) + rides(t) * moved + 5 * (hiss[i] ?? 0);
    });
    const accel = times(120).flatMap((t, i) =>
      [0, 0, 1].map((g, axis) => g + rides(t) * 0.2 * (road[3 * i + axis] ?? 0)),
    );
    const rates = run([GREEN, ACCEL], [light, accel], 120);
    expect(rates.slice(20, 45).filter(isTrusted).length).to.be.above(20);
    expect(wrongOf(rates, 100)).to.deep.equal([]);
  });

  it('does not take a movement for a pulse where it moves red and infrared alike, and no accelerometer shows it', () => {
    const next = noise(60 * HZ, 22);
    const optical = (level: number, beat: number, moves: number) =>
      times(60).map(
        (t, i) => level * (1 - 0.01 * beat * pulse((t * 70) / 60) - 0.02 * moves * stepped(t) + 1e-4 * (next[i] ?? 0)),
      );
    // Steps at 108 a minute: they rise faster than they fall, as a pulse does, and each second one is a little larger
    const wave = (part: number, hz: number, t: number) => 0.4 * part * Math.sin(2 * Math.PI * hz * t);
    const stepped = (t: number) => wave(1, 1.8, t) + wave(0.3, 3.6, t) + wave(0.1, 2.7, t + 0.06);
    const trusted = (ratio: number, moves: number) =>
      run(RED_AND_INFRARED, [optical(60_000, ratio, moves), optical(90_000, 1, moves)], 60)
        .slice(10)
        .filter(isTrusted).length;
    expect(trusted(0.45, 0)).to.equal(51);
    expect(trusted(0.7, 0)).to.equal(51);
    expect(trusted(0.45, 1)).to.equal(0);
  });

  it('goes on trusting a pulse whose blood loses its oxygen, until a movement at another rate comes over it', () => {
    const next = noise(120 * HZ, 23);
    // From 97 to 75 % SpO2 within 40 s
    const ratioAt = (t: number) => 0.52 + 0.88 * Math.min(1, Math.max(0, (t - 30) / 40));
    const steps = (t: number) => 0.4 * Math.sin(2 * Math.PI * 1.8 * t) + 0.12 * Math.sin(2 * Math.PI * 3.6 * t);
    const rates = (from: number) => {
      const optical = (level: number, isRed: boolean) =>
        times(120).map((t, i) => {
          const beat = (isRed ? ratioAt(t) : 1) * pulse((t * 70) / 60);
          return level * (1 - 0.01 * beat - 0.02 * (t < from ? 0 : steps(t)) + 1e-4 * (next[i] ?? 0));
        });
      return run(RED_AND_INFRARED, [optical(60_000, true), optical(90_000, false)], 120).map((e) =>
        e && e.confidence >= 0.5 ? e.value : null,
      );
    };
    for (const rate of rates(Number.POSITIVE_INFINITY).slice(10)) expect(rate).to.be.closeTo(70, 1);
    const moved = rates(80).filter((rate) => rate !== null);
    expect(moved.length).to.be.above(60);
    for (const rate of moved) expect(rate).to.be.closeTo(70, 5);
  });

  it('compares no red with infrared if a filter has removed their constant part, or a scale has made them equal', () => {
    const next = noise(60 * HZ, 22);
    const accel = times(60).flatMap((t, i) => [
      0.2 * Math.sin(5 * Math.PI * t),
      0.05 * (next[i] ?? 0),
      1 + 0.1 * Math.cos(5 * Math.PI * t),
    ]);
    const light = (level: number, beat: number) =>
      times(60).map(
        (t, i) => level - beat * pulse((t * 96) / 60) + 0.05 * Math.sin(5 * Math.PI * t) + 0.01 * (next[i] ?? 0),
      );
    const channels = [...RED_AND_INFRARED, ACCEL];
    const trusted = (level: number, red: number) =>
      run(channels, [light(level, red), light(level, 1), accel], 60).filter(isTrusted).length;
    expect(trusted(100, 1)).to.equal(0); // as a movement would move them
    for (const level of [-0.2, 0.1, 1, 2]) expect(trusted(level, 1), `level ${level}`).to.be.above(40);
  });

  for (const [what, axes] of [
    ['one axis', 1],
    ['two axes', 2],
    ['a stuck axis', 3],
    ['three copies of one axis', 3],
  ] as const) {
    it(`does not trust a rate in motion by an accelerometer with ${what}`, () => {
      const next = noise(60 * HZ, 20);
      const light = times(60).map(
        (t, i) => 100 * pulse(1.5 * t) + 60 * Math.sin(2 * Math.PI * 1.3 * t) + (next[i] ?? 0),
      );
      const accel = times(60).flatMap((t) => {
        const swing = Math.sin(2 * Math.PI * 1.3 * t);
        if (what === 'three copies of one axis') return new Array<number>(3).fill(1 + 0.3 * swing);
        return [1 + 0.3 * swing, 0.2 * Math.sin(2 * Math.PI * 1.3 * t + 0.5), 0.123].slice(0, axes);
      });
      const rates = run([GREEN, { ...ACCEL, numChannels: axes }], [light, accel], 60);
      expect(rates.filter(isTrusted)).to.deep.equal([]);
      expect(rates.filter((e) => e && Math.abs(e.value - 90) <= 5).length).to.be.above(40);
    });
  }

  for (const gain of [0.1, 3]) {
    it(`trusts a pulse that is ${gain} times as large all at once, and one after a minute off the skin`, () => {
      const next = noise(120 * HZ, 19);
      const height = (t: number) => (t < 30 ? 100 : t < 90 ? 0 : 100 * gain);
      const grown = times(60).map((t, i) => (t < 30 ? 100 : 100 * gain) * pulse((t * 75) / 60) + (next[i] ?? 0));
      const worn = times(120).map((t, i) => height(t) * pulse((t * 75) / 60) + (next[i] ?? 0));
      for (const e of run([GREEN], [grown], 60).slice(45)) expect(e?.confidence).to.be.at.least(0.8);
      for (const e of run([GREEN], [worn], 120).slice(105)) expect(e?.confidence).to.be.at.least(0.8);
    });
  }

  for (const [what, after] of [
    ['has stopped sending', []],
    ['is stuck', [0.2, -0.1, 0.9]],
  ] as const)
    it(`does not take steps for a pulse once an accelerometer that felt them ${what}`, () => {
      const hiss = noise(3 * 120 * HZ, 23);
      const wave = (phase: number) => Math.sin(phase) + 0.4 * Math.sin(2 * phase + 0.8) + 0.2 * Math.sin(3 * phase + 2);
      const swing = (t: number) => (t < 30 ? 0 : wave(2 * Math.PI * 2.6 * t));
      const light = times(120).map((t, i) => 50_000 - 1500 * pulse(2.3 * t) + 1500 * swing(t) + 5 * (hiss[i] ?? 0));
      const accel = times(120).flatMap((t, i) => {
        if (t >= 45) return after;
        return [0.9, 0.4, -0.3].map(
          (g, axis) => (axis === 2 ? 1 : 0) + g * swing(t) + 0.003 * (hiss[3 * i + axis] ?? 0),
        );
      });
      const rates = run([GREEN, ACCEL], [light, accel], 120);
      expect(rates.slice(15, 30).every(isTrusted)).to.equal(true);
      expect(rates.slice(55).filter(isTrusted)).to.deep.equal([]);
    });

  /** A step's acceleration, g, at the phase `steps`: three axes with their own harmonics. */
  const step = (steps: number, hum: number) => [
    0.3 * Math.sin(2 * Math.PI * steps) + 0.15 * Math.sin(4 * Math.PI * steps + 1) + 0.01 * hum,
    0.2 * Math.sin(2 * Math.PI * steps + 0.7) + 0.01 * hum,
    1 + 0.3 * Math.sin(4 * Math.PI * steps + 0.4) + 0.01 * hum,
  ];

  for (const cadence of [75, 100, 150]) {
    it(`never trusts an optical channel that only shows the motion, at ${cadence} steps a minute`, () => {
      const next = noise(60 * HZ, cadence);
      const accel = times(60).map((t, i) => step((t * cadence) / 60, next[i] ?? 0));
      const optical = accel.map(([x = 0], i) => 50_000 + 1000 * x + 30 * (next[60 * HZ - 1 - i] ?? 0));
      const rates = run([GREEN, ACCEL], [optical, accel.flat()], 60);
      expect(rates.filter(isTrusted)).to.deep.equal([]);
    });
  }

  it('never trusts the second harmonic of a slow swing, which the accelerometer does not have', () => {
    const next = noise(60 * HZ, 14);
    const swing = (t: number) => Math.sin(2 * Math.PI * (41 / 60) * t);
    const harmonic = (t: number) => Math.sin(4 * Math.PI * (41 / 60) * t + 1);
    const optical = times(60).map((t, i) => 300 * swing(t) + 200 * harmonic(t) + 10 * (next[i] ?? 0));
    const accel = times(60).flatMap((t, i) => [0.2 * swing(t), 0.005 * (next[i] ?? 0), 1 + 0.1 * swing(t + 0.2)]);
    const rates = run([GREEN, ACCEL], [optical, accel], 60);
    expect(rates.filter(isTrusted)).to.deep.equal([]);
  });

  /** A pulse of 68 bpm on a wrist that from second 30 on is shaken `rate` times a minute, by `g` and in the light by `height`. */
  const shaken = (rate: number, g: number, height: number) => {
    const next = noise(90 * HZ, rate);
    const shakes = (t: number) => (t < 30 ? 0 : 1);
    const light = times(90).map(
      (t, i) => 50_000 + 300 * pulse((68 / 60) * t) + height * shakes(t) * pulse((rate / 60) * t) + 5 * (next[i] ?? 0),
    );
    const accel = times(90).flatMap((t, i) => [
      g * shakes(t) * Math.sin((2 * Math.PI * rate * t) / 60) + 0.001 * (next[i] ?? 0),
      0.001 * (next[90 * HZ - 1 - i] ?? 0),
      1 + 0.3 * g * shakes(t) * Math.sin((2 * Math.PI * rate * t) / 60 + 1),
    ]);
    return run([GREEN, ACCEL], [light, accel], 90);
  };

  it('never trusts a movement that the wrist hardly feels, but that moves the light more than the pulse', () => {
    for (const rate of [52, 88, 98, 108]) {
      expect(wrongOf(shaken(rate, 0.02, 600).slice(45), 68, 5), `${rate} a minute`).to.deep.equal([]);
    }
  });

  it('trusts the pulse of a resting wrist that the accelerometer shows, too', () => {
    const trusted = shaken(68, 0.005, 100).filter(isTrusted);
    expect(trusted).to.have.length.above(80);
  });

  it('never trusts the sum of a swing and its steps, which the accelerometer does not have', () => {
    const next = noise(60 * HZ, 17);
    const wave = (times: number) => (t: number) => Math.sin(2 * Math.PI * (49 / 60) * times * t + times);
    const [swing, steps, both] = [wave(1), wave(2), wave(3)];
    const optical = times(60).map((t, i) => 30 * swing(t) + 300 * steps(t) + 120 * both(t) + 10 * (next[i] ?? 0));
    const accel = times(60).flatMap((t, i) => [
      0.1 * swing(t),
      0.15 * steps(t),
      1 + 0.1 * swing(t) + 0.005 * (next[i] ?? 0),
    ]);
    const rates = run([GREEN, ACCEL], [optical, accel], 60);
    expect(rates.filter(isTrusted)).to.deep.equal([]);
  });

  it('follows a pulse that rises by 3 bpm a second as exercise begins, beside its swings', () => {
    const next = noise(60 * HZ, 15);
    const rate = (t: number) => 70 + 3 * Math.max(0, Math.min(15, t - 30));
    let beats = 0;
    const swing = (t: number) => (t < 30 ? 0 : Math.sin(2 * Math.PI * 1.05 * t));
    const optical = times(60).map((t, i) => {
      beats += rate(t) / 60 / HZ;
      return 100 * pulse(beats) + 150 * swing(t) + 10 * (next[i] ?? 0);
    });
    const accel = times(60).flatMap((t, i) => [0.5 * swing(t), 0.005 * (next[i] ?? 0), 1 + 0.2 * swing(t + 0.1)]);
    const rates = run([GREEN, ACCEL], [optical, accel], 60);
    for (const e of rates.slice(52)) expect(e?.value).to.be.closeTo(115, 5);
    rates.slice(36).forEach((e, i) => {
      const mean = Array.from({ length: 8 }, (_, s) => rate(36 + i - 7.5 + s)).reduce((sum, v) => sum + v, 0) / 8;
      expect(e?.value, `at ${36 + i} s`).to.be.closeTo(mean, 12);
    });
  });

  it('expects the rate to rise with the exercise where a shaken sensor shows no pulse, and does not trust that', () => {
    const [next, shaken] = [noise(90 * HZ, 19), noise(90 * HZ, 20)];
    const moving = (i: number) => (i < 30 * HZ ? 0 : 2);
    const accel = times(90).flatMap((t, i) => {
      const [x = 0, y = 0, z = 0] = step(1.5 * t, 0);
      return [moving(i) * x, moving(i) * y, 1 + moving(i) * (z - 1)];
    });
    const light = times(90).map((t, i) => {
      const shown = moving(i) ? 300 * (shaken[i] ?? 0) : 300 * pulse((72 * t) / 60);
      return shown + 10 * (next[i] ?? 0);
    });
    const rates = run([GREEN, ACCEL], [light, accel], 90);
    rates.slice(40).forEach((e, i) => {
      expect(e?.confidence).to.be.below(0.5);
      expect(e?.value, `at ${40 + i} s`).to.be.closeTo(rates[39 + i]?.value ?? 0, 3);
    });
    expect(rates[40]?.value).to.be.below(100);
    expect(rates[89]?.value).to.be.within(120, 150);
  });

  it('leans towards the last trusted rate where a sensor at rest has lost the pulse', () => {
    for (const seed of [23, 24, 25, 26]) {
      const next = noise(60 * HZ, seed);
      let level = 0;
      const light = next.map((v, i) => {
        level += 20 * v;
        return i < 30 * HZ ? 300 * pulse((98 * i) / HZ / 60) + v : level;
      });
      let trusted = 0;
      const doubtful = run([GREEN], [light], 60)
        .slice(8)
        .filter((e) => {
          if (e && e.confidence >= 0.5) trusted = e.value;
          if (e && e.confidence < 0.005) expect(e.value, `seed ${seed}`).to.be.closeTo(trusted, 6);
          return e && e.confidence < 0.5;
        });
      expect(doubtful.length).to.be.at.least(20); // of the 30 without a pulse
    }
  });

  it('stops trusting a rate within 15 s where the pulse is lost as the steps reach its rate', () => {
    const next = noise(80 * HZ, 18);
    let steps = 0;
    const accel = times(80).map((t, i) => {
      steps += Math.max(100, 140 - t) / 60 / HZ; // at the pulse's rate from 40 s on
      return step(steps, next[i] ?? 0);
    });
    const optical = accel.map(
      ([x = 0], i) => (i < 40 * HZ ? 300 : 0) * pulse((100 * i) / HZ / 60) + 300 * x + 10 * (next[i] ?? 0),
    );
    const rates = run([GREEN, ACCEL], [optical, accel.flat()], 80);
    expect(rates.slice(10, 40).filter(isTrusted).length).to.be.at.least(25);
    expect(rates.slice(55).filter(isTrusted)).to.deep.equal([]);
  });

  it('keeps trusting a pulse whose rate the cadence crosses', () => {
    const next = noise(60 * HZ, 4);
    let steps = 0;
    const accel = times(60).map((t, i) => {
      steps += (80 + t) / 60 / HZ; // 80 to 140 a minute, through the pulse at 20 s
      return step(steps, next[i] ?? 0);
    });
    const optical = accel.map(([x = 0], i) => 300 * pulse((100 * i) / HZ / 60) + 300 * x + 10 * (next[i] ?? 0));
    const rates = run([GREEN, ACCEL], [optical, accel.flat()], 60).slice(8);
    expect(rates.filter(isTrusted).length).to.be.at.least(45); // of 53
    for (const e of rates) expect(e?.value).to.be.closeTo(100, 5);
  });

  it('gives no rate for a flat line, and does not trust noise', () => {
    expect(run([GREEN], [times(12).map(() => 5000)], 12)[12]).to.equal(null);
    const trusted = [1, 2, 3, 4, 5].flatMap((seed) => run([GREEN], [noise(40 * HZ, seed)], 40).filter(isTrusted));
    expect(trusted.length).to.be.below(10); // of 185
  });

  it('has low confidence in a random walk, whose few slow waves look like beats', () => {
    const trusted = [1, 2, 3, 4, 5].flatMap((seed) => {
      let level = 50_000;
      const walk = noise(40 * HZ, seed).map((v) => {
        level += 20 * v;
        return level;
      });
      return run([GREEN], [walk], 40).filter(isTrusted);
    });
    expect(trusted.length).to.be.below(10); // of 185
  });

  const hiss = noise(60 * HZ, 7);
  const aperiodic: Record<string, (t: number) => number> = {
    'a ramp': (t) => 1000 * t,
    'a parabola': (t) => 10 * t * t,
    'a sensor that settles': (t) => 20_000 * Math.exp(-t / 5),
    'a sensor that settles, in whole counts': (t) => Math.round(20_000 * Math.exp(-t / 5)),
    'a slow swing': (t) => 1000 * Math.sin((2 * Math.PI * t) / 30),
    'a square wave of 12.5 Hz between the rails': (t) => (Math.floor(25 * t) % 2 ? 131_071 : -131_072),
    'a hum that the grid folds': (t) => 500 * Math.sin(2 * Math.PI * 23.1 * t),
    'a stair every 7 s': (t) => 1000 * Math.floor(t / 7),
    'a stair every 7 s, with noise': (t) => 1000 * Math.floor(t / 7) + 20 * (hiss[Math.round(t * HZ)] ?? 0),
    'a stair every 5 s, whose last bit flickers': (t) =>
      1000 * Math.floor(t / 5) + Math.round(hiss[Math.round(t * HZ)] ?? 0),
  };
  for (const [name, value] of Object.entries(aperiodic)) {
    it(`never trusts a rate in ${name}`, () => {
      const rates = run([GREEN], [times(60).map((t) => 150_000 + value(t))], 60);
      expect(rates.filter(isTrusted)).to.deep.equal([]);
    });
  }

  const even: Record<string, (phase: number) => number> = {
    'a sine': (phase) => Math.sin(2 * Math.PI * phase),
    'a sine and its third harmonic': (phase) => Math.sin(2 * Math.PI * phase) + 0.2 * Math.sin(6 * Math.PI * phase),
    'a triangle': (phase) => Math.abs(2 * (phase % 1) - 1),
  };
  for (const [name, value] of Object.entries(even)) {
    it(`hardly ever trusts a lamp that shines on a sensor on the table in ${name}, which has no second harmonic`, () => {
      const still = times(60).flatMap((_, i) => [0.1, 0.2, 0.97].map((g) => g + 0.003 * (hiss[60 * HZ - 1 - i] ?? 0)));
      for (const hz of [0.8, 1.2, 1.7, 2.4]) {
        const light = times(60).map((t, i) => 20_000 + 500 * value(hz * t) + 10 * (hiss[i] ?? 0));
        const trusted = run([GREEN, ACCEL], [light, still], 60).filter(isTrusted);
        expect(trusted.length, `${hz} Hz`).to.be.below(4); // of 57
      }
    });
  }

  it('trusts a light without a second harmonic where there is no accelerometer: the sensor may have filtered it off', () => {
    const light = times(60).map((t, i) => 20_000 + 500 * Math.sin(2.4 * Math.PI * t) + 10 * (hiss[i] ?? 0));
    for (const e of run([GREEN], [light], 60).slice(13)) expect(e?.confidence).to.be.at.least(0.5);
  });

  /** A pulse whose rate wanders, as that of a heart at rest does. */
  const wandering = (seconds: number, bpm: number) => {
    let phase = 0;
    return times(seconds).map((t) => {
      phase += (bpm + 3 * Math.sin(1.5 * t) + 2 * Math.sin(0.4 * t)) / 60 / HZ;
      return 20_000 - 100 * pulse(phase);
    });
  };

  for (const [hz, height] of [
    [1.6, 200],
    [1.75, 100],
    [1.75, 200],
  ] as const) {
    it(`stops trusting a lamp's flicker of ${hz} Hz, ${height} % of the pulse, within half a minute`, () => {
      const light = wandering(90, 72).map((v, i) => v + height * Math.sin((2 * Math.PI * hz * i) / HZ));
      expect(run([GREEN], [light], 90).slice(32).filter(isTrusted)).to.be.empty;
    });
  }

  for (const [hz, height] of [
    [1.3, 60],
    [1.6, 100],
    [1.75, 200],
  ] as const) {
    it(`stops trusting a lamp's flicker of ${hz} Hz, ${height} % of the pulse, within half a minute of motion`, () => {
      const next = noise(90 * HZ, 21);
      const swing = (t: number) => Math.sin(2 * Math.PI * 0.9 * t + 0.8 * Math.sin(0.5 * t));
      const flicker = (t: number) => height * Math.sin(2 * Math.PI * hz * t);
      const light = wandering(90, 130).map((v, i) => v + 40 * swing(i / HZ) + flicker(i / HZ) + 3 * (next[i] ?? 0));
      const accel = times(90).flatMap((t, i) => [
        0.3 * swing(t),
        0.2 * swing(t - 0.1) + 0.02 * (next[i] ?? 0),
        1 + 0.1 * swing(t + 0.3),
      ]);
      expect(run([GREEN, ACCEL], [light, accel], 90).slice(32).filter(isTrusted)).to.be.empty;
    });
  }

  it('trusts the even pulse of a pacemaker in motion and at rest, though its second harmonic is faint', () => {
    const next = noise(90 * HZ, 22);
    const swing = (t: number) => Math.sin(2 * Math.PI * 1.7 * t + 0.8 * Math.sin(0.5 * t));
    const paced = (t: number) => Math.sin(2 * Math.PI * 1.2 * t) + 0.2 * Math.sin(4 * Math.PI * 1.2 * t + 1);
    for (const motion of [0, 0.3]) {
      const light = times(90).map(
        (t, i) => 20_000 + 100 * paced(t) + 150 * motion * swing(t) + 12 * Math.sin(5 * t) + 5 * (next[i] ?? 0),
      );
      const accel = times(90).flatMap((t) => [
        motion * swing(t),
        0.7 * motion * swing(t - 0.1),
        1 + motion * swing(t + 0.2),
      ]);
      const rates = run([GREEN, ACCEL], [light, accel], 90).slice(32);
      for (const e of rates) expect(e?.confidence, `motion of ${motion} g`).to.be.at.least(0.5);
    }
  });

  it('trusts a pulse with a drift of ten times its height', () => {
    const optical = ppg(20, HZ, 72).map((v, i) => v + (5000 * i) / (8 * HZ));
    expect(run([GREEN], [optical], 20)[20]?.confidence).to.be.at.least(0.8);
  });

  it('uses the optical channel that has the pulse', () => {
    const flat = times(14).map(() => 7);
    const good = ppg(14, HZ, 88);
    const red: CoreChannel = { ...GREEN, modality: 'ppg_red' };
    expect(run([GREEN, red], [flat, good], 14)[14]?.value).to.be.closeTo(88, 1);
    expect(run([GREEN, red], [good, flat], 14)[14]?.value).to.be.closeTo(88, 1);
    expect(run([GREEN, red], [good, []], 14)[14]?.value).to.be.closeTo(88, 1);
  });

  it('reads the other optical channel where one stays at the end of its range', () => {
    for (const rail of [65_535, 262_143, 16_777_215]) {
      const light = ppg(60, HZ, 64);
      const railed = light.map((v, i) => (i < 5 * HZ ? v : rail));
      const got = run([{ ...GREEN, modality: 'ppg_red' }, GREEN], [railed, light], 60);
      for (let end = 14; end <= 60; end++) {
        expect(got[end]?.value, `rail ${rail}, at ${end} s`).to.be.closeTo(64, 0.5);
        expect(got[end]?.confidence, `rail ${rail}, at ${end} s`).to.be.at.least(0.8);
      }
    }
  });

  it('recovers after a gap of a minute', () => {
    const before = ppg(12, HZ, 70);
    const gap = times(60).map(() => Number.NaN);
    const after = ppg(12, HZ, 125);
    const estimates = run([GREEN], [[...before, ...gap, ...after]], 84);
    expect(estimates[40]).to.equal(null);
    expect(estimates[81]?.value).to.be.closeTo(125, 1.5);
  });

  it('gives the same bits for any chunking of the payload, and however far ahead of the step the data are', () => {
    const optical = ppg(30, HZ, 77).map((v, i) => v + 50 * Math.sin(i * i));
    const accel = noise(30 * HZ * 3, 6).map((v, i) => (i % 3 === 2 ? 1 : 0) + 0.2 * v);
    const whole = run([GREEN, ACCEL], [optical, accel], 30);
    for (const [instants, ahead] of [
      [1, 0],
      [7, 6],
      [50, 6],
    ] as const) {
      const session = opened(core, [GREEN, ACCEL]);
      let pushed = 0;
      for (let end = 1; end <= 30; end++) {
        for (; pushed < Math.min(30, end + ahead) * HZ; pushed += instants) {
          const part = (x: readonly number[], subs: number) =>
            payload(x.slice(subs * pushed, subs * (pushed + instants)));
          session.push(0, pushed / HZ, 1 / HZ, ENCODING.float32, part(optical, 1));
          session.push(1, pushed / HZ, 1 / HZ, ENCODING.float32, part(accel, 3));
        }
        if (end < 4) continue;
        const [estimate] = core.step([{ session, estimator: 'hr_ppg', end }]);
        expect(estimate, `at ${end} s, ${instants} at a time, ${ahead} s ahead`).to.deep.equal(whole[end]);
      }
      session.close();
    }
  });
});
