import { createCore, ENCODING, WINDOW_LAG_S } from '@device-insights/dsp-wasm';
import { expect } from 'chai';
import type { BeatBlock } from '../beat.js';
import type { Reading } from '../insight.js';
import type { LastInsights, ModalityChannel } from '../store/store.js';
import { type Analysis, openAnalysis } from './analysis.js';
import { CoreLoad } from './core-load.js';

const T0 = 1_763_600_000_000;
const RATE = 50;
const BEAT_HZ = 1.2;

function channel(modality: string, numChannels = 1): ModalityChannel {
  return { ch_id: modality, modality, sample_rate_hz: RATE, bit_depth: 24, num_channels: numChannels };
}

interface Options {
  readonly channels?: readonly ModalityChannel[];
  readonly algorithms?: readonly string[] | null;
  readonly last?: LastInsights;
  readonly firstInstant?: number;
}

async function open({ channels = [channel('ppg_green')], algorithms = null, last = {}, firstInstant }: Options = {}) {
  const core = await createCore({ maxSessions: 2 });
  const readings: Reading[] = [];
  const blocks: BeatBlock[] = [];
  const progress = { firstInstant: firstInstant ?? null };
  const analysis = openAnalysis(new CoreLoad(core), { ...NEW_SESSION, channels, algorithms, progress, last });
  if (!analysis) throw new Error('the core is full');
  const [push, end] = [analysis.push.bind(analysis), analysis.end.bind(analysis)];
  const keep = <Found extends ReturnType<Analysis['end']>>(found: Found) => {
    readings.push(...found.readings);
    blocks.push(...found.beats);
    return found;
  };
  analysis.push = (run) => keep(push(run));
  analysis.end = () => keep(end());
  return { analysis, readings, blocks, core };
}

/** A pulse with its second harmonic on a large baseline; `t` in seconds. */
const pulse = (t: number) =>
  100_000 + 1000 * Math.cos(2 * Math.PI * BEAT_HZ * t) + 300 * Math.cos(4 * Math.PI * BEAT_HZ * t + 1);

/** Pushes a stretch of pulse, in frames of so many instants. */
function stream(
  analysis: Analysis,
  from: number,
  to: number,
  { index = 0, frame = 10, lost = 0, wave = pulse, trusted = true } = {},
): void {
  const last = Math.round(to * RATE);
  for (let i = Math.round(from * RATE); i < last; i += frame) {
    const samples = Int32Array.from({ length: Math.min(frame, last - i) }, (_, k) => wave((i + k) / RATE));
    analysis.push({
      channel: index,
      t: T0 + (i * 1000) / RATE,
      period: 1000 / RATE,
      trusted,
      lost: i === Math.round(from * RATE) ? lost : 0,
      encoding: ENCODING.int32,
      payload: new Uint8Array(samples.buffer),
    });
  }
}

/** Pushes a second of an accelerometer, the second channel, that moves by so many of its 1,000 to a g. */
function shake(analysis: Analysis, second: number, size: number): void {
  const samples = Int32Array.from({ length: 3 * RATE }, (_, i) => 500 + size * Math.cos(0.7 * i + (i % 3)));
  analysis.push({
    ...{ channel: 1, t: T0 + second * 1000, period: 1000 / RATE, trusted: true, lost: 0 },
    ...{ encoding: ENCODING.int32, payload: new Uint8Array(samples.buffer) },
  });
}

const of = (readings: readonly Reading[], type: string) => readings.filter((r) => r.type === type);
const ends = (readings: readonly Reading[]) => readings.map((r) => (r.actual_end - T0) / 1000);

const NEW_SESSION = {
  id: 's',
  deviceId: 'd',
  spo2Curve: null,
  algorithms: null,
  progress: { firstInstant: null },
  last: {},
};

describe('the analysis of a session', () => {
  it('gives hr every second from 4 s on, and rr every 2 s from 16 s on', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 20);
    expect(ends(of(readings, 'hr'))).to.deep.equal([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(ends(of(readings, 'rr')).every((end) => end >= 16 && end % 2 === 0)).to.equal(true);
  });

  it('gives the bounds and the coverage of the window', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 9);
    const [first] = of(readings, 'hr');
    expect(first).to.include({
      coverage: 0.5,
      unit: 'bpm',
      session_id: 's',
      device_id: 'd',
      algorithm: 'hr-ppg@1.0.0',
    });
    expect(first?.actual_start).to.equal(T0 - 4000);
    expect(of(readings, 'hr').at(-1)?.coverage).to.equal(1);
  });

  it('trusts no respiratory rate from light below 9 Hz', async () => {
    for (const rate of [RATE, 5]) {
      const { analysis, readings } = await open({ channels: [{ ...channel('ppg_green'), sample_rate_hz: rate }] });
      const breathing = (t: number) => pulse(t) + 200 * Math.cos(2 * Math.PI * 0.25 * t);
      const every = RATE / rate;
      for (let second = 0; second < 60; second++) {
        const samples = Int32Array.from({ length: rate }, (_, k) => breathing(second + (k * every) / RATE));
        analysis.push({
          ...{ channel: 0, t: T0 + second * 1000, period: 1000 / rate, trusted: true, lost: 0 },
          ...{ encoding: ENCODING.int32, payload: new Uint8Array(samples.buffer) },
        });
      }
      const confidence = of(readings, 'rr').at(-1)?.confidence ?? 0;
      expect(confidence > 0.5, `${rate} Hz`).to.equal(rate === RATE);
    }
  });

  describe('of a pulse that breath modulates 13.7 times a minute', () => {
    const breath = (t: number) => Math.sin(2 * Math.PI * (13.7 / 60) * t);
    const bump = (phase: number, at: number, width: number) => Math.exp(-(((phase - at) / width) ** 2));
    const wave = (t: number) => {
      const phase = (t * (71.3 / 60) + 0.01 * breath(t)) % 1;
      return (
        8000 * ((1 + 0.03 * breath(t)) * (bump(phase, 0.25, 0.09) + 0.35 * bump(phase, 0.55, 0.12)) + 0.05 * breath(t))
      );
    };

    /** The respiratory rates from 64 s on; of the frames, of half a second each, some are lost. */
    async function rates(isLost: (frame: number) => boolean): Promise<Reading[]> {
      const { analysis, readings } = await open();
      for (let frame = 0; frame < 240; frame++)
        if (!isLost(frame)) stream(analysis, frame / 2, (frame + 1) / 2, { frame: 25, wave });
      return of(readings, 'rr').filter(({ actual_end }) => actual_end >= T0 + 64_000);
    }

    it('does not trust the rate of the gaps where every fifth frame is lost', async () => {
      const rr = await rates((frame) => frame % 5 === 4);
      expect(rr.some(({ value }) => Math.abs(value - 24) < 1)).to.equal(true);
      for (const { confidence } of rr) expect(confidence).to.be.below(0.5);
    });

    it('trusts the breath where as many frames as it can bear are lost without rhythm', async () => {
      const rr = await rates((frame) => (frame * frame * 7 + frame * 3) % 23 <= 2);
      for (const { value } of rr) expect(value).to.be.closeTo(13.7, 1);
      for (const { confidence } of rr.slice(4)) expect(confidence).to.be.at.least(0.5);
    });
  });

  it('finds the rate of a known pulse', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 20);
    expect(of(readings, 'hr').at(-1)?.value).to.be.closeTo(60 * BEAT_HZ, 1);
  });

  it('gives the same readings however the samples are divided into runs', async () => {
    const [small, large] = [await open(), await open()];
    stream(small.analysis, 0, 20, { frame: 5 });
    stream(large.analysis, 0, 20, { frame: 50 });
    expect(large.readings).to.deep.equal(small.readings);
  });

  it('gives no reading while less than half of the window is covered, and continues after a long loss', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 10);
    stream(analysis, 1000, 1010, { lost: 1 });
    expect(Math.max(...ends(readings).filter((end) => end < 500))).to.equal(14);
    expect(ends(of(readings, 'hr')).filter((end) => end > 500)).to.deep.equal([
      1004, 1005, 1006, 1007, 1008, 1009, 1010,
    ]);
  });

  it('skips a loss of years at once', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 6);
    stream(analysis, 1e9, 1e9 + 5, { lost: 1 });
    expect(ends(of(readings, 'hr')).slice(-2)).to.deep.equal([1e9 + 4, 1e9 + 5]);
  });

  it('continues for longer than the core can number its samples', async () => {
    const { analysis, readings } = await open({ channels: [channel('ecg')], algorithms: ['rhythm-ecg'] });
    const days = (n: number) => n * 86_400;
    for (let t = 0; t < days(100); t += 59) stream(analysis, t, t + 1 / RATE);
    stream(analysis, days(100), days(100) + 90);
    expect(ends(readings).at(-1)).to.equal(days(100) + 90 - WINDOW_LAG_S);
  });

  it('waits for a required channel until data time is 2 s past the window', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('ecg')] });
    stream(analysis, 0, 5.9);
    expect(of(readings, 'hr')).to.deep.equal([]);
    stream(analysis, 5.9, 6.1);
    expect(ends(of(readings, 'hr'))).to.deep.equal([4]);
  });

  it('at the end computes all windows that the required channels reached, without waiting', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('ecg')] });
    stream(analysis, 0, 5);
    analysis.end();
    expect(ends(of(readings, 'hr'))).to.deep.equal([4, 5]);
  });

  it('runs only the algorithms that the account is entitled to', async () => {
    const { analysis, readings } = await open({ algorithms: ['rr-ppg'] });
    stream(analysis, 0, 20);
    expect(of(readings, 'hr')).to.deep.equal([]);
  });

  it('trusts no light without a pulse for an account that is not entitled to the heart rate, and reads it as for others', async () => {
    /** A beat now and then for half of a minute in which the light is lost. */
    const lost = (t: number) => (t < 28 || t > 54 ? pulse(t) : 50_000 + 40 * Math.cos(t * t * t));
    const channels = [channel('ppg_green'), channel('accel', 3)];
    const run = async (algorithms: readonly string[] | null) => {
      const opened = await open({ channels, algorithms });
      for (let t = 0; t < 80; t++) {
        stream(opened.analysis, t, t + 1, { wave: lost });
        // The accelerometer comes after the light, and moves for a while
        if (t > 0) shake(opened.analysis, t - 1, t > 60 && t < 70 ? 30 : 2);
      }
      opened.analysis.end();
      return opened;
    };
    const all = await run(null);
    for (const type of ['rr', 'hrv', 'rhythm']) {
      const { readings } = await run([`${type}-ppg`]);
      expect(readings, type).to.deep.equal(of(all.readings, type));
      expect(readings.length, type).to.be.above(0);
    }
    expect(of(all.readings, 'rhythm').at(-1)?.confidence).to.be.below(0.5);
    expect((await run(['beats-ppg'])).blocks).to.deep.equal(all.blocks);
  });

  it('repeats no reading that was published before a resume, and keeps the times of the steps', async () => {
    const last = { hr: { ts: 1, actualEnd: T0 + 12_000 } };
    const { analysis, readings } = await open({ last, firstInstant: T0 });
    stream(analysis, 6.3, 15);
    expect(ends(of(readings, 'hr'))).to.deep.equal([13, 14, 15]);
  });

  it('uses no data from before the first instant', async () => {
    const { analysis, readings } = await open({ firstInstant: T0 });
    stream(analysis, -10, 9);
    expect(ends(of(readings, 'hr'))).to.deep.equal([4, 5, 6, 7, 8, 9]);
    expect(of(readings, 'hr')[0]?.coverage).to.equal(0.5);
  });

  it('gives no SpO2 without infrared', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_red'), channel('ppg_green')] });
    for (let s = 0; s < 10; s++) for (const index of [0, 1]) stream(analysis, s, s + 1, { index });
    expect(of(readings, 'spo2')).to.deep.equal([]);
    expect(of(readings, 'hr')).not.to.deep.equal([]);
  });

  const noise = (t: number) => Math.round(100_000 + 1000 * Math.sin(1e6 * t * t));

  for (const [what, bad] of [
    ['flat', () => 100_000],
    ['noise', noise],
  ] as const) {
    it(`reads the second channel of a modality where the first one is ${what}`, async () => {
      const { analysis, readings } = await open({ channels: [channel('ppg'), channel('ppg')] });
      for (let s = 0; s < 40; s++) {
        stream(analysis, s, s + 1, { index: 0, wave: bad });
        stream(analysis, s, s + 1, { index: 1 });
      }
      const hr = of(readings, 'hr').filter(({ actual_end }) => actual_end >= T0 + 10_000);
      expect(hr.length).to.be.at.least(28);
      for (const { value, confidence } of hr) {
        expect(value).to.be.closeTo(60 * BEAT_HZ, 1);
        expect(confidence).to.be.at.least(0.8);
      }
    });
  }

  it('changes to the other channel of a modality when one fails', async () => {
    const { analysis, readings } = await open({ channels: [channel('ecg'), channel('ecg')] });
    const beat = (t: number) => 1000 * Math.exp(-((((BEAT_HZ * t) % 1) - 0.5) ** 2) / 2e-4) + 50 * Math.sin(t);
    for (let s = 0; s < 60; s++) {
      stream(analysis, s, s + 1, { index: 0, wave: s < 30 ? beat : () => 0 });
      stream(analysis, s, s + 1, { index: 1, wave: s < 30 ? noise : beat });
    }
    const trusted = of(readings, 'hr').filter(({ confidence }) => confidence >= 0.5);
    for (const { value } of trusted) expect(value).to.be.closeTo(60 * BEAT_HZ, 2);
    const times = ends(trusted);
    expect(times.filter((end) => end > 10 && end <= 30).length).to.be.at.least(15);
    expect(times.filter((end) => end > 45).length).to.be.at.least(12);
  });

  it('reads infrared where green is covered and only has noise', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('ppg_ir')] });
    for (let s = 0; s < 40; s++) {
      stream(analysis, s, s + 1, { index: 0, wave: noise });
      stream(analysis, s, s + 1, { index: 1 });
    }
    const hr = of(readings, 'hr').filter(({ actual_end }) => actual_end >= T0 + 10_000);
    for (const { value, confidence } of hr) {
      expect(value).to.be.closeTo(60 * BEAT_HZ, 1);
      expect(confidence).to.be.at.least(0.5);
    }
  });

  it('carries on with infrared where green stops', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('ppg_ir')] });
    for (let s = 0; s < 40; s++) {
      if (s < 20) stream(analysis, s, s + 1, { index: 0 });
      stream(analysis, s, s + 1, { index: 1 });
    }
    const after = of(readings, 'hr').filter(({ actual_end }) => actual_end > T0 + 30_000);
    expect(ends(after)).to.deep.equal([31, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
    for (const { value } of after) expect(value).to.be.closeTo(60 * BEAT_HZ, 1);
  });

  it('uses at most as many sessions of the core as four channels of each modality need', async () => {
    const core = await createCore({ maxSessions: 8 });
    const opened = (channels: ModalityChannel[]) => {
      const analysis = openAnalysis(new CoreLoad(core), { ...NEW_SESSION, channels });
      const { openSessions } = core;
      analysis?.close();
      return openSessions;
    };
    expect(opened([channel('ppg'), channel('accel', 3), channel('ecg')])).to.equal(1);
    expect(opened(Array.from({ length: 64 }, () => channel('ppg')))).to.equal(4);
    expect(core.openSessions).to.equal(0);
  });

  it('is refused as a whole where the core has no room for all of its channels', async () => {
    const core = await createCore({ maxSessions: 1 });
    const channels = [channel('ppg'), channel('ppg')];
    expect(openAnalysis(new CoreLoad(core), { ...NEW_SESSION, channels })).to.equal(null);
    expect(core.openSessions).to.equal(0);
  });

  it('accepts channels of unknown modalities, and does not use them', async () => {
    const { analysis, readings } = await open({ channels: [channel('temperature', 3), channel('ppg')] });
    for (let s = 0; s < 6; s++) for (const index of [0, 1]) stream(analysis, s, s + 1, { index, frame: 9 });
    expect(ends(of(readings, 'hr'))).to.deep.equal([4, 5, 6]);
  });

  it('works without an accelerometer that the model has but the device does not send', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('accel', 3)] });
    stream(analysis, 0, 12);
    expect(of(readings, 'hr').at(-1)?.value).to.be.closeTo(60 * BEAT_HZ, 1);
  });

  it('waits up to 1 s for an accelerometer that has data in the window', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('accel')] });
    for (const index of [1, 0]) stream(analysis, 0, 3.9, { index });
    stream(analysis, 3.9, 4.5);
    expect(of(readings, 'hr')).to.deep.equal([]);
    stream(analysis, 3.9, 4.5, { index: 1 });
    expect(ends(of(readings, 'hr'))).to.deep.equal([4]);
    stream(analysis, 4.5, 5.9);
    expect(ends(of(readings, 'hr'))).to.deep.equal([4]);
    stream(analysis, 5.9, 6.1);
    expect(ends(of(readings, 'hr'))).to.deep.equal([4, 5]);
  });

  it('does not wait for an accelerometer that stopped before the window', async () => {
    const { analysis, readings } = await open({ channels: [channel('ppg_green'), channel('accel')] });
    for (const index of [1, 0]) stream(analysis, 0, 2, { index });
    stream(analysis, 2, 10);
    stream(analysis, 10, 12.1);
    expect(ends(of(readings, 'hr')).at(-1)).to.equal(12);
  });

  it('gives unfit readings or none for a dead sensor', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 40, { wave: () => 0 });
    expect(readings.filter((r) => r.sqi_class !== 'unfit')).to.deep.equal([]);
  });

  it('keeps the confidence below 0.5 exactly in windows with times that are not trusted', async () => {
    const { analysis, readings } = await open();
    stream(analysis, 0, 10, { trusted: false });
    stream(analysis, 10, 40);
    const hr = of(readings, 'hr');
    const isLow = ({ confidence }: Reading) => confidence < 0.5;
    expect(hr.filter(({ actual_start }) => actual_start < T0 + 10_000).every(isLow)).to.equal(true);
    expect(hr.filter(({ actual_start }) => actual_start >= T0 + 10_000).some(isLow)).to.equal(false);
  });

  it('keeps the confidence below 0.5 if the rate differs from the rate of the model', async () => {
    const [model, off] = [
      await open(),
      await open({ channels: [{ ...channel('ppg_green'), sample_rate_hz: RATE * 2 }] }),
    ];
    stream(model.analysis, 0, 12);
    stream(off.analysis, 0, 12);
    const confidence = (readings: Reading[]) => of(readings, 'hr').at(-1)?.confidence ?? Number.NaN;
    expect(confidence(model.readings)).to.be.greaterThan(0.98);
    expect(confidence(off.readings)).to.be.within(0.48, 0.49);
  });

  it('gives missing values as the reason if half of a window has none', async () => {
    const { analysis } = await open();
    stream(analysis, 0, 20);
    for (let t = 20; t < 50; t++) {
      const samples = Float32Array.from({ length: RATE }, (_, k) => (t % 5 === 0 ? pulse(t + k / RATE) : Number.NaN));
      const payload = new Uint8Array(samples.buffer);
      const run = { channel: 0, t: T0 + 1000 * t, period: 1000 / RATE, trusted: true, lost: 0, payload };
      analysis.push({ ...run, encoding: ENCODING.float32 });
    }
    expect(analysis.noReadings.find(({ insight }) => insight === 'hr')?.reason).to.equal('gaps');
  });

  describe('with its beats', () => {
    const starts = (blocks: readonly BeatBlock[]) => blocks.map(({ start }) => (start - T0) / 1000);
    /** A pulse whose rate swings, so that the beats of different times differ. */
    const swinging = (t: number) => pulse(t + 0.05 * Math.sin(2 * Math.PI * 0.1 * t));

    it('gives hrv and rhythm every 10 s from half a window of final beats on, hrv with SDNN and pNN50', async () => {
      const { analysis, readings } = await open();
      stream(analysis, 0, 80, { wave: swinging });
      for (const type of ['hrv', 'rhythm']) {
        const own = of(readings, type);
        expect(ends(own).at(-1)).to.equal(80 - WINDOW_LAG_S);
        for (const reading of own) {
          expect(reading.actual_end - reading.actual_start).to.equal(60_000);
          expect(reading.coverage).to.be.at.least(0.5);
          expect('sdnn' in reading && 'pnn50' in reading, type).to.equal(type === 'hrv');
        }
        expect(own.length).to.be.within(4, 5);
      }
    });

    it('gives blocks of 10 s, each by 20 s after its start, and the rest at the end', async () => {
      const { analysis, blocks } = await open();
      for (const to of [15, 20.1, 29, 30.1, 95]) {
        const from = { 15: 0, 20.1: 15, 29: 20.1, 30.1: 29, 95: 30.1 }[to] ?? 0;
        stream(analysis, from, to);
        expect(starts(blocks)).to.deep.equal(
          to < 20 ? [] : to < 30 ? [0] : to < 95 ? [0, 10] : [0, 10, 20, 30, 40, 50, 60, 70],
        );
      }
      analysis.end();
      expect(starts(blocks)).to.deep.equal([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
      for (const { start, beats } of blocks)
        for (const { t, source, quality } of beats) {
          expect(t).to.be.within(start + 0.1, start + 10_000);
          expect([t, quality]).to.deep.equal([Number(t.toFixed(1)), Number(quality.toFixed(3))]);
          expect(source).to.equal('ppg');
        }
      const times = blocks.flatMap(({ beats }) => beats.map(({ t }) => t));
      expect(times).to.have.length.within(BEAT_HZ * 90, BEAT_HZ * 95);
      const intervals = times.slice(1).map((t, i) => t - (times[i] ?? 0));
      for (const interval of intervals) expect(interval).to.be.closeTo(1000 / BEAT_HZ, 5);
    });

    it('gives the same blocks however the data are cut into frames, and again after a take-over with a replay', async () => {
      const whole = await open();
      stream(whole.analysis, 0, 150, { wave: swinging });
      whole.analysis.end();
      const cut = await open();
      stream(cut.analysis, 0, 150, { frame: 73, wave: swinging });
      cut.analysis.end();
      expect(cut.blocks).to.deep.equal(whole.blocks);
      const next = await open({ firstInstant: T0 });
      stream(next.analysis, 47, 150, { wave: swinging });
      next.analysis.end();
      const after = (blocks: readonly BeatBlock[]) =>
        blocks.filter(({ start }) => start >= T0 + 60_000 && start < T0 + 140_000);
      expect(starts(after(next.blocks))).to.deep.equal([60, 70, 80, 90, 100, 110, 120, 130]);
      for (const [i, { beats }] of after(next.blocks).entries()) {
        const former = after(whole.blocks)[i]?.beats ?? [];
        expect(beats).to.have.length(former.length);
        for (const [k, { t }] of beats.entries()) expect(t).to.be.closeTo(former[k]?.t ?? 0, 2);
      }
    });

    it('gives no blocks and no readings of types to which the account is not entitled', async () => {
      const [vital, beats] = [await open({ algorithms: ['hr-ppg'] }), await open({ algorithms: ['beats-ppg'] })];
      for (const { analysis } of [vital, beats]) {
        stream(analysis, 0, 70);
        analysis.end();
      }
      expect(vital.blocks).to.deep.equal([]);
      expect(new Set(vital.readings.map(({ type }) => type))).to.deep.equal(new Set(['hr']));
      expect(beats.readings).to.deep.equal([]);
      expect(beats.analysis.noReadings).to.deep.equal([]);
      expect(beats.analysis.lacking).to.equal(null);
      expect(starts(beats.blocks)).to.deep.equal([0, 10, 20, 30, 40, 50, 60]);
    });

    it('gives the last blocks before a loss of more than a minute, and continues after it', async () => {
      const { analysis, blocks } = await open();
      stream(analysis, 0, 39);
      stream(analysis, 218, 250);
      analysis.end();
      expect(starts(blocks)).to.deep.equal([0, 10, 20, 30, 210, 220, 230, 240]);
    });
  });

  it('frees its place in the core when it is closed', async () => {
    const { analysis, core } = await open();
    expect(core.openSessions).to.equal(1);
    analysis.close();
    analysis.close();
    expect(core.openSessions).to.equal(0);
  });
});
