import { expect } from 'chai';
import {
  type Core,
  type CoreChannel,
  createCore,
  ENCODING,
  type Encoding,
  type Estimate,
  type StepRequest,
} from './core.js';
import { ESTIMATORS } from './estimators.js';
import { noise, opened, payload, ppg, pushAll } from './signals.js';

const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: 50, numChannels: 1 };

describe('core', () => {
  let core: Core;

  before(async () => {
    core = await createCore({ maxSessions: 3 });
  });

  /** The heart rate at 12 s of a fresh session that was pushed these values. */
  function rateOf(values: readonly number[]): Estimate | null {
    const session = opened(core, [GREEN]);
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

  it('reserves at most 74,816 bytes for a session', () => {
    expect(core.bytesPerSession).to.be.at.most(74_816);
  });

  it('counts how full its lanes are', () => {
    const { points, filled } = core.lanes;
    const session = opened(core, [{ modality: 'accel', sampleRateHz: 50, numChannels: 3 }]);
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
      const session = opened(core, [GREEN]);
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
      const alone = opened(core, [GREEN]);
      pushAll(alone, 0, 50, ppg(12, 50, bpm));
      const one = ends.map((end) => core.step([{ session: alone, estimator: 'hr_ppg', end }])[0]);
      alone.close();
      expect(batches.map((b) => b[i])).to.deep.equal(one);
    });
  });

  it('answers requests in their order, null for a closed session and for one of another core', async () => {
    const other = opened(await createCore({ maxSessions: 1 }), [GREEN]);
    const [session, closed] = [opened(core, [GREEN]), opened(core, [GREEN])];
    pushAll(session, 0, 50, ppg(8, 50, 72));
    closed.close();
    const answers = core.step([closed, session, other].map((s) => ({ session: s, estimator: 'hr_ppg', end: 8 })));
    expect(answers.map((a) => a !== null)).to.deep.equal([false, true, false]);
    session.close();
  });

  it('accepts a payload longer than its staging area, with the same result as in pieces', () => {
    const channels: CoreChannel[] = [{ modality: 'ppg', sampleRateHz: 1000, numChannels: 3 }];
    const long = ppg(10, 1000, 61).flatMap((v) => [v, v / 2, Number.NaN]);
    const [whole, pieces] = [opened(core, channels), opened(core, channels)];
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

  it('refuses arguments out of range, and opens or runs nothing then', async () => {
    const session = opened(core, [GREEN, { ...GREEN, modality: 'accel', numChannels: 3 }]);
    const { float32, int16 } = ENCODING;
    const bytes = payload([Number.NaN]);
    const open = (channel: object) => () => core.open([GREEN, { ...GREEN, ...channel } as CoreChannel]);
    const step = (request: object) => () =>
      core.step([{ session, estimator: 'hr_ppg', end: 8, ...request } as StepRequest]);
    const refused: [() => unknown, ErrorConstructor, RegExp][] = [
      [open({ modality: 'ppg_blue' }), RangeError, /^channels\[1\]\.modality is "ppg_blue"; it must be one of ppg, /],
      [open({ modality: 'toString' }), RangeError, /modality is "toString"/],
      [open({ sampleRateHz: 0 }), RangeError, /^channels\[1\]\.sampleRateHz is 0; it must be a rate above 0 Hz/],
      [open({ sampleRateHz: Number.NaN }), RangeError, /sampleRateHz is NaN/],
      [open({ numChannels: 65 }), RangeError, /^channels\[1\]\.numChannels is 65; it must be a whole number from 1/],
      [open({ numChannels: 1.5 }), RangeError, /numChannels is 1\.5/],
      [() => core.open('ppg' as never), TypeError, /^channels must be an array/],
      [() => session.push(2, 0, 0.02, float32, bytes), RangeError, /^channel is 2; the session has 2 channels/],
      [() => session.push(-1, 0, 0.02, float32, bytes), RangeError, /^channel is -1/],
      [() => session.push(0, Number.NaN, 0.02, float32, bytes), RangeError, /^t is NaN/],
      [() => session.push(0, 0, 0, float32, bytes), RangeError, /^period is 0/],
      [() => session.push(0, 0, 0.02, 5 as Encoding, bytes), RangeError, /^encoding is 5; it must be a value of ENC/],
      [() => session.push(0, 0, 0.02, float32, bytes.subarray(1)), RangeError, /3 bytes; .*whole instants of 4 bytes/],
      [() => session.push(1, 0, 0.02, int16, bytes), RangeError, /of 6 bytes \(3 samples of 2\)/],
      [() => session.push(0, 0, 0.02, float32, [1, 2, 3, 4] as never), TypeError, /^payload must be a Uint8Array/],
      [() => session.readPeaks(2), RangeError, /^channel is 2/],
      [step({ estimator: 'hr' }), RangeError, /^estimator is "hr"; it must be one of hr_ppg, /],
      [step({ end: 8.5 }), RangeError, /^end is 8\.5; it must be a whole number of seconds/],
      [step({ session: {} }), TypeError, /^session must be one that open\(\) has returned/],
    ];
    for (const [call, kind, text] of refused) expect(call).to.throw(kind, text);
    expect(core.openSessions).to.equal(1);
    session.close();
  });

  it('refuses a number of sessions that is not whole, or needs too much memory', async () => {
    const refusal = (maxSessions: number) => createCore({ maxSessions }).catch((error: unknown) => error);
    for (const maxSessions of [0, -1, 1.5, Number.NaN])
      expect(await refusal(maxSessions))
        .to.be.instanceOf(RangeError)
        .with.property('message')
        .that.matches(/whole number/);
    expect(await refusal('4' as never)).to.be.instanceOf(TypeError);
    expect(await refusal(10_000_000))
      .to.be.instanceOf(RangeError)
      .with.property('message')
      .that.matches(/at most \d+$/);
  });

  it('ignores everything after close', () => {
    const session = opened(core, [GREEN]);
    expect(session.push(0, 0, 0.02, ENCODING.float32, payload([Number.NaN, 1]))).to.equal(1);
    session.close();
    expect(session.push(0, 1, 0.02, ENCODING.float32, payload([Number.NaN]))).to.equal(0);
    expect(session.readPeaks(0).length).to.equal(0);
  });

  it('opens a session with more channels and sub-channels than it can store', () => {
    const kinds = ['ppg', 'ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp'] as const;
    const channels = [...kinds, ...kinds].map((modality) => ({ modality, sampleRateHz: 50, numChannels: 6 }));
    const session = opened(core, channels);
    const values = ppg(12, 50, 90).flatMap((v) => [v, v, v, v, v, v]);
    channels.forEach((_, c) => {
      session.push(c, 0, 0.02, ENCODING.float32, payload(values));
    });
    const answers = core.step(ESTIMATORS.map((estimator) => ({ session, estimator, end: 12 })));
    expect(answers[0]?.value).to.be.closeTo(90, 2);
    session.close();
  });
});
