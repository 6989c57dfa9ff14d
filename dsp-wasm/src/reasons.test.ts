import { expect } from 'chai';
import { type Answer, type Core, type CoreChannel, createCore, ENCODING, type Estimator } from './core.js';
import { CORE_REASONS } from './reasons.js';
import { payload, pulse, random } from './signals.js';

const HZ = 100;
const END = 30;
const RED: CoreChannel = { modality: 'ppg_red', sampleRateHz: HZ, numChannels: 1, bitDepth: 18 };
const INFRARED: CoreChannel = { ...RED, modality: 'ppg_ir' };
const GREEN: CoreChannel = { ...RED, modality: 'ppg_green' };
const ECG: CoreChannel = { modality: 'ecg', sampleRateHz: 250, numChannels: 1, bitDepth: 16 };
const ACCEL: CoreChannel = { modality: 'accel', sampleRateHz: HZ, numChannels: 3, bitDepth: 16 };

type Signal = (t: number, noise: () => number) => number | readonly number[];

const beats = (t: number) => 1.2 * t + 0.02 * Math.sin(1.45 * t);
const red: Signal = (t, noise) => Math.round(180_000 - 1100 * pulse(beats(t)) + 20 * noise());
const infrared: Signal = (t, noise) => Math.round(200_000 - 2600 * pulse(beats(t)) + 20 * noise());
const ecg: Signal = (t, noise) => Math.round(800 * Math.exp(-(((beats(t) % 1) - 0.5) ** 2) / 3e-4) + 8 * noise());
const of =
  (signal: Signal, change: (x: number) => number): Signal =>
  (t, noise) =>
    change(Number(signal(t, noise)));

/** The bytes of an integer of so many bytes in the wrong order. */
function swapped(bytes: 2 | 3 | 4): (x: number) => number {
  return (x) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(x, 0, bytes);
    return buffer.readIntLE(0, bytes);
  };
}

function swappedFloat(x: number): number {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatBE(x);
  const read = buffer.readFloatLE();
  return Number.isFinite(read) ? read : Number.NaN;
}

const lowest16 = (x: number) => x & 0xffff;
const signed18 = (x: number) => (x << 14) >> 14;
const clipped = (x: number) => Math.min(262_143, x);

describe('the reasons of the core', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  /** The answer of the last step, after a step every second. */
  function answer(estimator: Estimator, signals: readonly (readonly [CoreChannel, Signal])[], seconds = END): Answer {
    const session = core.open(signals.map(([channel]) => channel));
    const noises = signals.map((_, c) => random(c + 1));
    let last: Answer | undefined;
    for (let second = 0; second < seconds && session; second++) {
      for (const [c, [{ sampleRateHz: hz }, signal]] of signals.entries()) {
        const values = Array.from({ length: hz }, (_, i) => signal(second + i / hz, noises[c] ?? (() => 0))).flat();
        session.push(c, second, 1 / hz, ENCODING.float32, payload(values));
      }
      if (second < 4) continue;
      core.answer([{ session, estimator: 'hr_ppg', end: second + 1 }]); // as in a session, whose other estimates look at it
      [last] = core.answer([{ session, estimator, end: second + 1 }]);
    }
    session?.close();
    if (!last) throw new Error('no answer');
    return last;
  }

  const lights = (a: Signal, b: Signal) => [[RED, a] as const, [INFRARED, b] as const];
  const reason = (...parts: Parameters<typeof answer>) => answer(...parts).reason;

  it('are none for a trusted estimate', () => {
    expect(answer('spo2', lights(red, infrared))).to.deep.include({ reason: null, seen: 0 });
    expect(reason('hr_ecg', [[ECG, ecg]])).to.equal(null);
  });

  it('say that light of free air, or of a lamp that is off, has no contact', () => {
    const air: Signal = (_, noise) => Math.round(900 + 12 * noise());
    for (const estimator of ['hr_ppg', 'spo2', 'rr_ppg'] as const)
      expect(answer(estimator, lights(air, air)), estimator).to.deep.include({ reason: 'no_contact' });
    expect(answer('hr_ppg', [[GREEN, () => 0]]).seen).to.equal(0);
    expect(reason('hr_ppg', [[GREEN, () => 0]])).to.equal('no_contact');
  });

  it('say that a finger was taken off, by the level that it had', () => {
    const off =
      (signal: Signal): Signal =>
      (t, noise) =>
        t < 20 ? signal(t, noise) : Math.round(9000 + 20 * noise());
    expect(reason('hr_ppg', lights(off(red), off(infrared)), 20)).to.equal(null);
    expect(reason('hr_ppg', lights(off(red), off(infrared)), 45)).to.equal('no_contact');
  });

  it('say that a lead is off, which is flat or at a rail', () => {
    expect(reason('hr_ecg', [[ECG, () => 12]])).to.equal('no_contact');
    expect(reason('hr_ecg', [[ECG, (_, noise) => Math.round(12 + noise())]])).to.equal('no_contact');
    expect(reason('rr_ecg', [[ECG, () => 32_767]])).to.equal('no_contact');
  });

  it('say for a ratio that one lamp is off, while the other shows a pulse', () => {
    const flat =
      (level: number): Signal =>
      () =>
        level;
    for (const level of [0, 3, 180_000])
      expect(reason('spo2', lights(flat(level), infrared)), `${level}`).to.equal('no_contact');
    const dark: Signal = (_, noise) => Math.round(300 + 5 * noise());
    expect(reason('spo2', lights(dark, infrared))).to.equal('no_contact');
    expect(reason('spo2', lights(red, dark))).to.equal('no_contact');
    const short: Signal = of(infrared, (x) => x - 197_000); // of a word that lacks upper bits: its pulse is there
    expect(reason('spo2', lights(of(red, lowest16), short))).not.to.equal('no_contact');
    for (const level of [0, 9000]) {
      const dying: Signal = (t, noise) => (t < 20 ? red(t, noise) : Math.round(level + (level && 5 * noise())));
      expect(reason('spo2', lights(dying, infrared), 60), `${level}`).to.equal('no_contact');
    }
    expect(reason('hr_ppg', lights(flat(3), infrared))).to.equal(null);
  });

  it('do not call a pulse of a few counts saturated, which rests at its extremes', () => {
    const coarse = lights(
      of(red, (x) => x >> 8),
      of(infrared, (x) => x >> 8),
    );
    expect(answer('spo2', coarse).estimate?.confidence ?? 0).to.be.below(0.5);
    expect(reason('spo2', coarse)).to.equal(null); // as the lights agree
  });

  it('say that light at the end of its range is saturated, as is light that rests at another limit', () => {
    const full = lights(
      of(red, (x) => clipped(x + 82_800)),
      of(infrared, (x) => clipped(x + 64_000)),
    );
    expect(answer('spo2', full)).to.deep.include({ reason: 'saturated' });
    expect(answer('spo2', full).seen).to.be.within(0.3, 1);
    expect(reason('hr_ppg', [[GREEN, () => 262_143]])).to.equal('saturated');
    expect(reason('hr_ppg', [[GREEN, of(red, (x) => Math.min(179_400, x))]])).to.equal('saturated');
  });

  it('do not call an ECG saturated whose values are unsigned, and pass the largest signed one', () => {
    const idle: Signal = (_, noise) => Math.round(2047 + 40 * Math.trunc(2 * noise()));
    expect(reason('hr_ecg', [[{ ...ECG, bitDepth: 12 }, idle]])).to.equal('noise');
    const low: Signal = (_, noise) => Math.min(2047, Math.round(2040 + 8 * noise()));
    expect(reason('hr_ecg', [[{ ...ECG, bitDepth: 12 }, low]])).to.equal('saturated');
  });

  it('say that the scale is bad where the width, the byte order or the sign is wrong', () => {
    const wrong: Record<string, (x: number) => number> = {
      'three bytes swapped': swapped(3),
      'four bytes swapped': swapped(4),
      'a float swapped': swappedFloat,
      'unsigned as signed': signed18,
    };
    for (const [name, change] of Object.entries(wrong))
      expect(reason('spo2', lights(of(red, change), of(infrared, change))), name).to.equal('bad_scale');
    const cut = [of(red, lowest16), of(infrared, lowest16)] as const;
    expect(reason('spo2', lights(...cut)), '16 of 18 bits').to.equal('bad_scale');
    expect(reason('hr_ecg', [[ECG, of(ecg, swapped(2))]]), 'an ECG of 16 bits').to.equal('bad_scale');
    const narrow = { ...ECG, bitDepth: 12 };
    expect(reason('hr_ecg', [[narrow, of(ecg, swapped(2))]]), 'an ECG of 12 bits').to.equal('bad_scale');
    for (const bits of [12, 13, 14]) {
      const unsigned = of(ecg, (x) => (x + 2 ** bits) % 2 ** bits);
      expect(reason('hr_ecg', [[ECG, unsigned]]), `${bits} bits without their sign`).to.equal('bad_scale');
    }
  });

  it('do not trust an ECG whose values wrap, and say that the scale is bad, at any width, rate and wander', () => {
    const wrapped = (bits: number) => (x: number) => (x << (32 - bits)) >> (32 - bits);
    const unsigned = (bits: number) => (x: number) => x & (2 ** bits - 1);
    const large =
      (height: number, wander: number, level = 0): Signal =>
      (t, noise) =>
        Math.round((height / 800) * Number(ecg(t, noise)) + wander * Math.sin(1.4 * t) + level);
    const cases: readonly (readonly [string, number, number, Signal])[] = [
      ['24 bits, cut to 16', 250, 16, of(large(60_000, 0), wrapped(16))],
      ['24 bits, cut to 16, declared as 24', 500, 24, of(large(150_000, 75_000), wrapped(16))],
      ['24 bits, cut to unsigned 16', 250, 24, of(large(45_000, 22_000, 32_000), unsigned(16))],
      ['14 bits with strong wander, unsigned', 250, 14, of(large(900, 3600), unsigned(14))],
      ['16 bits, unsigned, below zero now and then', 500, 16, of(large(1200, 120, 100), unsigned(16))],
      ['the lowest 8 of 14 bits', 250, 14, of(large(1500, 300), wrapped(8))],
      ['the lowest 8 of 14 bits, unsigned', 500, 14, of(large(800, 240), unsigned(8))],
      ['14 bits, swapped, unsigned', 250, 14, of(large(60, 12), (x) => unsigned(16)(swapped(2)(x)))],
    ];
    for (const [name, sampleRateHz, bitDepth, signal] of cases) {
      const { estimate, reason, seen } = answer('hr_ecg', [[{ ...ECG, sampleRateHz, bitDepth }, signal]]);
      expect(estimate?.confidence ?? 0, name).to.be.below(0.5);
      expect(reason, name).to.equal('bad_scale');
      expect(Math.abs(seen), name).to.be.above(90);
    }
    const whole = [{ ...ECG, bitDepth: 24 }, large(150_000, 75_000)] as const;
    expect(answer('hr_ecg', [whole])).to.deep.include({ reason: null });
  });

  it('trust an ECG whose QRS complexes are one or two samples wide', () => {
    for (const size of [120, 500, 1000, 2000, 4000, 8100, 16_300]) {
      const sharp: Signal = (t) => Math.round(size * Math.exp(-((((1.2 * t) % 1) - 0.5) ** 2) / 2e-4));
      expect(reason('hr_ecg', [[{ ...ECG, sampleRateHz: 100 }, sharp]]), `${size}`).to.equal(null);
    }
  });

  it('trust an ECG with the spikes of a pacemaker that are one sample wide', () => {
    for (const [size, level, bitDepth] of [
      [200, 0, 24],
      [230, 0, 16],
      [500, 0, 24],
      [4000, 0, 24],
      [60_000, 0, 24],
      [200, 25, 8],
      [700, 250, 10],
      [2600, 1000, 12],
    ] as const)
      for (const sampleRateHz of [125, 250]) {
        const isPaced = (t: number) => beats(t) % 1 >= 0.4 && beats(t - 1 / sampleRateHz) % 1 < 0.4;
        const spiked: Signal = (t, noise) =>
          Math.round(level + (size / 2000) * Number(ecg(t, noise)) + (isPaced(t) ? size : 0));
        expect(reason('hr_ecg', [[{ ...ECG, sampleRateHz, bitDepth }, spiked]]), `${size}, ${level}`).to.equal(null);
      }
  });

  it('do not call a quiet ECG saturated, whose level is near its lowest value', () => {
    const sharp: Signal = (t, noise) =>
      Math.round(100 * Math.exp(-((((0.9 * t) % 1) - 0.5) ** 2) / 2e-5) + 0.6 * noise());
    expect(reason('hr_ecg', [[{ ...ECG, sampleRateHz: 100 }, sharp]])).to.equal('noise');
  });

  it('do not trust an estimate from scrambled values, which may be right by chance', () => {
    const scrambled = lights(of(red, swapped(3)), of(infrared, swapped(3)));
    for (let seconds = 6; seconds < 30; seconds += 4) {
      expect(answer('hr_ppg', scrambled, seconds).estimate?.confidence ?? 0).to.be.below(0.5);
    }
  });

  it('do not trust a ratio of the bits of a float32 that are read as an integer, and say that the scale is bad', () => {
    const bits = (x: number) => new DataView(Float32Array.of(x).buffer).getInt32(0, true);
    for (const [a, b, bitDepth] of [
      [100_000, 140_000, 18],
      [131_900, 131_000, 18],
      [100, 3, 18],
      [0.8, 0.9, 24],
      [0.02, 0.03, 16],
      [1.2, 1.9, 32],
      [131_900, 131_000, 32],
    ] as const) {
      const light =
        (level: number, depth: number): Signal =>
        (t, noise) =>
          bits(level * (1 - depth * pulse(beats(t)) + 1e-4 * noise()));
      const { estimate, reason } = answer('spo2', [
        [{ ...RED, bitDepth }, light(a, 0.009)],
        [{ ...INFRARED, bitDepth }, light(b, 0.012)],
      ]);
      expect(estimate?.confidence ?? 0, `${a}, ${b}`).to.be.below(0.5);
      expect(reason, `${a}, ${b}`).to.equal('bad_scale');
    }
    const shifted = (signal: Signal) => of(signal, (x) => x * 2 ** 13); // as great, and true
    const wide = [
      [{ ...RED, bitDepth: 32 }, shifted(red)],
      [{ ...INFRARED, bitDepth: 32 }, shifted(infrared)],
    ] as const;
    expect(answer('spo2', wide)).to.deep.include({ reason: null });
  });

  it('leave values in a unit, and larger ones than declared, alone', () => {
    const volts = lights(
      of(red, (x) => x / 1e5),
      of(infrared, (x) => x / 1e5),
    );
    expect(reason('spo2', volts)).to.equal(null);
    const wide = { ...GREEN, bitDepth: 12 };
    expect(reason('hr_ppg', [[wide, red]])).to.equal(null);
  });

  it('say that the constant part of the light is missing or negative', () => {
    for (const [ofRed, ofInfrared] of [
      [(x: number) => x - 179_500, (x: number) => x - 198_700],
      [(x: number) => x - 178_000, (x: number) => x - 196_500],
      [(x: number) => -x / 1000, (x: number) => -x / 1000],
    ] as const)
      expect(reason('spo2', lights(of(red, ofRed), of(infrared, ofInfrared))), `${ofRed}`).to.equal('no_dc');
  });

  it('leave a ratio to the curve of the device where the lights agree', () => {
    expect(reason('spo2', lights(infrared, red))).to.equal(null);
  });

  it('call a sinusoid hum at any rate that the sampling makes of it, also beside a drift', () => {
    for (const hz of [100, 128, 250, 360])
      for (const off of [0.002, 0.015]) {
        const mains: Signal = (t) => Math.round(400 * Math.sin(2 * Math.PI * 50 * (1 + off) * t));
        const { reason, estimate } = answer('hr_ecg', [[{ ...ECG, sampleRateHz: hz }, mains]]);
        if (!((estimate?.confidence ?? 0) >= 0.5)) expect(reason, `${hz} Hz, ${off}`).to.equal('hum');
      }
    const adrift: Signal = (t) => Math.round(300 * Math.sin(2 * Math.PI * 50.3 * t) + 500 * Math.sin(0.6 * t));
    expect(reason('hr_ecg', [[ECG, adrift]])).to.equal('hum');
    const lamp: Signal = (t, noise) => Math.round(50_000 + 2000 * Math.sin(20 * Math.PI * t) + 10 * noise());
    expect(reason('hr_ppg', [[GREEN, lamp]])).to.equal('hum');
  });

  it('say that the wearer moves, and call the rest noise', () => {
    const swing = (t: number) => Math.sin(10 * t) + 0.5 * Math.sin(20 * t + 1);
    const moved: Signal = (t, noise) => Math.round(80_000 + 6000 * swing(t) + 800 * noise());
    const axes: Signal = (t, noise) => [3000 * swing(t), 1500 * swing(t) + 100 * noise(), 4096].map(Math.round);
    const worn = [[GREEN, moved] as const, [ACCEL, axes] as const];
    expect(answer('rr_ppg', worn)).to.deep.include({ reason: 'motion' });
    expect(answer('hr_ppg', worn).seen).to.be.within(0.2, 1);
    const noisy: Signal = (_, noise) => Math.round(100_000 + 500 * noise());
    expect(reason('hr_ppg', [[GREEN, noisy]])).to.equal('noise');
  });

  it('report of several lights the one that comes closest to a pulse, and of the two of a ratio the one that lacks', () => {
    const noisy: Signal = (_, noise) => Math.round(100_000 + 500 * noise());
    const dark: Signal = () => 0;
    const full: Signal = () => 262_143;
    expect(reason('hr_ppg', lights(dark, noisy))).to.equal('noise');
    expect(reason('spo2', lights(red, full))).to.equal('saturated');
  });

  it('have no number beyond their list, and none for a session that is closed', () => {
    expect(CORE_REASONS).to.have.length(7);
    const closed = core.open([GREEN]);
    closed?.close();
    if (closed)
      expect(core.answer([{ session: closed, estimator: 'hr_ppg', end: 8 }])).to.deep.equal([
        { estimate: null, reason: null, seen: 0 },
      ]);
  });
});
