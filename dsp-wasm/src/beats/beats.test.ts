import { expect } from 'chai';
import { corrected, variabilityOf } from '../../reference/beats/variability.js';
import {
  BEAT_LAG_S,
  type Beat,
  type Core,
  type CoreChannel,
  type CoreSession,
  createCore,
  type Estimator,
  WINDOW_LAG_S,
} from '../core.js';
import { ecg } from '../ecg/signal.js';
import { ENCODING } from '../encoding.js';
import { Kernel } from '../kernel.js';
import { noise, opened, payload, pulse, random } from '../signals.js';

const SECONDS = 90;

/** Times of beats whose intervals are a function of their number, s. */
function beatsBy(interval: (n: number) => number): number[] {
  const times = [0.5];
  for (let n = 0; (times.at(-1) ?? 0) < SECONDS; n++) times.push((times.at(-1) ?? 0) + interval(n));
  return times;
}

/** End of the last window, whose beats are final at the end of the stream. */
const END = SECONDS - WINDOW_LAG_S;

/** A sinus rhythm at that rate, which breathes and varies. */
function sinus(bpm: number): number[] {
  const next = random(bpm);
  return beatsBy((n) => (60 / bpm) * (1 + 0.03 * Math.sin(1.3 * n) + 0.01 * next()));
}

const electric = (times: readonly number[], hz: number) =>
  ecg(
    SECONDS,
    times.map((time) => ({ time, shape: 'normal' as const })),
    { hz },
  );

/** Light with a pulse of 0.8 s after each beat. */
function light(times: readonly number[], hz: number): number[] {
  return Array.from({ length: SECONDS * hz }, (_, i) => {
    const near = times.filter((time) => Math.abs(i / hz - time) < 1);
    return 100_000 - 500 * near.reduce((sum, time) => sum + pulseAt(i / hz - time), 0);
  });
}

const pulseAt = (t: number) => (t > -0.2 && t < 0.8 ? pulse(t / 0.8 + 0.02) : 0);

describe('beats', () => {
  let core: Core;

  beforeEach(async () => {
    core = await createCore({ maxSessions: 2 });
  });

  function open(channel: CoreChannel): CoreSession {
    const session = opened(core, [channel]);
    return session;
  }

  const ECG = (sampleRateHz: number): CoreChannel => ({ modality: 'ecg', sampleRateHz, numChannels: 1 });
  const GREEN = (sampleRateHz: number): CoreChannel => ({ modality: 'ppg_green', sampleRateHz, numChannels: 1 });

  /** Streams values, a second at a time, with a step of that estimator after each, and looks at the session then. */
  function stream(session: CoreSession, values: readonly number[], hz: number, look: (end: number) => void): void {
    for (let end = 1; end <= SECONDS; end++) {
      session.push(0, end - 1, 1 / hz, ENCODING.float32, payload(values.slice((end - 1) * hz, end * hz)));
      core.step([{ session, estimator: 'hr_ecg', end }]);
      look(end);
    }
  }

  /** The estimate at the end of a stream, or at that second, which is asked every 10 s. */
  function last(channel: CoreChannel, values: readonly number[], estimator: Estimator, at = SECONDS) {
    const session = open(channel);
    let found = null;
    stream(session, values, channel.sampleRateHz, (end) => {
      if (end % 10 === 0 && end <= at) [found = null] = core.step([{ session, estimator, end }]);
    });
    session.close();
    return found as ReturnType<Core['step']>[number];
  }

  for (const hz of [125, 250, 500]) {
    it(`are the R peaks of an ECG at ${hz} Hz, within 1 ms of each other's delay`, () => {
      const times = sinus(72);
      const session = open(ECG(hz));
      stream(session, electric(times, hz), hz, () => {});
      const found = session.beats('ecg', 30, SECONDS - BEAT_LAG_S);
      const want = times.filter((t) => t > 30 && t <= SECONDS - BEAT_LAG_S);
      expect(found.length).to.equal(want.length);
      found.forEach(({ t, quality }, i) => {
        expect(t).to.be.closeTo(want[i] ?? Number.NaN, 0.0015);
        expect(quality).to.be.within(0.9, 1);
      });
      session.close();
    });
  }

  for (const hz of [25, 50, 100]) {
    it(`are the pulses of light at ${hz} Hz, each as long after the heartbeat within 4 ms`, () => {
      const times = sinus(66);
      const session = open(GREEN(hz));
      stream(session, light(times, hz), hz, (end) => {
        if (end % 10 === 0) session.beats('ppg', 0, 0);
      });
      const found = session.beats('ppg', 40, 80).map(({ t }) => t);
      const delays = found.map((t) => Math.min(...times.filter((time) => time < t).map((time) => t - time)));
      const middle = delays.toSorted((a, b) => a - b)[delays.length >> 1] ?? 0;
      expect(found.length).to.be.within(43, 45);
      for (const delay of delays) expect(delay).to.be.closeTo(middle, 0.004);
      session.close();
    });
  }

  for (const [source, channel, signal] of [
    ['ecg', ECG(250), electric],
    ['ppg', GREEN(50), light],
  ] as const) {
    it(`from ${source} are final when they are older than the lag, and the same whenever they are asked for`, () => {
      const hz = channel.sampleRateHz;
      const values = signal(sinus(80), hz).map((v, i) => v + 15 * (noise(1, i)[0] ?? 0));
      const [often, once] = [open(channel), open(channel)];
      const told: number[] = [];
      stream(often, values, hz, (end) => {
        told.push(...often.beats(source, end - 1 - BEAT_LAG_S, end - BEAT_LAG_S).map(({ t }) => t));
      });
      stream(once, values, hz, (end) => {
        if (end % 10 === 0) once.beats(source, 0, 0);
      });
      const kept = once.beats(source, 30, SECONDS - BEAT_LAG_S).map(({ t }) => t);
      expect(kept.length).to.be.greaterThan(60);
      expect(told.filter((t) => t > 30)).to.deep.equal(kept);
      often.close();
      once.close();
    });
  }

  it('have the lag of the module', async () => {
    const kernel = await Kernel.load(1);
    expect([kernel.constant('BEAT_LAG'), kernel.constant('WINDOW_LAG')]).to.deep.equal([BEAT_LAG_S, WINDOW_LAG_S]);
  });

  it('are none of an unknown source, which is refused, and none after close', () => {
    const session = open(ECG(250));
    expect(() => session.beats('resp' as never, 0, 1)).to.throw(
      RangeError,
      /^source is "resp"; it must be one of ecg, ppg/,
    );
    session.close();
    expect(session.beats('ecg', 0, 100)).to.deep.equal([]);
  });

  describe('have a variability', () => {
    for (const bpm of [45, 50, 60, 75, 110, 160]) {
      it(`from an ECG at ${bpm} bpm within 1 ms, and from light within 5 ms, which both are trusted`, () => {
        const times = sinus(bpm);
        const { rmssd, sdnn, pnn50 } = variabilityOf(times.filter((t) => t > END - 60 && t <= END));
        const fromEcg = last(ECG(250), electric(times, 250), 'hrv_ecg');
        expect(fromEcg?.value).to.be.closeTo(rmssd, 1);
        expect(fromEcg?.variability?.sdnn).to.be.closeTo(sdnn, 1);
        expect(fromEcg?.variability?.pnn50).to.be.closeTo(pnn50, 6);
        expect(fromEcg?.confidence).to.be.at.least(0.5);
        if (bpm > 110) return; // Faster pulses of this length run into each other
        const fromLight = last(GREEN(50), light(times, 50), 'hrv_ppg');
        expect(fromLight?.value).to.be.closeTo(rmssd, 5);
        expect(fromLight?.confidence).to.be.at.least(0.5);
      });
    }

    for (const before of [0.05, 0.3, 0.6, 1.1]) {
      it(`whose window holds the early beat ${before} s before its end, which raises it`, () => {
        const regular = sinus(60);
        const early = regular.findIndex((t) => t > END) - 1;
        const moved = END - before - (regular[early] ?? 0);
        const times = regular.map((t, i) => (i === early ? t - 0.25 : t) + moved).filter((t) => t > 0 && t < SECONDS);
        const within = times.filter((t) => t > END - 60 && t <= END);
        const found = last(ECG(250), electric(times, 250), 'hrv_ecg');
        expect(found?.value).to.be.closeTo(variabilityOf(corrected(within)).rmssd, 1);
      });
    }

    it('that early beats and artefacts do not change, as in the reference', () => {
      const regular = sinus(70);
      const times = regular.map((t, i) => (i % 23 === 11 ? t - 0.2 : t)).filter((_, i) => i % 31 !== 7);
      const session = open(ECG(250));
      const values = electric(times, 250);
      let found = 0;
      stream(session, values, 250, (end) => {
        if (end % 10 === 0) found = core.step([{ session, estimator: 'hrv_ecg', end }])[0]?.value ?? 0;
      });
      const kept = session.beats('ecg', END - 60, END).map(({ t }) => t);
      session.close();
      expect(found).to.be.closeTo(variabilityOf(corrected(kept)).rmssd, 0.5);
      expect(found).to.be.lessThan(variabilityOf(times.filter((t) => t > 30)).rmssd / 2);
    });

    it('that is first asked for late is not trusted, with a reason, if its minute has more beats than are kept', () => {
      const session = open(ECG(250));
      const times = sinus(160);
      stream(session, electric(times, 250), 250, () => undefined);
      const [found] = core.answer([{ session, estimator: 'hrv_ecg', end: SECONDS }]);
      expect(found?.estimate?.confidence).to.be.below(0.5);
      expect(found?.reason).to.equal('noise');
      session.close();
    });

    it('of a rhythm that is not sinus has no trust', () => {
      const next = random(3);
      const times = beatsBy(() => 0.7 + 0.25 * next());
      expect(last(ECG(250), electric(times, 250), 'hrv_ecg')?.confidence).to.be.below(0.5);
    });

    it('from light is trusted at rest, but not where noise moves the pulses by as much as the heart varies', () => {
      const times = beatsBy((n) => 0.9 * (1 + 0.005 * Math.sin(1.3 * n)));
      const { rmssd } = variabilityOf(times.filter((t) => t > END - 60 && t <= END));
      const clear = light(times, 50);
      const next = random(5);
      const noisy = clear.map((v) => v + 120 * next());
      const [found, moved] = [clear, noisy].map((values) => last(GREEN(50), values, 'hrv_ppg'));
      expect(found?.value).to.be.closeTo(rmssd, 5);
      expect(found?.confidence).to.be.at.least(0.5);
      expect(moved?.value).to.be.greaterThan(rmssd + 10);
      expect(moved?.confidence).to.be.below(0.5);
    });

    it('is not trusted from light in which the pulse pauses, as a heart may, but with data missing as long', () => {
      const times = sinus(66).filter((t) => t < 50.3 || t > 54);
      const next = random(9);
      const paused = light(times, 50).map((v) => v + 2 * next());
      const missing = light(sinus(66), 50).map((v, i) => (i > 50.3 * 50 && i < 54 * 50 ? Number.NaN : v + 2 * next()));
      expect(last(GREEN(50), paused, 'hrv_ppg', 50)?.confidence, 'before').to.be.at.least(0.5);
      expect(last(GREEN(50), paused, 'hrv_ppg')?.confidence).to.equal(0);
      expect(last(GREEN(50), missing, 'hrv_ppg')?.confidence).to.be.at.least(0.5);
    });

    it('is not trusted in motion', () => {
      const session = opened(core, [GREEN(50), { modality: 'accel', sampleRateHz: 50, numChannels: 3 }]);
      const values = light(sinus(66), 50);
      for (let end = 1; end <= SECONDS; end++) {
        session.push(0, end - 1, 1 / 50, ENCODING.float32, payload(values.slice((end - 1) * 50, end * 50)));
        const moved = Array.from(
          { length: 150 },
          (_, i) => (i % 3 === 0 ? 1 : 0) + (end > 70 && end <= 80 ? Math.sin(i / 5) : 0),
        );
        session.push(1, end - 1, 1 / 50, ENCODING.float32, payload(moved));
        const [found] = core.step([{ session, estimator: 'hrv_ppg', end }]);
        if (end === 70) expect(found?.confidence).to.be.at.least(0.5);
        if (end === 80 || end === 90) expect(found?.confidence).to.be.below(end === 80 ? 0.01 : 0.5);
      }
      session.close();
    });
  });

  describe('have a rhythm', () => {
    const next = random(11);
    const RHYTHMS: Readonly<Record<string, [times: number[], fibrillates: boolean]>> = {
      'a sinus rhythm that breathes deeply': [beatsBy((n) => 0.9 * (1 + 0.12 * Math.sin(1.1 * n))), false],
      'single early beats': [beatsBy((n) => (n % 9 === 4 ? 0.5 : n % 9 === 5 ? 1.1 : 0.8 + 0.01 * next())), false],
      bigeminy: [beatsBy((n) => (n % 2 ? 0.55 : 1.05) + 0.01 * next()), false],
      "Wenckebach's block": [beatsBy((n) => (n % 3 === 2 ? 1.3 : 0.8 - 0.05 * (n % 3)) + 0.01 * next()), false],
      'intervals at random': [beatsBy(() => 0.7 + 0.25 * next()), true],
    };
    for (const [name, [times, fibrillates]] of Object.entries(RHYTHMS)) {
      it(`that ${fibrillates ? 'is' : 'is not'} as in fibrillation, of ${name}`, () => {
        const found = last(ECG(250), electric(times, 250), 'rhythm_ecg');
        expect((found?.value ?? Number.NaN) >= 50).to.equal(fibrillates);
        expect(found?.confidence).to.be.at.least(0.5);
      });
    }

    /** The rhythm by light at the end of a stream with a heart rate at each step, and the mean quality of the beats in these seconds. */
    function byLight(values: readonly number[], from: number, to: number) {
      const session = open(GREEN(50));
      let found: ReturnType<Core['step']>[number] = null;
      const beats: Beat[] = [];
      for (let end = 1; end <= SECONDS; end++) {
        session.push(0, end - 1, 1 / 50, ENCODING.float32, payload(values.slice((end - 1) * 50, end * 50)));
        core.step([{ session, estimator: 'hr_ppg', end }]);
        if (end % 10 !== 0) continue;
        [found = null] = core.step([{ session, estimator: 'rhythm_ppg', end }]);
        beats.push(...session.beats('ppg', end - 10 - BEAT_LAG_S, end - BEAT_LAG_S));
      }
      session.close();
      const own = beats.filter(({ t }) => t > from && t < to);
      return { ...found, quality: own.reduce((sum, { quality }) => sum + quality, 0) / own.length };
    }

    it('that is not trusted where the light had no pulse for part of the minute: what was found there is no beat', () => {
      const next = random(7);
      const values = light(sinus(90), 50).map((v, i) => (i > 28 * 50 && i < 52 * 50 ? 50_000 + 5 * next() : v));
      const { confidence, quality } = byLight(values, 34, 46);
      expect(confidence).to.be.below(0.5);
      expect(quality).to.be.below(0.4);
    });

    it('of intervals at random that light shows as surely as an ECG', () => {
      const { value, confidence, quality } = byLight(
        light(
          beatsBy(() => 0.85 + 0.15 * next()),
          50,
        ),
        34,
        46,
      );
      expect(value).to.be.at.least(50);
      expect(confidence).to.be.at.least(0.5);
      expect(quality).to.be.at.least(0.9);
    });
  });
});
