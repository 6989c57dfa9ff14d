import { expect } from 'chai';
import type { Frame } from '../device/frame.js';
import { pulseWave } from './pulse-wave.js';
import { type SimulatorOptions, simulate } from './simulator.js';

const GREEN = 0;
const RED = 1;
const IR = 2;
const ECG = 3;
const ACCEL = 4;

/** One sub-channel of a simulated channel, whole, without the mean. */
function signal(options: SimulatorOptions, channel: number, { width = 1, part = 0 } = {}): number[] {
  const values = [...simulate({ seconds: 60, ...options }).frames()]
    .filter((frame) => frame.channel === channel)
    .flatMap((frame) => [...frame.samples]);
  const one = values.filter((_, i) => i % width === part);
  const mean = one.reduce((sum, value) => sum + value, 0) / one.length;
  return one.map((value) => value - mean);
}

/** Power at `hz` (a single term of the discrete Fourier transform, Hann window). */
function power(values: readonly number[], rate: number, hz: number): number {
  let [re, im] = [0, 0];
  for (const [i, value] of values.entries()) {
    const hann = 1 - Math.cos((2 * Math.PI * i) / values.length);
    re += value * hann * Math.cos((2 * Math.PI * hz * i) / rate);
    im += value * hann * Math.sin((2 * Math.PI * hz * i) / rate);
  }
  return re * re + im * im;
}

/** The strongest frequency between two, Hz. */
function peak(values: readonly number[], rate: number, low: number, high: number): number {
  let best = low;
  for (let hz = low; hz <= high; hz += 0.005) if (power(values, rate, hz) > power(values, rate, best)) best = hz;
  return best;
}

function spread(values: readonly number[]): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
}

describe('simulator', () => {
  it('gives the same frames for the same seed, and others for another seed', () => {
    const frames = (seed: number) => [
      ...simulate({ seed, seconds: 2, faults: { dropped: 0.2, jitterMs: 2 } }).frames(),
    ];
    expect(frames(7)).to.deep.equal(frames(7));
    expect(frames(7)).not.to.deep.equal(frames(8));
  });

  it('beats at the given rate, with variability', () => {
    const beats = simulate({ hr: 80 }).beats(0, 300);
    expect(beats.length).to.be.within(398, 402);
    const intervals = beats.slice(1).map((t, i) => t - (beats[i] ?? 0));
    const mean = intervals.reduce((sum, interval) => sum + interval, 0) / intervals.length;
    expect(60 / mean).to.be.closeTo(80, 0.2);
    expect(spread(intervals.map((interval) => interval - mean))).to.be.within(0.015, 0.05);
  });

  it('follows a course of the heart rate', () => {
    const simulator = simulate({
      hr: [
        [0, 60],
        [60, 60],
        [120, 120],
      ],
    });
    expect(simulator.beats(0, 60).length).to.be.within(59, 61);
    expect(simulator.beats(60, 120).length).to.be.within(89, 91);
    expect(simulator.beats(120, 180).length).to.be.within(119, 121);
    expect(simulator.truth(90)).to.deep.equal({ hr: 90, rr: 15, spo2: 97 });
  });

  it('shows the heart rate in every optical channel and in the ECG', () => {
    for (const channel of [GREEN, RED, IR])
      expect(60 * peak(signal({ hr: 84 }, channel), 100, 0.7, 3)).to.be.closeTo(84, 1);
    expect(60 * peak(signal({ hr: 84 }, ECG), 250, 0.8, 1.8)).to.be.closeTo(84, 1);
  });

  it('shows the respiration in the baseline, in the height of the pulse and in the rhythm', () => {
    const options = { hr: 72, rr: 18, seconds: 120 };
    expect(60 * peak(signal(options, IR), 100, 0.1, 0.6)).to.be.closeTo(18, 0.5);
    const light = signal(options, IR);
    const beats = simulate(options).beats(1, 119);
    const heights = beats.slice(1).map((t, i) => {
      const beat = light.slice(Math.round(100 * (beats[i] ?? 0)), Math.round(100 * t));
      return Math.max(...beat) - Math.min(...beat);
    });
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    expect(
      60 *
        peak(
          heights.map((height) => height - mean),
          1.2,
          0.1,
          0.5,
        ),
    ).to.be.closeTo(18, 1);
    const intervals = beats.slice(1).map((t, i) => t - (beats[i] ?? 0) - 60 / 72);
    expect(60 * peak(intervals, 1.2, 0.15, 0.5)).to.be.closeTo(18, 1);
  });

  it('absorbs red and infrared by SpO2 = 110 - 25 R', () => {
    for (const spo2 of [70, 85, 97, 100]) {
      const depth = (channel: number) => {
        const counts = [...simulate({ spo2, seconds: 60 }).frames()]
          .filter((frame) => frame.channel === channel)
          .flatMap((frame) => [...frame.samples]);
        const logs = counts.map(Math.log);
        const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
        return Math.sqrt(
          [1, 2].reduce(
            (sum, harmonic) =>
              sum +
              power(
                logs.map((value) => value - mean),
                100,
                harmonic * 1.2,
              ),
            0,
          ),
        );
      };
      expect(110 - (25 * depth(RED)) / depth(IR)).to.be.closeTo(spo2, 0.5);
    }
  });

  it('has R peaks at the reported times, with P waves before and T waves after them', () => {
    const ecg = signal({ seconds: 30 }, ECG);
    const highest = (from: number, to: number) => {
      const part = ecg.slice(Math.round(250 * from), Math.round(250 * to));
      return { mV: (Math.max(...part) - Math.min(...part)) / 1000, at: from + part.indexOf(Math.max(...part)) / 250 };
    };
    for (const t of simulate({}).beats(1, 29)) {
      expect(highest(t - 0.3, t + 0.3).at).to.be.closeTo(t, 0.009);
      expect(highest(t - 0.25, t - 0.08).mV).to.be.within(0.1, 0.2);
      expect(highest(t + 0.12, t + 0.4).mV).to.be.within(0.2, 0.4);
    }
  });

  it('has a dicrotic notch between the systolic and the diastolic peak, and no step at the foot', () => {
    const wave = Array.from({ length: 1000 }, (_, i) => pulseWave(i / 1000, 75));
    const turns = wave.flatMap((value, i) => {
      const [before, after] = [wave.at(i - 1) ?? 0, wave[(i + 1) % 1000] ?? 0];
      return value > before && value > after ? [`peak ${i}`] : value < before && value < after ? ['valley'] : [];
    });
    expect(turns.map((turn) => turn.replace(/ .*/, ''))).to.have.members(['peak', 'valley', 'peak', 'valley']);
    expect(Math.abs((wave[999] ?? 0) - (wave[0] ?? 0))).to.be.below(0.01);
  });

  it('measures gravity at rest', () => {
    const frames = [...simulate({ seconds: 2 }).frames()].filter((frame) => frame.channel === ACCEL);
    for (const { samples } of frames)
      for (let i = 0; i < samples.length; i += 3)
        expect(Math.hypot(...samples.subarray(i, i + 3)) / 4096).to.be.closeTo(1, 0.03);
  });

  it('refuses options and faults that do not exist', () => {
    expect(() => simulate({ sp02: 90 } as object)).to.throw(
      TypeError,
      'simulate has no option "sp02"; its options are hr',
    );
    expect(() => simulate({ faults: { drop: 0.1 } as object })).to.throw(TypeError, 'faults has no option "drop"');
  });

  it('refuses impossible vital signs', () => {
    expect(() => simulate({ hr: 300 })).to.throw(RangeError, 'hr must stay within 25 to 240');
    expect(() => simulate({ rr: 0 })).to.throw(RangeError, 'rr');
    expect(() =>
      simulate({
        spo2: [
          [0, 99],
          [9, 101],
        ],
      }),
    ).to.throw(RangeError, 'spo2');
  });
});

describe('simulated faults of the sensors', () => {
  const during = (kind: 'motion' | 'noise' | 'saturation' | 'off', strength?: number) => ({
    faults: { episodes: [{ kind, from: 0, until: 60, ...(strength === undefined ? {} : { strength }) }] },
  });

  it('motion swings the accelerometer at the cadence and changes the optical channels', () => {
    const options = { ...during('motion'), cadenceHz: 2.5 };
    expect(peak(signal(options, ACCEL, { width: 3 }), 100, 1, 5)).to.be.closeTo(2.5, 0.01);
    expect(power(signal(options, GREEN), 100, 2.5)).to.be.greaterThan(5 * power(signal(options, GREEN), 100, 1.2));
  });

  it('noise covers the pulse', () => {
    expect(spread(signal(during('noise', 5), GREEN))).to.be.greaterThan(4 * spread(signal({}, GREEN)));
  });

  it('saturation clips at the limit', () => {
    for (const [channel, rail] of [
      [GREEN, 2 ** 18 - 1],
      [ECG, 2 ** 15 - 1],
    ] as const) {
      const frames = [...simulate({ seconds: 5, ...during('saturation') }).frames()].filter(
        (frame) => frame.channel === channel,
      );
      const values = frames.flatMap((frame) => [...frame.samples]);
      expect(Math.max(...values)).to.equal(rail);
      expect(values.filter((value) => value === rail).length / values.length).to.be.greaterThan(0.1);
    }
  });

  it('a sensor that is off shows no pulse', () => {
    expect(spread(signal(during('off'), IR))).to.be.below(spread(signal({}, IR)) / 10);
    expect(spread(signal(during('off'), ECG))).to.be.below(20);
  });
});

describe('simulated faults of the connection', () => {
  const sent = (faults: SimulatorOptions['faults']) =>
    [...simulate({ seconds: 100, ...(faults ? { faults } : {}) }).frames()].filter((frame) => frame.channel === GREEN);
  const seqs = (frames: readonly Frame[]) => frames.map((frame) => frame.seq / 20);
  const clean = Array.from({ length: 500 }, (_, i) => i);

  it('are none by default: every number once, in order, with its stamp', () => {
    expect(seqs(sent(undefined))).to.deep.equal(clean);
    for (const frame of sent(undefined)) expect(frame.ts).to.equal(frame.seq * 10);
  });

  it('drop and repeat the given share of frames', () => {
    expect(new Set(seqs(sent({ dropped: 0.2 }))).size).to.be.within(360, 440);
    const repeated = sent({ repeated: 0.2 });
    expect(repeated.length).to.be.within(560, 640);
    expect([...new Set(seqs(repeated))]).to.deep.equal(clean);
  });

  it('send some frames after the next one, each once', () => {
    const order = seqs(sent({ reordered: 0.1 }));
    expect([...order].sort((a, b) => a - b)).to.deep.equal(clean);
    const swaps = order.filter((seq, i) => seq < (order[i - 1] ?? -1)).length;
    expect(swaps).to.be.within(20, 80);
  });

  it('send some frames late, the rest in order of their moment', () => {
    const frames = sent({ late: 0.1, lateMs: 3000 });
    expect(frames.filter((frame) => frame.at - frame.ts === 3200).length).to.be.within(20, 80);
    for (const [i, frame] of frames.entries()) expect(frame.at).to.be.at.least(frames[i - 1]?.at ?? 0);
  });

  it('leave a gap out, its numbers skipped', () => {
    const left = seqs(sent({ episodes: [{ kind: 'gap', from: 10, until: 12 }] }));
    expect(left).to.deep.equal(clean.filter((seq) => seq < 50 || seq >= 60));
  });

  it('let the clock drift and the stamps jitter', () => {
    expect(sent({ driftPpm: 200 }).at(-1)?.ts).to.be.closeTo(99_800 * 1.0002, 1e-6);
    const errors = sent({ jitterMs: 4 }).map((frame) => frame.ts - frame.seq * 10);
    expect(spread(errors)).to.be.within(3.4, 4.6);
  });
});
