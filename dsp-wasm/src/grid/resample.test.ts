import { expect } from 'chai';
import { gridSamples } from '../../reference/grid/resample.js';
import { type CoreChannel, ENCODING } from '../core.js';
import { Kernel } from '../kernel.js';
import { CoreSession } from '../session.js';
import { type KernelCalls, noise, payload, random } from '../signals.js';

const PPG: CoreChannel = { modality: 'ppg_green', sampleRateHz: 100, numChannels: 1 };

describe('grid', () => {
  let kernel: Kernel;
  let session: CoreSession;

  before(async () => {
    kernel = await Kernel.load(1);
  });

  const open = (...channels: CoreChannel[]) => new CoreSession(kernel, 0, channels, () => {});

  beforeEach(() => {
    session = open(PPG);
  });

  /** Grid samples [from, from + count), complete by `end`, without the offset. */
  function samples(count: number, { from = 0, channel = 0, sub = 0, end = 1000 } = {}): number[] {
    (kernel.call as unknown as KernelCalls).grid(0, channel, sub, from, count, end);
    const at = kernel.constant('SCRATCH');
    return Array.from({ length: count }, (_, i) => kernel.view.getFloat32(at + 4 * i, true));
  }

  function pushEach(t: readonly number[], x: readonly number[]): void {
    t.forEach((time, i) => {
      session.push(0, time, 1 / 64, ENCODING.float32, payload([x[i] ?? 0]));
    });
  }

  /** The twin's grid samples; the core rounds stamps to 2^-20 s, so that a chunk's stamps do not depend on where it starts. */
  function twinSamples(t: readonly number[], x: readonly number[], count: number): number[] {
    const rounded = t.map((v) => Math.floor(v * 2 ** 20 + 0.5) / 2 ** 20);
    const offset = Math.fround(x[0] ?? 0);
    return gridSamples(
      rounded,
      x.map((v) => Math.fround(v) - offset),
      32,
      count,
    );
  }

  /** Compares with the twin; f32 keeps 24 bits of values of about `size`, through some ten additions. */
  function expectTwin(got: readonly number[], want: readonly number[], size: number): void {
    expect(got.length).to.equal(want.length);
    got.forEach((x, i) => {
      const twin = want[i] ?? Number.NaN;
      if (Number.isNaN(twin)) expect(x, `grid sample ${i}`).to.be.NaN;
      else expect(x, `grid sample ${i}`).to.be.closeTo(twin, 10 * 2 ** -23 * size);
    });
  }

  for (const hz of [25, 30, 64, 100, 125, 360, 1000]) {
    it(`resamples ${hz} Hz as the twin does`, () => {
      const x = noise(Math.floor(6 * hz), hz);
      session.push(0, 0, 1 / hz, ENCODING.float32, payload(x));
      const t = x.map((_, i) => i * (1 / hz));
      expectTwin(samples(180), twinSamples(t, x, 180), 2);
    });
  }

  it('resamples jittered stamps as the twin does', () => {
    const next = random(7);
    const t = Array.from({ length: 200 }, (_, i) => 0.01 + i / 28 + 0.008 * next());
    const x = noise(200, 8);
    pushEach(t, x);
    expectTwin(samples(220), twinSamples(t, x, 220), 2);
  });

  it('keeps a straight line straight', () => {
    const x = Array.from({ length: 300 }, (_, i) => i / 50);
    session.push(0, 0, 1 / 50, ENCODING.float32, payload(x));
    samples(150, { from: 2 }).forEach((v, i) => {
      expect(v).to.be.closeTo((i + 2) / 32, 1e-5);
    });
  });

  it('keeps a pulse of 0.01 % on a large level exact to a thousandth', () => {
    const x = Array.from({ length: 800 }, (_, i) => 16_000_000 + 1600 * Math.sin((2 * Math.PI * i) / 100));
    session.push(0, 0, 0.01, ENCODING.int32, new Uint8Array(Int32Array.from(x).buffer));
    const got = samples(128, { from: 64 });
    // sinc^2(1 / 32) of the triangle at 1 Hz
    expect((Math.max(...got) - Math.min(...got)) / 3200).to.be.closeTo(0.9968, 0.001);
  });

  it('gives the same bits for any chunking of the payload', () => {
    const x = noise(1200, 3);
    session.push(0, 0.013, 0.01, ENCODING.float32, payload(x));
    const whole = samples(380);
    for (const part of [1, 7, 250]) {
      session = open(PPG);
      for (let i = 0; i < x.length; i += part) {
        session.push(0, 0.013 + i * 0.01, 0.01, ENCODING.float32, payload(x.slice(i, i + part)));
      }
      expect(samples(380)).to.deep.equal(whole);
    }
  });

  it('decodes all encodings to the same grid samples', () => {
    const x = noise(400, 5).map((v) => Math.round(v * 30000));
    const bytes24 = new Uint8Array(x.flatMap((v) => [v & 255, (v >> 8) & 255, (v >> 16) & 255]));
    const got = [
      [ENCODING.int16, new Uint8Array(Int16Array.from(x).buffer)] as const,
      [ENCODING.int24, bytes24] as const,
      [ENCODING.int32, new Uint8Array(Int32Array.from(x).buffer)] as const,
      [ENCODING.float32, payload(x)] as const,
    ].map(([encoding, bytes]) => {
      session = open(PPG);
      session.push(0, 0, 0.01, encoding, bytes);
      return samples(120);
    });
    for (const other of got.slice(1)) expect(other).to.deep.equal(got[0]);
  });

  it('bridges a gap of a quarter of a second and leaves a longer one empty', () => {
    const line = (from: number, to: number) =>
      Array.from({ length: Math.round((to - from) * 100) }, (_, i) => from + i / 100);
    for (const [gap, empty] of [
      [0.24, 0],
      [0.6, 1],
    ] as const) {
      session = open(PPG);
      session.push(0, 0, 0.01, ENCODING.float32, payload(line(0, 2)));
      session.push(0, 2 + gap, 0.01, ENCODING.float32, payload(line(2 + gap, 4)));
      const got = samples(120);
      expect(got.slice(1).some((v) => Number.isNaN(v))).to.equal(empty === 1);
      got.forEach((v, i) => {
        if (!Number.isNaN(v)) expect(v).to.be.closeTo(i / 32, 1e-5);
      });
    }
  });

  it('counts missing instants and bridges them', () => {
    const x = Array.from({ length: 400 }, (_, i) => (i % 50 === 20 ? Number.NaN : i));
    expect(session.push(0, 0, 0.01, ENCODING.float32, payload(x))).to.equal(8);
    expect(samples(120, { from: 1 }).some((v) => Number.isNaN(v))).to.equal(false);
  });

  it('holds the last value of one sub-channel that is missing alone', () => {
    session = open({ ...PPG, numChannels: 2 });
    const x = Array.from({ length: 200 }, (_, i) => (i % 2 === 1 && i > 100 ? Number.NaN : 5));
    expect(session.push(0, 0, 0.01, ENCODING.float32, payload(x))).to.equal(0);
    expect(samples(20, { from: 5, sub: 1 })).to.deep.equal(Array.from({ length: 20 }, () => 0));
  });

  it('shows a step only grid samples that samples before its end completed', () => {
    const x = noise(1000, 9);
    session.push(0, 0, 0.01, ENCODING.float32, payload(x.slice(0, 400)));
    const until = samples(160, { end: 4 });
    session.push(0, 4, 0.01, ENCODING.float32, payload(x.slice(400)));
    expect(samples(160, { end: 4 })).to.deep.equal(until);
    expect(until.findIndex((v, i) => i > 0 && Number.isNaN(v))).to.equal(127);
  });

  it('handles stamps that repeat, run backwards or jump far', () => {
    pushEach([0, 0.1, 0.1, 0.05, 0.2, 1e300, -5, 0.3, 50, 50.1, 50.2], noise(11, 1));
    samples(1500).forEach((v) => {
      expect(Math.abs(v) <= 4 || Number.isNaN(v)).to.equal(true);
    });
  });
});
