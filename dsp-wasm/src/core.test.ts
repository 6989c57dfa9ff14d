import { expect } from 'chai';
import { type Core, type CoreChannel, createCore, ENCODING, type Estimate } from './core.js';
import { ESTIMATORS } from './estimators.js';
import { noise, payload, ppg, pushAll } from './signals.js';

const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: 50, numChannels: 1 };

describe('core', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 3 });
  });

  /** The heart rate at 12 s of a fresh session that was pushed these values. */
  function rateOf(values: readonly number[]): Estimate | null {
    const session = core.open([GREEN]);
    if (!session) throw new Error('the core is full');
    pushAll(session, 0, 50, values);
    for (const end of [9, 10, 11]) core.step([{ session, estimator: 'hr_ppg', end }]);
    const [estimate] = core.step([{ session, estimator: 'hr_ppg', end: 12 }]);
    session.close();
    return estimate ?? null;
  }

  it('opens as many sessions as configured, and then none until one closes', () => {
    const opened = [1, 2, 3].map(() => core.open([GREEN]));
    expect(opened.every((s) => s !== null)).to.equal(true);
    expect([core.openSessions, core.open([GREEN]), core.maxSessions]).to.deep.equal([3, null, 3]);
    opened[1]?.close();
    opened[1]?.close();
    expect(core.openSessions).to.equal(2);
    const again = core.open([GREEN]);
    expect(again).not.to.equal(null);
    for (const s of [...opened, again]) s?.close();
    expect(core.openSessions).to.equal(0);
  });

  it('reserves at most 64 KiB for a session', () => {
    expect(core.bytesPerSession).to.be.at.most(65536);
  });

  it('counts how full its lanes are', () => {
    const { points, filled } = core.lanes;
    const session = core.open([{ modality: 'accel', sampleRateHz: 50, numChannels: 3 }]);
    if (!session) throw new Error('the core is full');
    pushAll(session, 0, 50, noise(3 * 50, 1));
    session.close();
    expect(core.lanes).to.deep.equal({ points: points + 4 * 50, filled: filled + 3 * 50 });
  });

  it('keeps no data of the previous session in a slot', () => {
    const values = ppg(13, 50, 66);
    const first = rateOf(values);
    rateOf(noise(650, 4).map((v) => v * 1e9));
    expect(rateOf(values)).to.deep.equal(first);
    expect(first?.value).to.be.closeTo(66, 1);
  });

  it('keeps sessions apart, in one batch and one by one', () => {
    const rates = [55, 80, 140];
    const sessions = rates.map((bpm) => {
      const session = core.open([GREEN]);
      if (!session) throw new Error('the core is full');
      pushAll(session, 0, 50, ppg(12, 50, bpm));
      return session;
    });
    const ends = [8, 9, 10, 11, 12];
    const batches = ends.map((end) =>
      core.step(sessions.map((session) => ({ session, estimator: 'hr_ppg' as const, end }))),
    );
    for (const s of sessions) s.close();
    rates.forEach((bpm, i) => {
      expect(batches[4]?.[i]?.value).to.be.closeTo(bpm, 1.5);
      const alone = core.open([GREEN]);
      if (!alone) throw new Error('the core is full');
      pushAll(alone, 0, 50, ppg(12, 50, bpm));
      const one = ends.map((end) => core.step([{ session: alone, estimator: 'hr_ppg', end }])[0]);
      alone.close();
      expect(batches.map((b) => b[i])).to.deep.equal(one);
    });
  });

  it('answers requests in their order, null for a closed session and for one of another core', async () => {
    const other = (await createCore({ maxSessions: 1 })).open([GREEN]);
    const [session, closed] = [core.open([GREEN]), core.open([GREEN])];
    if (!other || !closed || !session) throw new Error('a core is full');
    pushAll(session, 0, 50, ppg(8, 50, 72));
    closed.close();
    const answers = core.step([closed, session, other].map((s) => ({ session: s, estimator: 'hr_ppg', end: 8 })));
    expect(answers.map((a) => a !== null)).to.deep.equal([false, true, false]);
    session.close();
  });

  it('answers a batch longer than the request area', () => {
    const session = core.open([GREEN]);
    if (!session) throw new Error('the core is full');
    pushAll(session, 0, 50, ppg(9, 50, 72));
    const answers = core.step(Array.from({ length: 1300 }, () => ({ session, estimator: 'hr_ppg', end: 9 })));
    expect(answers.length).to.equal(1300);
    expect(answers.every((a) => a !== null)).to.equal(true);
    session.close();
  });

  it('accepts a payload longer than its staging area, with the same result as in pieces', () => {
    const channels: CoreChannel[] = [{ modality: 'ppg', sampleRateHz: 1000, numChannels: 3 }];
    const long = ppg(10, 1000, 61).flatMap((v) => [v, v / 2, Number.NaN]);
    const [whole, pieces] = [core.open(channels), core.open(channels)];
    if (!whole || !pieces) throw new Error('the core is full');
    whole.push(0, 0, 0.001, ENCODING.float32, payload(long));
    for (let i = 0; i < 10_000; i += 100) {
      pieces.push(0, i * 0.001, 0.001, ENCODING.float32, payload(long.slice(3 * i, 3 * (i + 100))));
    }
    const [a, b] = core.step([whole, pieces].map((session) => ({ session, estimator: 'hr_ppg', end: 10 })));
    expect(a?.value).to.be.closeTo(61, 1);
    expect(b).to.deep.equal(a);
    whole.close();
    pieces.close();
  });

  it('ignores part of an instant, channels that were not opened, and everything after close', () => {
    const session = core.open([GREEN]);
    if (!session) throw new Error('the core is full');
    expect(session.push(0, 0, 0.02, ENCODING.float32, payload([Number.NaN]).subarray(0, 3))).to.equal(0);
    expect(session.push(0, 0, 0.02, ENCODING.float32, payload([Number.NaN, 1]))).to.equal(1);
    expect(session.push(1, 0, 0.02, ENCODING.float32, payload([Number.NaN]))).to.equal(0);
    session.close();
    expect(session.push(0, 1, 0.02, ENCODING.float32, payload([Number.NaN]))).to.equal(0);
    expect(session.readPeaks(0).length).to.equal(0);
  });

  it('opens a session with more channels and sub-channels than it can store', () => {
    const kinds = ['ppg', 'ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp'] as const;
    const channels = [...kinds, ...kinds].map((modality) => ({ modality, sampleRateHz: 50, numChannels: 6 }));
    const session = core.open(channels);
    if (!session) throw new Error('the core is full');
    const values = ppg(12, 50, 90).flatMap((v) => [v, v, v, v, v, v]);
    channels.forEach((_, c) => {
      session.push(c, 0, 0.02, ENCODING.float32, payload(values));
    });
    const answers = core.step(ESTIMATORS.map((estimator) => ({ session, estimator, end: 12 })));
    expect(answers[0]?.value).to.be.closeTo(90, 2);
    session.close();
  });
});
