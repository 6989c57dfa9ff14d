import { expect } from 'chai';
import { type BeatSource, type Core, type CoreChannel, createCore, ENCODING } from './core.js';
import { ESTIMATORS } from './estimators.js';
import { opened, payload, pushAll, random } from './signals.js';

const BEAT_SOURCES = ['ecg', 'ppg'] as const satisfies readonly BeatSource[];
const HZ = 64;
const SECONDS = 40;
const SHARED_SECONDS = 44;
const KINDS = ['ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp'] as const;
const CHANNELS: readonly CoreChannel[] = KINDS.map((modality) => ({ modality, sampleRateHz: HZ, numChannels: 1 }));

/** Value i of a stream. */
const STREAMS: Record<string, (i: number, next: () => number) => number> = {
  zeros: () => 0,
  'a constant': () => 123_456,
  'nothing but NaN': () => Number.NaN,
  'NaN in every second place': (i, next) => (i % 2 ? Number.NaN : next()),
  rails: (i) => (Math.floor(i / 23) % 2 ? 8_388_607 : -8_388_608),
  'one rail': () => 8_388_607,
  'numbers up to 1e38': (_, next) => 1e38 * next(),
  infinities: (_, next) => (next() > 0.95 ? Number.POSITIVE_INFINITY : next()),
  'numbers down to 1e-38': (_, next) => 1e-38 * next(),
  'denormal numbers': (_, next) => 1e-42 * next(),
  'zeros after a signal': (i, next) => (i < 10 * HZ ? 1000 * next() : 0),
  'a single spike': (i) => (i === 20 * HZ ? 1e30 : 7),
  noise: (_, next) => 1000 * next(),
};

describe('hostile input', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 1 });
  });

  /** All answers of a session whose every channel carries `value`. */
  function answers(value: (i: number, next: () => number) => number) {
    const session = opened(core, CHANNELS);
    const next = random(5);
    const values = Array.from({ length: SECONDS * HZ }, (_, i) => value(i, next));
    const found = [];
    for (let end = 1; end <= SECONDS; end++) {
      const bytes = payload(values.slice((end - 1) * HZ, end * HZ));
      CHANNELS.forEach((_, c) => {
        session.push(c, end - 1, 1 / HZ, ENCODING.float32, bytes);
      });
      const due = ESTIMATORS.filter(
        (e) => end >= (e.startsWith('rr') ? 16 : 4) && (end % 2 === 0 || !e.startsWith('rr')),
      );
      const estimates = core.step(due.map((estimator) => ({ session, estimator, end })));
      found.push(...estimates.flatMap((e, i) => (e ? [{ ...e, estimator: due[i] }] : [])));
    }
    session.close();
    return found;
  }

  for (const [name, value] of Object.entries(STREAMS)) {
    it(`gives finite numbers, and no heart rate from the optical channels that it trusts, for ${name}`, () => {
      const found = answers(value);
      for (const { value, confidence } of found) {
        expect(Number.isFinite(value)).to.equal(true);
        expect(confidence).to.be.within(0, 1);
      }
      const rates = found.filter((e) => e.estimator === 'hr_ppg');
      // One in ten may look like a pulse by chance
      expect(rates.filter((e) => e.confidence >= 0.5).length).to.be.at.most(rates.length / 10);
    });
  }

  it('recovers from extreme values once they have left the window', () => {
    const session = opened(core, [{ modality: 'ppg_green', sampleRateHz: HZ, numChannels: 1 }]);
    const values = Array.from({ length: 24 * HZ }, (_, i) =>
      i < 4 * HZ ? 1e38 * (i % 2 ? 1 : -1) : 5000 + 100 * Math.sin(2 * Math.PI * 1.2 * (i / HZ)),
    );
    pushAll(session, 0, HZ, values.slice(0, 14 * HZ));
    for (let end = 4; end <= 14; end++) core.step([{ session, estimator: 'hr_ppg', end }]);
    session.push(0, 14, 1 / HZ, ENCODING.float32, payload(values.slice(14 * HZ)));
    for (let end = 15; end < 22; end++) core.step([{ session, estimator: 'hr_ppg', end }]);
    expect(core.step([{ session, estimator: 'hr_ppg', end: 22 }])[0]?.value).to.be.closeTo(72, 2);
    session.close();
  });

  it('gives no estimate for a channel that exceeds the memory of the session', () => {
    const crowd = Array.from({ length: 6 }, () => ({ modality: 'ecg', sampleRateHz: HZ, numChannels: 1 }) as const);
    const opticals = (['ppg_red', 'ppg_ir'] as const).map((modality) => ({
      modality,
      sampleRateHz: HZ,
      numChannels: 1,
    }));
    const session = opened(core, [...crowd, ...opticals]);
    const values = Array.from({ length: 20 * HZ }, (_, i) => 5000 + 100 * Math.sin(2 * Math.PI * 1.2 * (i / HZ)));
    for (let c = 0; c < 8; c++) pushAll(session, c, HZ, values);
    const blind = ['hr_ppg', 'spo2', 'rr_ppg'] as const;
    expect(core.step(blind.map((estimator) => ({ session, estimator, end: 20 })))).to.deep.equal([null, null, null]);
    session.close();
  });

  /** The answers and beats of a session, second by second, with the channels and the values that a seed gives. */
  function* drawn(core: Core, seed: number) {
    const next = random(seed);
    const below = (count: number) => Math.floor(((1 + next()) / 2) * count);
    const pick = <T>(some: readonly T[]) => some[below(some.length)] as T;
    const channels = Array.from({ length: 1 + below(8) }, () => ({
      modality: pick(KINDS),
      sampleRateHz: HZ,
      numChannels: 1 + below(4),
    }));
    const streams = [...Object.values(STREAMS), (i: number) => -1e5 - 500 * (i % HZ)];
    const isCalm = below(3) === 0; // Nothing but beats has a variability
    const session = opened(core, channels);
    for (let end = 1; end <= SHARED_SECONDS; end++) {
      channels.forEach(({ numChannels }, c) => {
        const beats = (i: number) => 1e5 * Math.exp(-((((i / numChannels / HZ) * 1.7) % 1) * 8)) + 20 * next();
        const value = isCalm || below(2) ? beats : pick(streams);
        const gap = !isCalm && below(6) === 0 ? 20 + next() : 0;
        const from = (end - 1) * HZ * numChannels;
        const values = Array.from({ length: HZ * numChannels }, (_, i) => value(from + i, next));
        session.push(c, end - 1 + gap, 1 / HZ, ENCODING.float32, payload(values));
      });
      const answers = core.step(ESTIMATORS.map((estimator) => ({ session, estimator, end })));
      yield { answers, beats: BEAT_SOURCES.map((source) => session.beats(source, 0, end)) };
    }
    session.close();
  }

  it('changes no answer and no beat of another session, whatever it leaves in the memory that sessions share', async () => {
    const seeds = Array.from({ length: 150 }, (_, i) => i + 1);
    const shared = await createCore({ maxSessions: seeds.length });
    const together = seeds.map((seed) => ({ seed, seconds: drawn(shared, seed), found: [] as unknown[] }));
    for (let second = 0; second < SHARED_SECONDS; second++)
      for (const one of together) one.found.push(one.seconds.next().value);
    for (const { seed, found } of together) {
      const alone = [...drawn(await createCore({ maxSessions: 1 }), seed)];
      expect(found, `seed ${seed}`).to.deep.equal(alone);
    }
  });
});
