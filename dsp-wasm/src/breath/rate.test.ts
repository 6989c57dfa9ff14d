import { expect } from 'chai';
import {
  type Core,
  type CoreChannel,
  createCore,
  ENCODING,
  type Encoding,
  type Estimate,
  type Estimator,
} from '../core.js';
import { isTrusted, noise, opened, payload, ppg, pulse, random } from '../signals.js';

const HZ = 50;
const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: HZ, numChannels: 1 };
const INFRARED: CoreChannel = { ...GREEN, modality: 'ppg_ir' };
const RESP: CoreChannel = { ...GREEN, modality: 'resp' };
const ACCEL: CoreChannel = { ...GREEN, modality: 'accel', numChannels: 3 };
const ECG: CoreChannel = { modality: 'ecg', sampleRateHz: 250, numChannels: 1 };

/** How deep a breath reaches into the pulse: interval, height, baseline (in pulse heights) and width. */
interface Depth {
  readonly fm?: number;
  readonly am?: number;
  readonly bw?: number;
  readonly wm?: number;
  /** Seconds from which to which the breath is held. */
  readonly held?: readonly [number, number];
}

/** A pulse of 1000 counts at about 75 bpm whose intervals scatter by 2 %, breathing at `rate` per minute. */
function breathing(seconds: number, rate: number, { fm = 0, am = 0, bw = 0, wm = 0, held }: Depth, seed = 1): number[] {
  const [scatter, grain] = [noise(4 * seconds, seed), noise(seconds * HZ, seed + 1)];
  let phase = 0;
  return Array.from({ length: seconds * HZ }, (_, i) => {
    const isHeld = held && i >= held[0] * HZ && i < held[1] * HZ;
    const breath = isHeld ? 0 : Math.sin((2 * Math.PI * rate * i) / (60 * HZ));
    phase += (1.25 * (1 + fm * breath + 0.035 * (scatter[Math.floor(phase)] ?? 0))) / HZ;
    return 1e5 + 1000 * ((1 + am * breath) * pulse(phase) ** (1 + wm * breath) + bw * breath) + 10 * (grain[i] ?? 0);
  });
}

/** R waves of 1 mV and 20 ms at about 69 bpm, or at another heart rate, whose intervals and heights breathe. */
function ecg(seconds: number, rate: number, hz = 250, bpm = 69): number[] {
  let [phase, scatter] = [0, noise(4 * seconds, 3)];
  return Array.from({ length: seconds * hz }, (_, i) => {
    const breath = Math.sin((2 * Math.PI * rate * i) / (60 * hz));
    const step = ((bpm / 60) * (1 + 0.06 * breath + 0.02 * (scatter[Math.floor(phase)] ?? 0))) / hz;
    phase += step;
    const t = ((phase % 1) - 0.5) / (step * hz);
    return (1 + 0.1 * breath) * (Math.exp(-((t / 0.012) ** 2)) - 0.2 * Math.exp(-(((t - 0.03) / 0.015) ** 2)));
  });
}

/** A pulse whose intervals scatter by a fourth (rms), as in atrial fibrillation. */
function irregular(seconds: number): number[] {
  const scatter = noise(4 * seconds, 12);
  let phase = 0;
  return Array.from({ length: seconds * HZ }, () => {
    phase += 1.3 / (1 + 0.43 * (scatter[Math.floor(phase)] ?? 0)) / HZ;
    return 1e5 + 1000 * pulse(phase);
  });
}

describe('rr', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  /** Pushes in parts and asks every 2 s from 16 s on. */
  function run(
    estimator: Estimator,
    channels: readonly CoreChannel[],
    data: readonly (readonly number[])[],
    part = 1e9,
    encoding: Encoding = ENCODING.float32,
  ): (Estimate | null)[] {
    const session = opened(core, channels);
    const perSecond = channels.map(({ sampleRateHz, numChannels }) => sampleRateHz * numChannels);
    const seconds = Math.max(...data.map((x, c) => x.length / (perSecond[c] ?? 1)));
    const answers: (Estimate | null)[] = [];
    let from = 0;
    for (let end = 16; end <= seconds; end += 2) {
      channels.forEach(({ sampleRateHz }, c) => {
        const hz = perSecond[c] ?? 1;
        const x = data[c]?.slice(from * hz, end * hz) ?? [];
        for (let i = 0; i < x.length; i += part) {
          const values = x.slice(i, i + part);
          const bytes = encoding === ENCODING.int32 ? integers(values) : payload(values);
          session.push(c, from + i / hz, 1 / sampleRateHz, encoding, bytes);
        }
      });
      from = end;
      answers.push(core.step([{ session, estimator, end }])[0] ?? null);
    }
    session.close();
    return answers;
  }

  const integers = (values: readonly number[]) => new Uint8Array(Int32Array.from(values).buffer);
  const last = (answers: readonly (Estimate | null)[]) => answers.at(-1) ?? null;
  const trusted = (answers: readonly (Estimate | null)[]) => answers.filter(isTrusted).length;

  for (const rate of [8, 12, 18, 27]) {
    for (const [name, depth] of Object.entries({
      intervals: { fm: 0.05 },
      heights: { am: 0.1 },
      baselines: { bw: 0.3 },
    })) {
      it(`finds ${rate} breaths a minute by the ${name} of pulses alone, and trusts it`, () => {
        const answer = last(run('rr_ppg', [GREEN], [breathing(64, rate, depth)]));
        expect(answer?.value).to.be.closeTo(rate, 1);
        expect(answer?.confidence).to.be.at.least(0.5);
      });
    }
  }

  for (const [rate, bpm] of [
    [6, 69],
    [8, 69],
    [45, 140],
    [56, 150],
  ] as const)
    it(`reads ${rate} breaths a minute from an ECG of ${bpm} bpm to half a breath, and trusts it`, () => {
      const answer = last(run('rr_ecg', [ECG], [ecg(90, rate, 250, bpm)]));
      expect(answer?.value).to.be.closeTo(rate, 0.5);
      expect(answer?.confidence).to.be.at.least(0.5);
    });

  it('reads slow paced breathing of 6 a minute from light to half a breath', () => {
    const answer = last(run('rr_ppg', [GREEN], [breathing(90, 6, { fm: 0.05, am: 0.1, bw: 0.2 })]));
    expect(answer?.value).to.be.closeTo(6, 0.5);
  });

  it('reads breaths of an infant that vary between 45 and 65 a minute', () => {
    let phase = 0;
    const draws = noise(200, 31);
    const belt = noise(120 * HZ, 30).map((v) => {
      phase += (55 + 10 * (draws[Math.floor(phase)] ?? 0)) / 60 / HZ;
      return 1000 * Math.sin(2 * Math.PI * phase) + 200 * v;
    });
    const answers = run('rr_resp', [RESP], [belt]).slice(12);
    expect(answers.filter((a) => a && a.confidence >= 0.5 && Math.abs(a.value - 55) < 3).length).to.be.above(
      0.6 * answers.length,
    );
  });

  it('has a first estimate after sixteen seconds', () => {
    const [first] = run('rr_ppg', [GREEN], [breathing(16, 15, { fm: 0.05, am: 0.1, bw: 0.2 })]);
    expect(first?.value).to.be.closeTo(15, 2);
  });

  it('finds the respiratory rate in the presence of blood pressure waves, which only intervals show', () => {
    const hz = 250;
    let phase = 0;
    const x = Array.from({ length: 90 * hz }, (_, i) => {
      const wave = Math.sin((2 * Math.PI * 6 * i) / (60 * hz));
      const breath = Math.sin((2 * Math.PI * 16 * i) / (60 * hz));
      const step = (1.15 * (1 + 0.04 * wave)) / hz;
      phase += step;
      const t = ((phase % 1) - 0.5) / (step * hz);
      return (1 + 0.04 * breath) * Math.exp(-((t / 0.012) ** 2)) + 0.02 * breath;
    });
    expect(last(run('rr_ecg', [ECG], [x]))?.value).to.be.closeTo(16, 1);
  });

  it('trusts no breath in an ECG whose intervals alone swing, with the blood pressure', () => {
    const hz = 250;
    for (let seed = 1; seed <= 12; seed++) {
      const draw = random(seed);
      // Waves of the blood pressure, of 0.05 to 0.12 Hz, over a rate that drifts.
      const waves = Array.from({ length: 12 }, (_, k) => ({ f: 0.05 + 0.006 * (k + draw()), shift: Math.PI * draw() }));
      const drift = noise(7, seed + 300);
      const [scatter, grain] = [noise(200, seed + 100), noise(120 * hz, seed + 200)];
      let phase = 0;
      const x = Array.from({ length: 120 * hz }, (_, i) => {
        const wave = waves.reduce((sum, { f, shift }) => sum + Math.sin((2 * Math.PI * f * i) / hz + shift), 0);
        const [k, share] = [Math.floor(i / (20 * hz)), (i / (20 * hz)) % 1];
        const trend = (1 - share) * (drift[k] ?? 0) + share * (drift[k + 1] ?? 0);
        const change = 0.006 * wave + 0.024 * trend + 0.01 * (scatter[Math.floor(phase)] ?? 0);
        const step = (1.15 * (1 + change)) / hz;
        phase += step;
        return Math.exp(-((((phase % 1) - 0.5) / (step * hz) / 0.012) ** 2)) + 0.03 * (grain[i] ?? 0);
      });
      expect(trusted(run('rr_ecg', [ECG], [x]))).to.be.at.most(2); // of 53
    }
  });

  it('reads the ECG by its baseline alone, and trusts it', () => {
    const breath = (i: number) => 0.1 * Math.sin((2 * Math.PI * 14 * i) / (60 * 250));
    const answer = last(run('rr_ecg', [ECG], [ecg(64, 0).map((v, i) => v + breath(i))]));
    expect(answer?.value).to.be.closeTo(14, 1);
    expect(answer?.confidence).to.be.at.least(0.5);
  });

  it('finds the respiratory rate, not its harmonic, when heights vary at twice the rate', () => {
    const twice = breathing(64, 24, { am: 0.08 }).map((v, i) => v + 300 * Math.sin((2 * Math.PI * 12 * i) / (60 * HZ)));
    expect(last(run('rr_ppg', [GREEN], [twice]))?.value).to.be.closeTo(12, 1);
  });

  it('follows a change of rate within a window and a half', () => {
    const x = [...breathing(60, 12, { fm: 0.05, am: 0.1 }), ...breathing(50, 22, { fm: 0.05, am: 0.1 })];
    expect(last(run('rr_ppg', [GREEN], [x]))?.value).to.be.closeTo(22, 1.5);
  });

  it('ignores premature beats', () => {
    let [phase, beats] = [0, 0];
    const x = Array.from({ length: 64 * HZ }, (_, i) => {
      const breath = Math.sin((2 * Math.PI * 11 * i) / (60 * HZ));
      // every seventh beat comes at 60 % of the interval, and the next after a pause
      const pace = beats % 7 === 5 ? 1 / 0.6 : beats % 7 === 6 ? 1 / 1.4 : 1;
      phase += (1.1 * pace * (1 + 0.04 * breath)) / HZ;
      beats = Math.floor(phase);
      return 1e5 + 1000 * ((1 + 0.1 * breath) * pulse(phase) + 0.3 * breath);
    });
    expect(last(run('rr_ppg', [GREEN], [x]))?.value).to.be.closeTo(11, 2.5);
  });

  it('trusts no breath where one beat in three, four or five is aberrant, in time', () => {
    const gauss = (t: number, width: number) => Math.exp(-((t / width) ** 2));
    const normal = (t: number) => gauss(t - 0.5, 0.015);
    const aberrant = (t: number) => 0.7 * gauss(t - 0.49, 0.03) - 0.6 * gauss(t - 0.54, 0.03);
    const jitter = noise(200, 11);
    for (const every of [3, 4, 5])
      for (const rate of [60, 72, 85]) {
        const beats: number[] = [];
        for (let t = 0.4, k = 0; t < 90; t += (60 / rate) * (1 + 0.01 * (jitter[k++] ?? 0))) beats.push(t);
        const isAberrant = (k: number) => k % every === every - 1;
        const waves = [
          wavesAt(
            beats.filter((_, k) => !isAberrant(k)),
            250,
            normal,
          ),
          wavesAt(
            beats.filter((_, k) => isAberrant(k)),
            250,
            aberrant,
          ),
        ];
        const lead = (waves[0] ?? []).map((v, i) => v + (waves[1]?.[i] ?? 0));
        expect(trusted(run('rr_ecg', [ECG], [lead]).slice(8)), `every ${every}, at ${rate} bpm`).to.equal(0);
      }
  });

  it('trusts no breath in a rhythm whose irregular beats come after equal numbers of beats', () => {
    const rhythms = {
      'an early beat after every third': [1, 1, 0.65, 1.08],
      'an early beat after every fourth': [1, 1, 1, 0.65, 1.08],
      'a block of every fifth': [1.14, 1.07, 1.04, 1.75],
      'a block of every sixth': [1.14, 1.07, 1.04, 1.01, 1.74],
    };
    for (const [name, intervals] of Object.entries(rhythms))
      for (const rate of [60, 72, 85]) {
        const beats: number[] = [];
        for (let t = 0.4, k = 0; t < 90; t += (60 / rate) * (intervals[k++ % intervals.length] ?? 1)) beats.push(t);
        const lead = wavesAt(beats, 250, (t) => Math.exp(-(((t - 0.5) / 0.015) ** 2)));
        const light = wavesAt(beats, HZ, (t) => 1000 * pulse(t / 0.8)).map((v) => v + 1e5);
        for (const answers of [run('rr_ecg', [ECG], [lead]), run('rr_ppg', [GREEN], [light])])
          expect(trusted(answers.slice(8)), `${name}, at ${rate} bpm`).to.equal(0);
      }
  });

  /** A wave of 0.8 s, given by the time since its beginning, at each of these times, in a little noise. */
  function wavesAt(times: readonly number[], hz: number, wave: (t: number) => number): number[] {
    const x = noise(90 * hz, 7).map((v) => 0.01 * v * wave(0.5));
    for (const time of times)
      for (let i = Math.ceil(time * hz); i < Math.min(x.length, (time + 0.8) * hz); i++)
        x[i] = (x[i] ?? 0) + wave(i / hz - time);
    return x;
  }

  it('trusts no wrong breath in bigeminy, whose long beats show their second wave as a pulse', () => {
    for (const [bpm, early] of [
      [60, 0.75],
      [66, 0.6],
      [70, 0.55],
    ] as const) {
      const answers = run('rr_ppg', [GREEN], [bigeminy(bpm, early)]).slice(8);
      expect(trusted(answers.filter((a) => a && Math.abs(a.value - 14) > 3)), `at ${bpm} bpm`).to.equal(0);
    }
  });

  /** Light that each pulse dims, less after a short time to fill the heart, and 14 breaths a minute; every second beat comes early. */
  function bigeminy(bpm: number, early: number): number[] {
    const x = noise(90 * HZ, 7).map((v, i) => 1e5 + 10 * v - 200 * Math.sin((2 * Math.PI * 14 * i) / (60 * HZ)));
    const intervals = [2 - early, early].map((v) => (v * 60) / bpm);
    for (let k = 0, time = 0.4; time < 90; time += intervals[++k % 2] ?? 1) {
      const height = 1 - Math.exp((0.25 - (intervals[k % 2] ?? 1)) / 0.16);
      for (let i = Math.ceil(time * HZ); i < Math.min(x.length, (time + 0.8) * HZ); i++)
        x[i] = (x[i] ?? 0) - 1000 * height * pulse((i / HZ - time) / 0.8);
    }
    return x;
  }

  it('uses the optical channel that has a pulse, and continues with the other one when it is lost', () => {
    const good = breathing(64, 14, { fm: 0.05, am: 0.1 });
    const flat = good.map(() => 1e5);
    expect(last(run('rr_ppg', [GREEN, INFRARED], [flat, good]))?.value).to.be.closeTo(14, 1);
    const lost = good.map((v, i) => (i < 30 * HZ ? v : 1e5));
    expect(last(run('rr_ppg', [GREEN, INFRARED], [lost, good]))?.value).to.be.closeTo(14, 1);
  });

  it('reads the respiratory rate from the R waves of an ECG', () => {
    const answer = last(run('rr_ecg', [ECG], [ecg(64, 13)]));
    expect(answer?.value).to.be.closeTo(13, 1);
    expect(answer?.confidence).to.be.at.least(0.5);
  });

  it('trusts no breath in noise of 0.3 of the R waves, but says how likely it is', () => {
    const grain = noise(120 * 250, 5);
    const noisy = ecg(120, 18).map((v, i) => v + 0.5 * (grain[i] ?? 0));
    for (const answer of run('rr_ecg', [ECG], [noisy]).slice(-30)) {
      expect(answer?.value).to.be.closeTo(18, 1);
      expect(answer?.confidence).to.be.within(0.3, 0.4999);
    }
  });

  it('trusts none where beats are so rare that a usual breath would look like a slower one', () => {
    for (const bpm of [33, 36, 38])
      for (const rate of [13, 20, 24]) expect(trusted(run('rr_ecg', [ECG], [ecg(64, rate, 250, bpm)]))).to.equal(0);
    for (const bpm of [44, 50]) expect(trusted(run('rr_ecg', [ECG], [ecg(64, 13, 250, bpm)]))).to.be.above(10);
  });

  it('reads it across a gap as well, wherever among the beats the gap ends', () => {
    const answers = Array.from({ length: 32 }, (_, i) => acrossGap(ecg(50, 15), 24 + i / 31.25)).flat();
    expect(Math.max(...answers.map((a) => Math.abs((a?.value ?? 0) - 15)))).to.be.below(1);
    expect(Math.min(...answers.map((a) => a?.confidence ?? 0))).to.be.at.least(0.5);
  });

  /** Estimates from an ECG without the data from 18 s until that time, every 2 s. */
  function acrossGap(x: readonly number[], until: number): (Estimate | null)[] {
    const session = opened(core, [ECG]);
    const hz = ECG.sampleRateHz;
    const push = (from: number, to: number) =>
      session.push(0, from, 1 / hz, ENCODING.float32, payload(x.slice(Math.round(from * hz), to * hz)));
    push(0, 18);
    const answers: (Estimate | null)[] = [];
    for (let end = 18; end <= x.length / hz; end += 2) {
      if (end > until) push(Math.max(end - 2, until), end);
      answers.push(...core.step([{ session, estimator: 'rr_ecg', end }]));
    }
    session.close();
    return answers;
  }

  for (const rate of [6, 15, 30, 42, 60, 85]) {
    it(`reads ${rate} breaths a minute off an effort belt that drifts`, () => {
      const belt = noise(64 * HZ, rate).map(
        (v, i) => 5 * Math.sin(i / HZ / 30) + Math.sin((2 * Math.PI * rate * i) / (60 * HZ)) + 0.3 * v,
      );
      const answer = last(run('rr_resp', [RESP], [belt]));
      expect(answer?.value).to.be.closeTo(rate, 0.5);
      expect(answer?.confidence).to.be.at.least(0.5);
    });
  }

  it('is less sure of the rate of an effort that has become irregular', () => {
    const periods = [2.4, 5.6, 3.1, 7.2, 2.2, 4.4, 3.4, 6.1, 2.7, 5];
    const depths = [1, 0.6, 1.4, 0.5, 0.9, 1.6, 0.7, 1.2, 0.5, 1];
    const x: number[] = [];
    for (let breath = 0; x.length < 135 * RESP.sampleRateHz; breath++) {
      const isRegular = x.length < 80 * RESP.sampleRateHz;
      const period = isRegular ? 3 : (periods[breath % 10] ?? 0);
      const depth = isRegular ? 1 : (depths[breath % 10] ?? 0);
      const samples = Math.round(period * RESP.sampleRateHz);
      for (let i = 0; i < samples; i++) x.push(500 * depth * (1 - Math.cos((2 * Math.PI * i) / samples)));
    }
    const confidences = run('rr_resp', [RESP], [x]).map((answer) => answer?.confidence);
    expect(confidences[(78 - 16) / 2]).to.be.above(0.9);
    for (let end = 120; end <= 134; end += 2) expect(confidences[(end - 16) / 2], `at ${end} s`).to.be.below(0.8);
  });

  /** A short breath and a long rest, in an effort. */
  function slowBreath(t: number, rate: number): number {
    return 1000 * Math.max(0, Math.cos(2 * Math.PI * ((rate * t) / 60 - 0.5)) - 0.5);
  }

  for (const rate of [6, 7, 9]) {
    it(`finds ${rate} short breaths a minute in an effort, not their harmonic, and trusts it`, () => {
      const grain = noise(90 * HZ, 14);
      const x = grain.map((v, i) => 5000 + slowBreath(i / HZ, rate) + 30 * v);
      const answer = last(run('rr_resp', [RESP], [x]));
      expect(answer?.value).to.be.closeTo(rate, 1);
      expect(answer?.confidence).to.be.at.least(0.5);
    });
  }

  it('does not mistake an effort whose breaths alternate in depth for one of half the rate', () => {
    const x = Array.from({ length: 90 * HZ }, (_, i) => {
      const t = i / HZ;
      return 1000 * (1 + 0.3 * Math.cos((2 * Math.PI * 8 * t) / 60)) * Math.sin((2 * Math.PI * 16 * t) / 60);
    });
    expect(last(run('rr_resp', [RESP], [x]))?.value).to.be.closeTo(16, 1);
  });

  for (const [name, estimator, channel, signal, grain] of [
    ['optical sensor', 'rr_ppg', GREEN, (s: number) => breathing(s, 15, { fm: 0.05, am: 0.1, bw: 0.2 }), 10],
    ['electrode', 'rr_ecg', ECG, (s: number) => ecg(s, 15), 0.01],
  ] as const)
    it(`trusts no breath from 40 s after an ${name} has left the skin, until it is back`, () => {
      for (const seed of [21, 22, 23]) {
        const on = signal(60);
        const off = noise(120 * channel.sampleRateHz, seed).map((v) => (channel === GREEN ? 2000 : 0) + grain * v);
        const answers = run(estimator, [channel], [[...on, ...off, ...signal(60)]]);
        const trust = (from: number, to: number) =>
          answers.slice((from - 16) / 2, (to - 14) / 2).map((a) => a?.confidence ?? 0);
        expect(Math.min(...trust(40, 60))).to.be.above(0.8);
        expect(Math.max(...trust(100, 180))).to.be.below(0.5);
        expect(Math.min(...trust(220, 240))).to.be.above(0.8);
      }
    });

  /** An effort that is noisy, held from and to these seconds. */
  function belt(seconds: number, rate: number, [from, to]: readonly [number, number] = [0, 0]): number[] {
    return noise(seconds * HZ, 15).map((v, i) => {
      const isHeld = i >= from * HZ && i < to * HZ;
      return (isHeld ? 0 : 1000 * Math.sin((2 * Math.PI * rate * i) / (60 * HZ))) + 50 * v;
    });
  }

  for (const [name, estimator, channel, wave] of [
    ['pulses', 'rr_ppg', GREEN, () => breathing(240, 14, { fm: 0.03, am: 0.08, bw: 0.15, held: [100, 160] })],
    ['an effort', 'rr_resp', RESP, () => belt(240, 14, [100, 160])],
  ] as const)
    it(`trusts no breath in ${name} while it is held, half a window after its last one, and trusts the next ones`, () => {
      const trust = run(estimator, [channel], [wave()]).map((a) => a?.confidence ?? 0);
      const within = (from: number, to: number) => trust.slice((from - 16) / 2, (to - 14) / 2);
      expect(Math.min(...within(40, 106))).to.be.above(0.8);
      expect(Math.max(...within(118, 162))).to.be.below(0.5);
      expect(Math.min(...within(190, 240))).to.be.above(0.8);
    });

  it('trusts no shallow breath while it is held for the fifth time, 40 s after the fourth', () => {
    for (const seed of [510, 520, 530]) {
      const depth = { fm: 0.012, am: 0.015, bw: 0.02, held: [40, 100] } as const;
      const x = [0, 2, 4, 6, 8].flatMap((k) => breathing(100, 14, depth, seed + k));
      const answers = run('rr_ppg', [GREEN], [x]);
      expect(trusted(answers.slice((424 - 16) / 2, (440 - 16) / 2))).to.equal(8);
      expect(trusted(answers.slice((460 - 16) / 2))).to.equal(0); // of 21
    }
  });

  for (const [name, depth, from, until, again] of [
    ['stays at a third of its depth', 1 / 3, 120, 1e9, 250],
    ['stays at a twentieth of its depth', 1 / 20, 120, 1e9, 690],
    ['was a thousand times as deep for a minute', 1000, 120, 180, 220],
  ] as const)
    it(`trusts a breath again that ${name}`, () => {
      const grain = noise(800 * HZ, 16);
      const x = belt(800, 14).map((v, i) => v * (i >= from * HZ && i < until * HZ ? depth : 1) + 25 * (grain[i] ?? 0));
      const trust = run('rr_resp', [RESP], [x]).map((a) => a?.confidence ?? 0);
      expect(Math.min(...trust.slice((again - 16) / 2))).to.be.at.least(0.5);
    });

  it('never trusts a breath that gets shallower as fast as the doubt of it would end', () => {
    const hz = 10;
    const x = Array.from({ length: 3600 * hz }, (_, i) => {
      const t = i / hz;
      return (t < 100 ? 1e12 : 1e9 * Math.exp((100 - t) / 60)) * Math.sin((2 * Math.PI * 15 * t) / 60);
    });
    const trust = run('rr_resp', [{ ...RESP, sampleRateHz: hz }], [x]).map((a) => a?.confidence ?? 0);
    expect(Math.min(...trust.slice((40 - 16) / 2, (100 - 16) / 2))).to.be.above(0.8);
    expect(Math.max(...trust.slice((120 - 16) / 2))).to.be.below(0.5);
  });

  /**
   * The breath of an optical signal, every 2 s from 16 s on, which arrives in parts of so many seconds; the heart rate is computed before it,
   * every second, but for so many seconds, whose heart rate comes later.
   */
  function besidePulse(x: readonly number[], later: number, part = 1): (Estimate | null)[] {
    const session = opened(core, [GREEN]);
    const answers: (Estimate | null)[] = [];
    for (let from = 0; from * HZ < x.length; from += part) {
      session.push(0, from, 1 / HZ, ENCODING.float32, payload(x.slice(from * HZ, (from + part) * HZ)));
      const ends = Array.from({ length: part }, (_, i) => from + i + 1);
      const pulses = ends.map((end) => end - later).filter((end) => end > 0);
      core.step(pulses.map((end) => ({ session, estimator: 'hr_ppg', end })));
      const even = ends.filter((end) => end >= 16 && end % 2 === 0);
      answers.push(...core.step(even.map((end) => ({ session, estimator: 'rr_ppg', end }))));
    }
    session.close();
    return answers;
  }

  it('trusts no breath in the light of a lamp that sampling makes swing 17 times a minute, as it is not that of a pulse', () => {
    const lamp = noise(120 * HZ, 16).map((v, i) => {
      const turn = 2 * Math.PI * (0.28 * (i / HZ) + 0.5 * Math.sin((2 * Math.PI * i) / (80 * HZ)));
      const swing = Math.sin(turn) + 0.07 * Math.sin(2 * turn + 1) + 0.27 * Math.sin(3 * turn + 2);
      return 1e4 + 1000 * swing + 5 * v;
    });
    const pulses = breathing(120, 17, { fm: 0.05, am: 0.1, bw: 0.2 });
    for (const later of [0, 1, 2]) {
      expect(trusted(besidePulse(lamp, later))).to.equal(0);
      expect(trusted(besidePulse(pulses, later))).to.be.at.least(52);
    }
  });

  it('trusts no breath in noise that hides the heart rate, but says how likely it is', () => {
    const grain = noise(120 * HZ, 16);
    const noisy = breathing(120, 17, { fm: 0.05, am: 0.1, bw: 0.4 }).map((v, i) => v + 1200 * (grain[i] ?? 0));
    for (const answer of besidePulse(noisy, 0).slice(-30)) {
      expect(answer?.value).to.be.closeTo(17, 1);
      expect(answer?.confidence).to.be.within(0.3, 0.4999);
    }
  });

  it('gives the same breath whether the heart rate of a second is computed before or after it', () => {
    const loud = noise(96 * HZ, 17);
    const x = breathing(96, 17, { fm: 0.05, am: 0.1, bw: 0.2 }).map(
      (v, i) => v + (i % (24 * HZ) < 20 * HZ ? 700 : 0) * (loud[i] ?? 0),
    );
    const one = besidePulse(x, 0);
    for (const [later, part] of [
      [1, 1],
      [2, 1],
      [0, 8],
      [2, 8],
    ] as const)
      expect(besidePulse(x, later, part)).to.deep.equal(one);
  });

  it('trusts no breath in the hum of electrodes that nobody wears', () => {
    for (const mains of [50, 60]) {
      const level = noise(400, mains);
      const hum = Array.from({ length: 120 * 200 }, (_, i) => {
        const swell = 1 + 0.03 * (level[Math.floor(i / 100)] ?? 0);
        const phase = 2 * Math.PI * (mains + 0.02) * (i / 200) + 0.3 * Math.sin(i / 1900);
        return 1000 * (swell * Math.sin(phase) + 0.2 * Math.sin(3 * phase + 1));
      });
      expect(trusted(run('rr_ecg', [{ ...ECG, sampleRateHz: 200 }], [hum], 120)), `${mains} Hz`).to.equal(0);
    }
  });

  it('trusts no breath from a minute after a belt has been taken off', () => {
    for (const seed of [41, 42, 43])
      for (const rate of [8, 15, 25]) {
        const grain = noise(200 * HZ, seed);
        const x = grain.map(
          (v, i) => 200 * v + (i < 60 * HZ ? 2000 * Math.sin((2 * Math.PI * rate * i) / (60 * HZ)) : 0),
        );
        const trust = run('rr_resp', [RESP], [x]).map((a) => a?.confidence ?? 0);
        expect(Math.min(...trust.slice((40 - 16) / 2, (60 - 14) / 2))).to.be.above(0.8);
        expect(Math.max(...trust.slice((120 - 16) / 2))).to.be.below(0.5);
      }
  });

  it('trusts no breath in the pulses of a wearer who moves', () => {
    const x = breathing(64, 15, { fm: 0.05, am: 0.1, bw: 0.2 });
    const trust = (g: number) => {
      const accel = x.flatMap((_, i) => [0, 0.6, 0.8 + g * Math.SQRT2 * Math.sin((2 * Math.PI * 1.3 * i) / HZ)]);
      const session = opened(core, [GREEN, ACCEL]);
      session.push(0, 0, 1 / HZ, ENCODING.float32, payload(x));
      session.push(1, 0, 1 / HZ, ENCODING.float32, payload(accel));
      const [answer] = core.step([{ session, estimator: 'rr_ppg', end: 64 }]);
      session.close();
      return answer?.confidence ?? Number.NaN;
    };
    expect(trust(0.01)).to.be.above(0.8);
    expect(trust(0.05)).to.equal(0);
    expect(trust(0.3)).to.equal(0);
  });

  it('trusts a breath that the accelerometer feels on the chest, and over a turn of the wrist, but none in a rocking chair', () => {
    const sway = (g: number, rate: number, i: number) => g * Math.sin((2 * Math.PI * rate * i) / (60 * HZ));
    const trust = (rocked: number, feel: (i: number) => number) => {
      const x = breathing(120, 15, { fm: 0.05, am: 0.1, bw: 0.2 }).map((v, i) => v + sway(rocked, 24, i));
      const accel = x.flatMap((_, i) => [0.1 + 0.4 * feel(i), 0.2 * feel(i), 0.97 + feel(i)]);
      return run('rr_ppg', [GREEN, ACCEL], [x, accel]).map((a) => a?.confidence ?? 0);
    };
    expect(Math.min(...trust(0, (i) => sway(0.02, 15, i)).slice(12))).to.be.above(0.8);
    expect(Math.min(...trust(0, (i) => (i < 60 * HZ ? 0 : -0.15)).slice(12))).to.be.above(0.5);
    expect(Math.max(...trust(1500, (i) => sway(0.05, 24, i)))).to.be.below(0.5);
  });

  it('trusts no breath of a window that a movement fills by half, though it is over', () => {
    const swing = (i: number) => (i < 60 * HZ ? Math.sin((2 * Math.PI * 0.9 * i) / HZ) : 0);
    const x = breathing(120, 18, { fm: 0.03, am: 0.05, bw: 0.1 }).map((v, i) => v + 3000 * swing(i));
    const accel = x.flatMap((_, i) => [0.3 * swing(i), 0.1 * swing(i), 1]);
    const trust = run('rr_ppg', [GREEN, ACCEL], [x, accel]).map((a) => a?.confidence ?? 0);
    expect(Math.max(...trust.slice(0, (76 - 16) / 2))).to.be.below(0.5);
    expect(Math.min(...trust.slice((100 - 16) / 2))).to.be.above(0.8);
  });

  it('gives the same bits for any chunking of the payload', () => {
    const x = breathing(48, 14, { fm: 0.03, am: 0.06 });
    const whole = run('rr_ppg', [GREEN], [x]);
    for (const part of [1, 17]) expect(run('rr_ppg', [GREEN], [x], part)).to.deep.equal(whole);
  });

  it('uses no sample after the window, even if it has arrived', () => {
    const answerBefore = (after: readonly number[]) => {
      const x = [...breathing(40, 14, { fm: 0.03, am: 0.06 }), 1e5, ...after];
      const session = opened(core, [GREEN]);
      session.push(0, 0, 1 / HZ, ENCODING.float32, payload(x));
      const [answer] = core.step([{ session, estimator: 'rr_ppg', end: 40 }]);
      session.close();
      return answer;
    };
    expect(answerBefore([])?.value).to.be.closeTo(14, 1.5);
    expect(answerBefore(noise(6 * HZ, 3).map((v) => 1e6 * v))).to.deep.equal(answerBefore([]));
  });

  it('does not trust noise, wander, an irregular rhythm, or a pulse without respiration', () => {
    let at = 0;
    const wander = noise(120 * HZ, 8).map((v) => {
      at += v;
      return at;
    });
    const ramp = noise(120 * HZ, 10).map((v, i) => 50_000 + 0.6 * i + 10 * v);
    for (const x of [noise(120 * HZ, 7), wander, ramp, breathing(120, 0, {}, 9), ppg(120, HZ, 70), irregular(120)]) {
      expect(trusted(run('rr_ppg', [GREEN], [x]))).to.be.at.most(2); // of 53
    }
    const drift = noise(120 * HZ, 11).map((v, i) => 10 * i + 0.001 * i * i + 20 * v);
    for (const x of [noise(120 * HZ, 7), wander, drift]) expect(trusted(run('rr_resp', [RESP], [x]))).to.be.at.most(2);
  });

  it('hardly ever trusts a breath that pulses do not show', () => {
    const answers = Array.from({ length: 20 }, (_, k) => run('rr_ppg', [GREEN], [breathing(120, 0, {}, 40 + 2 * k)]));
    expect(trusted(answers.flat())).to.be.at.most(27); // of 1060
  });

  it('trusts no held breath by the widths of pulses, which go on to swing with the vessels', () => {
    const x = breathing(120, 14, { fm: 0.03, am: 0.06, bw: 0.1, held: [70, 110] }, 5);
    const vessels = breathing(120, 14, { wm: 0.05 }, 5);
    const still = breathing(120, 14, {}, 5);
    const both = x.map((v, i) => v + (vessels[i] ?? 0) - (still[i] ?? 0));
    expect(trusted(run('rr_ppg', [GREEN], [both]).slice((86 - 14) / 2, (110 - 14) / 2))).to.equal(0);
  });

  it('trusts no breath in the perfectly steady pulses of a patient simulator', () => {
    const steady = (bpm: number) =>
      Array.from({ length: 90 * HZ }, (_, i) => {
        const t = (i / HZ) % (60 / bpm);
        const wave = Math.exp(-0.5 * (Math.log((t + 1e-9) / 0.12) / 0.5) ** 2);
        return 1e5 - 1000 * (wave + 0.3 * Math.exp(-0.5 * ((t - 0.38) / 0.08) ** 2));
      });
    const answers = Array.from({ length: 24 }, (_, i) => run('rr_ppg', [GREEN], [steady(50 + 2.3 * i)]));
    expect(trusted(answers.flat())).to.equal(0);
  });

  /** Even beats of `wave` (by seconds since each, and in beats) in counts, as converted at `hz`, with noise of that many counts. */
  function even(hz: number, bpm: number, wave: (t: number, phase: number) => number, grain: number): number[] {
    return noise(120 * hz, bpm).map((v, i) => {
      const phase = ((i * bpm) / (60 * hz)) % 1;
      return Math.round(wave((phase * 60) / bpm, phase) + grain * v);
    });
  }

  it('trusts no breath in an ECG of constant rate, at any rate of sampling', () => {
    const g = (t: number, width: number) => Math.exp(-((t / width) ** 2));
    const shapes: Record<string, (t: number) => number> = {
      narrow: (t) => g(t - 0.3, 0.009) - 0.25 * g(t - 0.32, 0.008) + 0.2 * g(t - 0.5, 0.05),
      wide: (t) => g(t - 0.2, 0.035) - 0.6 * g(t - 0.26, 0.03),
      paced: (t) => (t >= 0.15 && t < 0.152 ? 1.5 : 0) + g(t - 0.21, 0.03) - 0.5 * g(t - 0.265, 0.03),
    };
    for (const [name, shape] of Object.entries(shapes))
      for (const sampleRateHz of [100, 128, 250, 360, 1000])
        for (const bpm of [61.3, 70, 72, 75, 90]) {
          const x = even(sampleRateHz, bpm, (t) => 800 * shape(t), 6);
          const answers = run('rr_ecg', [{ ...ECG, sampleRateHz }], [x], 1e9, ENCODING.int32);
          expect(trusted(answers), `${name}, ${sampleRateHz} Hz, ${bpm} bpm`).to.equal(0);
        }
  });

  it('trusts no breath in hum on an ECG of constant rate', () => {
    for (const mains of [50, 60.03])
      for (const bpm of [66, 72, 77.7]) {
        const x = even(250, bpm, (t) => 800 * Math.exp(-(((t - 0.3) / 0.012) ** 2)), 6).map(
          (v, i) => v + 80 * Math.sin((2 * Math.PI * mains * i) / 250),
        );
        expect(trusted(run('rr_ecg', [ECG], [x])), `${mains} Hz, ${bpm} bpm`).to.equal(0);
      }
  });

  /** `size` of the wave of beat k, in beats of even length. */
  function beating(hz: number, bpm: number, size: (k: number) => number, wave: (t: number, phase: number) => number) {
    return noise(120 * hz, bpm).map((v, i) => {
      const beat = (i * bpm) / (60 * hz);
      return Math.round(1e5 + 1000 * size(Math.floor(beat)) * wave(((beat % 1) * 60) / bpm, beat % 1) + 6 * v);
    });
  }

  for (const [estimator, channel, wave] of [
    ['rr_ecg', ECG, (t: number) => Math.exp(-(((t - 0.3) / 0.012) ** 2))],
    ['rr_ppg', GREEN, (_: number, phase: number) => pulse(phase)],
  ] as const)
    it(`trusts no breath in beats of which every second to sixth is weak (${estimator})`, () => {
      for (const length of [2, 3, 4, 5, 6])
        for (const bpm of [62, 75, 97])
          for (const weak of [0.5, 0.85]) {
            const x = beating(channel.sampleRateHz, bpm, (k) => (k % length === 0 ? weak : 1), wave);
            expect(trusted(run(estimator, [channel], [x])), `${length} beats, ${bpm} bpm, ${weak}`).to.equal(0);
          }
    });

  it('trusts a breath of exactly four beats that swings their heights as a sinusoid', () => {
    const x = beating(
      HZ,
      72,
      (k) => 1 + 0.1 * Math.sin((Math.PI * k) / 2 + 0.4),
      (_, phase) => pulse(phase),
    );
    const answer = last(run('rr_ppg', [GREEN], [x]));
    expect(answer?.value).to.be.closeTo(18, 1);
    expect(answer?.confidence).to.be.at.least(0.5);
  });

  it('reads the breath of a paced heart by the baseline', () => {
    for (const bpm of [60, 70, 72.5]) {
      const x = even(250, bpm, (t) => 800 * Math.exp(-(((t - 0.3) / 0.012) ** 2)), 6).map(
        (v, i) => v + 120 * Math.sin((2 * Math.PI * 14 * i) / (60 * 250)),
      );
      const answer = last(run('rr_ecg', [ECG], [x]));
      expect(answer?.value, `${bpm} bpm`).to.be.closeTo(14, 1);
      expect(answer?.confidence, `${bpm} bpm`).to.be.at.least(0.5);
    }
  });

  it('trusts no breath in even pulses, be they sharper than the grid or a few counts high', () => {
    const waves: Record<string, (t: number, phase: number) => number> = {
      sharp: (t) => 5e4 - 1000 * Math.exp(-10 * t) * (1 - Math.exp(-50 * t)),
      'a step': (t) => 5e4 - 1000 * Math.exp(-8 * t),
      smooth: (_, phase) => 5e4 - 1000 * pulse(phase),
      low: (_, phase) => 5e4 - 40 * pulse(phase),
    };
    for (const [name, wave] of Object.entries(waves))
      for (const sampleRateHz of [25, 32, 50, 100, 256, 500])
        for (const bpm of [45, 61.3, 72, 84, 97.3]) {
          const x = even(sampleRateHz, bpm, wave, 0);
          const answers = run('rr_ppg', [{ ...GREEN, sampleRateHz }], [x], 1e9, ENCODING.int32);
          expect(trusted(answers), `${name}, ${sampleRateHz} Hz, ${bpm} bpm`).to.equal(0);
        }
  });

  it('reads light that falls with the blood as light that rises with it', () => {
    const x = breathing(90, 14, { fm: 0.02, am: 0.05, bw: 0.1, wm: 0.02 }, 5);
    const turned = x.map((v) => 2e5 - v);
    run('rr_ppg', [GREEN], [turned]).forEach((answer, i) => {
      const upright = run('rr_ppg', [GREEN], [x])[i];
      expect(answer?.value).to.be.closeTo(upright?.value ?? Number.NaN, 0.1);
      expect(answer?.confidence).to.be.closeTo(upright?.confidence ?? Number.NaN, 0.05);
    });
  });

  it('reads on within a window and a half when the light is turned', () => {
    const x = breathing(180, 14, { fm: 0.03, am: 0.06, bw: 0.1 }, 5);
    const answers = run('rr_ppg', [GREEN], [x.map((v, i) => (i < 90 * HZ ? v : 2e5 - v))]);
    for (const answer of answers.slice((138 - 16) / 2)) {
      expect(answer?.value).to.be.closeTo(14, 1);
      expect(answer?.confidence).to.be.above(0.5);
    }
  });

  it('reads the breath of a slow heart whose second waves stand out', () => {
    for (const bpm of [42, 47, 52]) {
      const pulses: number[] = [];
      const breath = (t: number) => Math.sin((2 * Math.PI * 11 * t) / 60);
      for (let t = 0; t < 120; t += (60 / bpm) * (1 + 0.03 * breath(t))) pulses.push(t);
      const light = new Float64Array(120 * HZ).fill(1e5);
      for (const t of pulses)
        for (let i = Math.ceil(t * HZ); i < Math.min(light.length, (t + 2) * HZ); i++) {
          const after = i / HZ - t + 1e-9;
          const wave = Math.exp(-0.5 * (Math.log(after / 0.11) / 0.45) ** 2);
          const second = 0.35 * Math.exp(-0.5 * ((after - 0.38) / 0.08) ** 2);
          light[i] = (light[i] ?? 0) - 1000 * (1 + 0.06 * breath(t)) * (wave + second);
        }
      const answers = run('rr_ppg', [GREEN], [Array.from(light)]);
      for (const answer of answers.slice(16)) expect(answer?.value, `${bpm} bpm`).to.be.closeTo(11, 1);
      expect(trusted(answers.slice(16)), `${bpm} bpm`).to.equal(answers.length - 16);
    }
  });

  it('begins with the best channel, though another one shows the first pulses', () => {
    const late = breathing(60, 12, { fm: 0.05, am: 0.1 }).map((v, i) => (i < 6 * HZ ? 1e5 : v));
    const other = breathing(60, 20, { fm: 0.05, am: 0.1 });
    const session = core.open([GREEN, INFRARED]);
    const answers = Array.from({ length: 30 }, (_, i) => {
      for (const [c, x] of [late, other].entries())
        session?.push(c, 2 * i, 1 / HZ, ENCODING.float32, payload(x.slice(2 * i * HZ, 2 * (i + 1) * HZ)));
      return (session && core.step([{ session, estimator: 'rr_ppg', end: 2 * i + 2 }])[0]) ?? null;
    });
    session?.close();
    expect(last(answers)?.value).to.be.closeTo(12, 1);
  });

  it('goes on after the 25 days at which the times of pulses begin again', () => {
    const session = core.open([GREEN]);
    const wraps = 2 ** 31 / 1024;
    const x = breathing(120, 14, { fm: 0.03, am: 0.06, bw: 0.1 });
    const answers = Array.from({ length: 60 }, (_, i) => {
      const part = x.slice(2 * i * HZ, 2 * (i + 1) * HZ);
      session?.push(0, wraps - 60 + 2 * i, 1 / HZ, ENCODING.float32, payload(part));
      return (session && core.step([{ session, estimator: 'rr_ppg', end: wraps - 58 + 2 * i }])[0]) ?? null;
    });
    session?.close();
    for (const answer of answers.slice(16)) expect(answer?.value).to.be.closeTo(14, 1);
    expect(trusted(answers.slice(16))).to.equal(44);
  });

  it('does not mistake the steps of a converter for a pulse', () => {
    const ramps: ((t: number) => number)[] = [(t) => 5e4 + 2e4 * Math.exp(-t / 5), (t) => 5e4 + 30.1 * t];
    for (const ramp of ramps) {
      const optical = Array.from({ length: 90 * HZ }, (_, i) => Math.round(ramp(i / HZ)));
      expect(trusted(run('rr_ppg', [GREEN], [optical], 1e9, ENCODING.int32))).to.equal(0);
    }
  });

  it('does not mistake effort that settles, drifts or swings twice in a window for breathing', () => {
    const drifts: ((t: number) => number)[] = [
      (t) => 1000 * t,
      (t) => 10 * t * t,
      (t) => (t - 30) ** 3,
      (t) => Math.round(20_000 * Math.exp(-t / 5)),
      (t) => 20_000 * Math.exp(-t / 2),
      (t) => 1000 * Math.sin((2 * Math.PI * t) / 30),
      (t) => 1000 * Math.sin((2 * Math.PI * t) / 60),
    ];
    const grain = noise(60 * HZ, 13);
    for (const drift of drifts) {
      for (const loud of [0, 20]) {
        const belt = grain.map((v, i) => 50_000 + drift(i / HZ) + loud * v);
        expect(trusted(run('rr_resp', [RESP], [belt])), `${drift}, noise ${loud}`).to.equal(0);
      }
    }
  });

  it('gives none for a flat line, for missing data, and for signals without beats', () => {
    const flat = Array.from({ length: 40 * HZ }, () => 7);
    const gone = flat.map(() => Number.NaN);
    for (const x of [flat, gone]) {
      expect(run('rr_ppg', [GREEN], [x]).every((a) => a === null)).to.equal(true);
      expect(run('rr_resp', [RESP], [x]).every((a) => a === null)).to.equal(true);
    }
    expect(run('rr_ecg', [ECG], [ecg(40, 12).map(() => 0)]).every((a) => a === null)).to.equal(true);
    expect(run('rr_ppg', [RESP], [flat]).every((a) => a === null)).to.equal(true);
  });

  it('recovers after a gap of a minute', () => {
    const gap = Array.from({ length: 60 * HZ }, () => Number.NaN);
    const x = [...breathing(40, 10, { fm: 0.05, am: 0.1 }), ...gap, ...breathing(44, 20, { fm: 0.05, am: 0.1 })];
    expect(last(run('rr_ppg', [GREEN], [x]))?.value).to.be.closeTo(20, 1.5);
  });

  it('recovers from absurd values', () => {
    const good = breathing(50, 15, { fm: 0.05, am: 0.1 });
    const belt = good.map((_, i) => Math.sin((2 * Math.PI * 15 * i) / (60 * HZ)));
    const slow = belt.slice(0, 20 * HZ).map((_, i) => 3e11 * Math.sin((2 * Math.PI * 6 * i) / (60 * HZ)));
    const loud = [1e15, 1e25, 1e38].map((size) => noise(20 * HZ, 6).map((v) => size * v));
    for (const bad of [slow, ...loud]) {
      expect(last(run('rr_ppg', [GREEN], [[...good, ...bad, ...good]]))?.value).to.be.closeTo(15, 1);
      expect(last(run('rr_resp', [RESP], [[...belt, ...bad, ...belt]]))?.value).to.be.closeTo(15, 1);
    }
  });
});
