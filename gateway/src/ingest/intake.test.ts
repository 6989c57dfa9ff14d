import { FRAME_ERRORS } from '@device-insights/contract/ingest';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import fc from 'fast-check';
import type { SampleRun } from '../analysis/sample-run.js';
import type { SessionProgress } from '../store/store.js';
import type { Frame } from './frame.js';
import { channel, int16 } from './frames.fixture.js';
import { Intake, NO_PROGRESS, splitAtSeconds } from './intake.js';
import { type Notice, Notices } from './notices.js';

const T0 = 1_763_600_000_000;

interface Run extends SampleRun {
  readonly instants: number;
}

function open({ channels = [channel(), channel()], progress = NO_PROGRESS as SessionProgress } = {}) {
  const clock = new ManualClock(T0);
  const runs: Run[] = [];
  const notices: Notice[] = [];
  const intake = new Intake({
    channels,
    clock,
    progress,
    notices: new Notices(clock, (notice) => notices.push(notice)),
  });
  const keep = (found: readonly SampleRun[]) =>
    void runs.push(...found.map((run) => ({ ...run, instants: run.payload.length / 2 })));
  const receive = (frame: Frame) => {
    const found = intake.receive(frame);
    if ('fault' in found) return found.fault;
    keep(found);
    return null;
  };
  const send = (seq: number, instants: number, fields: Partial<Frame> = {}) =>
    receive({
      channel: 0,
      seq,
      instants,
      ts: T0 + seq * 10,
      encoding: 1,
      payload: int16(...new Array<number>(instants).fill(seq % 1000)),
      ...fields,
    });
  const flush = () => keep(intake.flush());
  return { clock, intake, runs, notices, send, receive, flush };
}

describe('Intake', () => {
  it('turns frames into runs with times, spacing, encoding and losses', () => {
    const { send, runs, flush } = open();
    send(0, 50);
    send(60, 20);
    flush();
    const [first, second] = runs;
    expect(first).to.include({ channel: 0, t: T0, period: 10, lost: 0, encoding: 1, instants: 50 });
    expect(second).to.include({ channel: 0, lost: 10, instants: 20 });
    expect(second?.t).to.be.closeTo(T0 + 600, 1);
  });

  it('splits runs at whole seconds after the first instant of the session', () => {
    const { send, runs } = open();
    send(0, 30, { ts: T0 + 123 });
    send(30, 300, { ts: T0 + 423 });
    expect(runs.map(({ t, instants }) => [Math.round(t - T0), instants])).to.deep.equal([
      [123, 30],
      [423, 70],
      [1123, 100],
      [2123, 100],
      [3123, 30],
    ]);
  });

  it('splits the other channels at the same seconds', () => {
    const { send, runs } = open();
    send(0, 10);
    send(0, 100, { channel: 1, ts: T0 + 500 });
    expect(runs.filter((run) => run.channel === 1).map(({ instants }) => instants)).to.deep.equal([50, 50]);
  });

  it('shifts device times by the shift of the session', () => {
    const { send, runs } = open({ progress: { ...NO_PROGRESS, clockShift: -5000 } });
    send(0, 10, { ts: T0 + 5000 });
    expect(runs[0]?.t).to.equal(T0);
  });

  it('refuses times more than 60 s in the future, after the shift', () => {
    const { send } = open({ progress: { ...NO_PROGRESS, clockShift: -5000 } });
    expect(send(0, 10, { ts: T0 + 65_001 })).to.equal('in_future');
    expect(send(0, 10, { ts: T0 + 65_000 })).to.equal(null);
  });

  it('uses no data of a frame from the future', () => {
    const { send, intake, runs } = open();
    send(0, 10, { ts: T0 + 70_000 });
    expect(runs).to.deep.equal([]);
    expect(intake.nextSeq()).to.deep.equal({});
    expect(intake.progress()).to.deep.equal(NO_PROGRESS);
  });

  const WEEK = 604_800_000;
  const stored: Record<string, (k: number) => number | null> = {
    'frames without ts': (k) => (k < 1 ? null : T0 - WEEK + 1000 * k),
    'several frames without ts': (k) => (k < 2 ? null : T0 - WEEK + 1000 * k),
    'a frame with the present time': (k) => (k < 1 ? T0 - 1000 : T0 - WEEK + 1000 * k),
    'minutes of newer data': (k) => (k < 200 ? T0 + 1000 * (k - 200) : T0 - WEEK + 1000 * k),
    'data of the last minutes that follow a frame without ts': (k) => (k < 1 ? null : T0 + 1000 * (k - 400)),
    'a frame with ts, and have none': (k) => (k < 1 ? T0 - 1000 : null),
  };
  for (const [first, ts] of Object.entries(stored))
    it(`refuses stored data that follow ${first}, in place of squeezing them into the future`, () => {
      const { send, runs } = open();
      const answers = Array.from({ length: 400 }, (_, k) => send(100 * k, 100, { ts: ts(k) }));
      const accepted = answers.filter((answer) => answer === null).length;
      expect(accepted - (answers.lastIndexOf(null) + 1), 'accepted after a refusal').to.equal(0);
      expect(new Set(answers)).to.deep.equal(new Set([null, 'too_fast']));
      expect(runs.reduce((sum, { instants, period }) => sum + instants * period, 0)).to.be.closeTo(1000 * accepted, 20);
      expect(Math.max(...runs.map(({ t, instants, period }) => t + instants * period)) - T0).to.be.below(3000);
    });

  it('after such a refusal places data at their arrival again, whether their ts are right by then or not', () => {
    for (const behind of [0, WEEK]) {
      const { clock, send, runs } = open();
      for (let k = 0; k < 300; k++) send(100 * k, 100, { ts: k < 1 ? null : T0 - WEEK + 1000 * k });
      runs.length = 0;
      for (let k = 300; k < 330; k++) {
        clock.advance(1000);
        send(100 * k, 100, { ts: clock.now() - 1000 - behind });
      }
      const last = runs.at(-1);
      expect(runs.length).to.be.at.least(25);
      expect((last?.t ?? 0) + (last?.instants ?? 0) * 10 - clock.now()).to.be.within(-1000, 2500);
    }
  });

  it('takes all of a recording in which the clock was set back, as long as none of it is ahead of arrival', () => {
    const { send, runs } = open();
    for (let k = 0; k < 600; k++)
      expect(send(100 * k, 100, { ts: T0 - WEEK + 1000 * k - (k < 300 ? 0 : 120_000) })).to.equal(null);
    expect(runs.at(-1)?.t).to.be.closeTo(T0 - WEEK + 599_000, 1);
  });

  it('takes all packets of a streaming device whose frames have the time of their packet', () => {
    const { clock, send } = open();
    for (let k = 0; k < 200; k++) {
      if (k % 20 === 0) clock.advance(20_000);
      expect(send(100 * k, 100, { ts: T0 + 20_000 * Math.floor(k / 20) })).to.equal(null);
    }
  });

  it('takes the bursts of a streaming device whose clock was ahead and is then set back', () => {
    const { clock, send, runs } = open();
    for (let k = 0; k < 120; k++) {
      if (k % 10 === 9) clock.advance(10_000);
      else continue;
      for (let i = k - 9; i <= k; i++)
        expect(send(100 * i, 100, { ts: T0 + 1000 * i + (i < 60 ? 20_000 : -600_000) })).to.equal(null);
    }
    expect(runs.at(-1)?.t).to.be.closeTo(T0 + 139_000, 1);
  });

  it('refuses only once what a clock was ahead by, if it is set back within a burst', () => {
    const { clock, send } = open();
    const answers = Array.from({ length: 600 }, (_, k) => {
      if (k % 10 === 9) clock.advance(10_000);
      return send(100 * k, 100, { ts: T0 + 1000 * k - (k < 300 ? 0 : 3_600_000) });
    });
    expect(answers.filter((answer) => answer === 'too_fast').length).to.be.within(1, 9);
    expect(answers.lastIndexOf('too_fast')).to.be.below(309);
  });

  it('places no data ahead of their arrival when a clock is set back in two steps, and corrected again', () => {
    const { clock, send, runs } = open();
    const set = [0, -1_800_000, -3_600_000, 0];
    for (let k = 0; k < 400; k++) {
      clock.advance(100);
      send(10 * k, 10, { ts: T0 + 100 * k + (set[Math.floor(k / 100)] ?? 0) });
    }
    expect(runs.every(({ t, instants }, i) => t <= T0 + 100 * (i + 1) && instants === 10)).to.equal(true);
  });

  for (const from of [150, 300])
    it(`lets no time go back at another gateway after a clock was set back (from frame ${from} of 200 on)`, () => {
      const back = (k: number) => (k < 200 ? 0 : -3_600_000);
      const first = open();
      const second = (progress: SessionProgress) => open({ progress });
      const stream = ({ clock, send }: ReturnType<typeof open>, begin: number, end: number) => {
        for (let k = begin; k < end; k++) {
          clock.advance(100);
          send(10 * k, 10, { ts: T0 + 100 * k + back(k) });
        }
      };
      stream(first, 0, 300);
      const { slips } = first.intake.progress();
      expect(slips).to.deep.equal({ 0: { seq: 2000, ms: 3_600_000, lead: 0 } });
      const other = second(JSON.parse(JSON.stringify(first.intake.progress())) as SessionProgress);
      other.clock.advance(30_000);
      stream(other, from, 500);
      for (const [i, { t }] of other.runs.entries()) expect(t - T0).to.be.closeTo(100 * (from + i), 1);
      expect(other.intake.progress().slips?.[0]?.ms).to.equal(3_600_000);
    });

  it('adds nothing at another gateway if the clock was corrected meanwhile, whose time would lie ahead of arrival', () => {
    const set = (gateway: ReturnType<typeof open>, begin: number, end: number, back: (k: number) => number) => {
      for (let k = begin; k < end; k++) {
        gateway.clock.advance(100);
        gateway.send(10 * k, 10, { ts: T0 + 100 * k - back(k) });
      }
    };
    const first = open();
    set(first, 0, 300, (k) => (k < 200 ? 0 : 30_000));
    const { slips } = first.intake.progress();
    expect(slips?.[0]?.ms).to.equal(30_000);
    const other = open({ progress: first.intake.progress() });
    other.clock.advance(30_000);
    set(other, 300, 400, () => 0);
    for (const [i, { t }] of other.runs.entries()) expect(t - T0).to.be.closeTo(100 * (300 + i), 1);
    expect(other.intake.progress()).not.to.have.property('slips');
  });

  it('lets no time go back at another gateway if the clock was ahead of arrival before it was set back', () => {
    const first = open();
    const ahead = (k: number) => (k < 200 ? 40_000 : 0);
    for (let k = 0; k < 300; k++) {
      first.clock.advance(100);
      first.send(10 * k, 10, { ts: T0 + 100 * k + ahead(k) });
    }
    const other = open({ progress: first.intake.progress() });
    other.clock.advance(30_000);
    for (let k = 300; k < 400; k++) {
      other.clock.advance(100);
      other.send(10 * k, 10, { ts: T0 + 100 * k });
    }
    for (const [i, { t }] of other.runs.entries()) expect(t - T0).to.be.closeTo(40_000 + 100 * (300 + i), 1);
  });

  it('forgets what a clock was set back by once it is corrected', () => {
    const { clock, send, intake } = open();
    const set = [0, -3_600_000, 0];
    for (let k = 0; k < 300; k++) {
      clock.advance(100);
      send(10 * k, 10, { ts: T0 + 100 * k + (set[Math.floor(k / 100)] ?? 0) });
    }
    expect(intake.progress()).not.to.have.property('slips');
  });

  it('answers too_late before in_future', () => {
    const { send } = open();
    send(100, 10);
    expect(send(0, 10, { ts: T0 + 70_000 })).to.equal('too_late');
  });

  it('counts time from the arrival of the first frame if the device has no clock, with one origin for all channels', () => {
    const { send, runs, clock, intake } = open();
    clock.advance(250);
    send(5, 10, { ts: null });
    clock.advance(777);
    send(5, 10, { ts: null, channel: 1 });
    send(15, 10, { ts: null });
    expect(runs.map(({ channel: c, t }) => [c, t - T0])).to.deep.equal([
      [0, 250],
      [1, 250],
      [0, 350],
    ]);
    expect(intake.progress().originWithoutClock).to.equal(T0 + 200);
  });

  it('keeps the origin that the session had in another gateway', () => {
    const { send, runs } = open({
      progress: { ...NO_PROGRESS, originWithoutClock: T0 - 60_000, firstInstant: T0 - 60_000 },
    });
    send(3000, 10, { ts: null });
    expect(runs[0]?.t).to.equal(T0 - 30_000);
  });

  it('keeps the seconds that the session had in another gateway', () => {
    const { send, runs, intake } = open({ progress: { ...NO_PROGRESS, firstInstant: T0 - 10_300 } });
    send(0, 100);
    expect(runs.map(({ instants }) => instants)).to.deep.equal([70, 30]);
    expect(intake.progress().firstInstant).to.equal(T0 - 10_300);
  });

  it('gives the next numbers of the channels that have begun', () => {
    const { send, intake } = open({ channels: [channel(), channel(), channel()] });
    send(0, 10);
    send(7, 10, { channel: 2 });
    expect(intake.nextSeq()).to.deep.equal({ 0: 10, 2: 17 });
  });

  it('keeps in its progress the stored values of channels that have not begun again', () => {
    const { send, intake } = open({ progress: { ...NO_PROGRESS, nextSeq: { 0: 500, 1: 700 } } });
    send(520, 10);
    expect(intake.progress().nextSeq).to.deep.equal({ 0: 530, 1: 700 });
    expect(intake.nextSeq()).to.deep.equal({ 0: 530 });
  });

  it('records the arrival of the last new data, not of repeated data', () => {
    const { send, intake, clock } = open();
    send(0, 10);
    clock.advance(1000);
    send(0, 10);
    expect(intake.progress().lastDataAt).to.equal(T0);
  });

  it('counts the data time to acknowledge by the channel that has most', () => {
    const { send, intake } = open();
    send(0, 100);
    send(0, 10, { channel: 1 });
    send(0, 100);
    expect(intake.unacknowledgedMs).to.equal(1000);
    intake.acknowledged();
    expect(intake.unacknowledgedMs).to.equal(0);
  });

  it('gives up gaps when all channels together hold much data behind them', () => {
    const { send, intake } = open({ channels: Array.from({ length: 64 }, () => channel({ sample_rate_hz: 10_000 })) });
    for (let seq = 0; seq < 300; seq += 2) for (let index = 0; index < 64; index++) send(seq, 1, { channel: index });
    expect(Object.values(intake.nextSeq()).filter((next) => next === 1)).to.deep.equal([]);
  });

  it('takes two equal losses for no rate', () => {
    const { notices, send } = open();
    for (let k = 0; k < 60; k++) send(50 * k, 50, { ts: T0 + 500 * (k + Math.min(2, Math.max(0, k - 30))) });
    expect(notices).to.deep.equal([]);
  });

  it('sends a notice after 10 s if the rate is more than 5 % off, again every 10 s, and when that is over', () => {
    const { clock, send, notices } = open();
    let ts = T0;
    for (let k = 0; k < 600; k++) {
      send(10 * k, 10, { ts });
      ts += k < 300 ? 110 : 100;
      clock.advance(k < 300 ? 110 : 100);
    }
    expect(notices.length).to.be.within(4, 6);
    expect(notices.every(({ code, channel: index }) => code === 'rate_off' && index === 0)).to.equal(true);
    expect(notices.findIndex(({ over }) => over)).to.equal(notices.length - 1);
    expect(notices[0]).to.include({ declared_hz: 100 });
    expect(notices[0]?.measured_hz).to.be.closeTo(90.9, 1);
    expect(notices[0]?.detail).to.contain('sample_rate_hz');
  });

  it('sends it too if the rate is so far off that each frame seems to be followed by a gap', () => {
    for (const jitter of [0, 40]) {
      const { clock, send, notices } = open();
      for (let k = 0; k < 30; k++) {
        clock.advance(2000);
        send(100 * k, 100, { ts: T0 + 2000 * k + jitter * ((k * 7) % 3) });
      }
      expect(new Set(notices.map(({ code }) => code))).to.deep.equal(new Set(['rate_off']));
      expect(notices[0]?.measured_hz).to.be.closeTo(50, 5);
    }
  });

  it('also sends that notice during back-fill, and none for a rate that is 4 % off', () => {
    const { send, notices } = open();
    for (let k = 0; k < 200; k++) send(10 * k, 10, { ts: T0 - 60_000 + 110 * k });
    for (let k = 0; k < 200; k++) send(10 * k, 10, { ts: T0 - 60_000 + 104 * k, channel: 1 });
    expect(notices.map(({ code, channel: index }) => [code, index])).to.deep.equal([['rate_off', 0]]);
  });

  it('reports stamps of whole seconds, and no rate that they do not tell', () => {
    const { clock, send, notices } = open();
    for (let k = 0; k < 600; k++) {
      send(20 * k, 20, { ts: k < 300 ? T0 + 1000 * Math.floor(k / 5) : T0 + 200 * k });
      clock.advance(200);
    }
    expect(new Set(notices.map(({ code }) => code))).to.deep.equal(new Set(['ts_unsteady']));
    expect(notices.findIndex(({ over }) => over)).to.equal(notices.length - 1);
  });

  it('reports stamps in seconds, and trusts no time that they give', () => {
    const { clock, send, notices, runs } = open();
    for (let k = 0; k < 45; k++) {
      send(20 * k, 20, { ts: T0 + 0.2 * k });
      clock.advance(200);
    }
    expect(new Set(notices.map(({ code }) => code))).to.deep.equal(new Set(['ts_unsteady']));
    expect(runs.slice(20).filter(({ trusted }) => trusted)).to.deep.equal([]);
  });

  it('reports the rate, and no unsteady stamps, if data come twice as fast with stamps that are rounded to 0.2 s', () => {
    const { clock, send, notices } = open();
    for (let k = 0; k < 1200; k++) {
      clock.advance(50.6);
      send(10 * k, 10, { ts: T0 + 200 * Math.floor((50.6 * k) / 200) });
    }
    expect(new Set(notices.map(({ code }) => code))).to.deep.equal(new Set(['rate_off']));
    for (const { measured_hz } of notices) expect(measured_hz).to.be.closeTo(197.6, 2);
  });

  it('reports stamps that go back, as of a clock that is set, and uses their data on', () => {
    const { clock, send, notices, runs } = open();
    for (let k = 0; k < 40; k++) {
      send(20 * k, 20, { ts: T0 + 200 * k - (k < 20 ? 0 : 3_600_000) });
      clock.advance(200);
    }
    expect(notices.map(({ code, back_ms }) => [code, back_ms])).to.deep.equal([['ts_back', 3_599_800]]);
    expect(runs.at(-1)?.t).to.be.closeTo(T0 + 200 * 39, 200);
  });

  it('trusts no samples in reverse order, and reports them until they are in order again', () => {
    const { clock, send, notices, runs } = open();
    for (let k = 0; k < 120; k++) {
      const samples = Array.from({ length: 20 }, (_, i) => Math.round(1000 * Math.sin((k * 20 + i) / 13)));
      send(20 * k, 20, { payload: int16(...(k < 60 ? samples.reverse() : samples)) });
      clock.advance(200);
    }
    expect(notices[0]).to.include({ code: 'order_wrong', channel: 0 });
    expect(notices.findIndex(({ over }) => over)).to.equal(notices.length - 1);
    const trustedAt = (s: number) =>
      runs.filter(({ t }) => Math.floor((t - T0) / 1000) === s).map(({ trusted }) => trusted);
    expect(new Set(trustedAt(11))).to.deep.equal(new Set([false]));
    expect(new Set(trustedAt(23))).to.deep.equal(new Set([true]));
  });

  it('uses data time once that one of the channels delivers twice, and reports it', () => {
    const { send, notices, runs, intake } = open();
    const samples = (k: number) =>
      int16(...Array.from({ length: 10 }, (_, i) => Math.round(900 * Math.sin((10 * k + i) / 9) + 5 * ((k * i) % 7))));
    let seq = 0;
    for (let packet = 0; packet < 60; packet++) {
      for (let copy = 0; copy < 2; copy++)
        for (let k = 5 * packet; k < 5 * packet + 5; k++, seq += 10)
          send(seq, 10, { ts: T0 - 60_000 + 100 * k, payload: samples(k) });
      for (let k = 5 * packet; k < 5 * packet + 5; k++)
        send(10 * k, 10, { channel: 1, ts: T0 - 60_000 + 100 * k, payload: samples(k) });
    }
    for (const index of [0, 1]) {
      const ofChannel = runs.filter(({ channel: c }) => c === index);
      expect(ofChannel.reduce((sum, { instants }) => sum + instants, 0)).to.equal(3000);
      expect(ofChannel.every(({ t, trusted }, i) => trusted && Math.abs(t - (T0 - 60_000 + 100 * i)) < 1)).to.equal(
        true,
      );
    }
    expect(intake.nextSeq()).to.deep.equal({ 0: 6000, 1: 3000 });
    expect(notices.map(({ code, channel: index }) => [code, index])).to.deep.equal([['frames_overlap', 0]]);
  });

  for (const { code, step, seconds } of [
    { code: 'frames_overlap', step: 1, seconds: 5 },
    { code: 'all_lost', step: 20, seconds: 5 },
    { code: 'all_lost', step: 60, seconds: 5 },
    { code: 'all_duplicates', step: 0, seconds: 10 },
  ])
    it(`reports ${code} alone in data that arrive at once, by ${seconds} s of data time (steps of ${step})`, () => {
      const { send, notices } = open();
      for (let k = 0; k < 600; k++) {
        send(step * k, 10, { ts: T0 - 60_000 + 100 * k });
        if (k === 10 * seconds) expect(notices.map((notice) => notice.code)).to.deep.equal([code]);
      }
      expect(notices.map((notice) => notice.code)).to.deep.equal([code]);
    });

  it('reports numbers that start again with new data, although these arrive at once, but no re-sent data', () => {
    const { send, notices } = open();
    for (let k = 0; k < 600; k++) send(10 * (k % 100), 10, { ts: T0 - 60_000 + 100 * k });
    expect(notices.map(({ code }) => code)).to.deep.equal(['all_duplicates']);
    const other = open();
    for (let k = 0; k < 1200; k++) other.send(10 * (k % 600), 10, { ts: T0 - 60_000 + 100 * (k % 600) });
    expect(other.notices).to.deep.equal([]);
  });

  it('takes back a rate that faulty numbers turn out to explain', () => {
    const { send, notices } = open();
    const numbers = (k: number) => (k < 150 ? 10 * k : 1500 + 30 * (k - 150));
    for (let k = 0; k < 300; k++) send(numbers(k), 10, { ts: T0 - 90_000 + 110 * k });
    const codes = notices.map(({ code, over }) => [code, over]);
    expect(codes.slice(0, 3)).to.deep.equal([
      ['rate_off', undefined],
      ['rate_off', true],
      ['all_lost', undefined],
    ]);
  });

  it('measures a rate to 1 % before it reports it, with stamps that jitter and without stamps', () => {
    for (const withStamps of [true, false])
      for (const hz of [50, 90, 197.4]) {
        const { clock, send, notices } = open();
        const noise = (k: number) => 60 * ((k * 0.618033988749895) % 1);
        for (let k = 0; (k * 10) / hz < 60; k++) {
          const at = (k * 10_000) / hz + noise(k);
          if (T0 + at > clock.now()) clock.advance(T0 + at - clock.now());
          send(10 * k, 10, { ts: withStamps ? T0 + at : null });
        }
        expect(notices.length).to.be.within(4, 6);
        for (const { code, measured_hz } of notices) {
          expect(code).to.equal('rate_off');
          expect(measured_hz).to.be.closeTo(hz, hz / 100);
        }
      }
  });

  it('sends a notice about numbers that do not count instants, and when they do again', () => {
    const { clock, send, notices } = open();
    for (let k = 0; k < 200; k++) {
      send(k < 120 ? 0 : 10 * k, 10, { ts: T0 + 100 * k });
      clock.advance(100);
    }
    expect(notices.map(({ code, over }) => [code, over])).to.deep.equal([
      ['all_duplicates', undefined],
      ['all_duplicates', true],
    ]);
  });

  it('handles times of any age and size', () => {
    for (const ts of [-8.64e15, -1, 0, 5e-324]) {
      const { send, runs } = open();
      expect(send(0, 1000, { ts })).to.equal(null);
      expect(send(1000, 1000, { ts: ts + 10_000 })).to.equal(null);
      expect(runs.reduce((sum, { instants }) => sum + instants, 0)).to.equal(2000);
    }
  });

  it('gives runs in ascending time per channel, or a documented code, for any frames', () => {
    const frame = fc.record({
      channel: fc.nat(2),
      seq: fc.oneof(fc.nat(600), fc.nat(2 ** 32 - 60)),
      instants: fc.integer({ min: 1, max: 50 }),
      ts: fc.oneof(
        fc.constant(null),
        fc.integer({ min: T0 - 5000, max: T0 + 5000 }),
        fc.double({ min: -8.64e15, max: 1e308, noNaN: true }),
      ),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 50 }), (frames) => {
        const { runs, flush, receive } = open();
        for (const f of frames) {
          const code = receive({ ...f, encoding: 1, payload: new Uint8Array(f.instants * 2) });
          if (code !== null) expect(FRAME_ERRORS).to.include(code);
        }
        flush();
        for (const index of [0, 1]) {
          let end = Number.NEGATIVE_INFINITY;
          for (const { t, period, instants } of runs.filter((run) => run.channel === index)) {
            expect(t).to.be.greaterThan(end);
            expect(period).to.be.greaterThan(0);
            end = t + (instants - 1) * period;
          }
        }
      }),
    );
  });
});

describe('splitAtSeconds', () => {
  it('terminates on slow channels with one instant in many seconds', () => {
    const run = {
      channel: 0,
      t: T0,
      period: 10_000,
      trusted: true,
      lost: 3,
      encoding: 1,
      payload: new Uint8Array(8),
    } as const;
    const parts = splitAtSeconds(run, 4, T0 - 123);
    expect(parts.map(({ t, lost }) => [t - T0, lost])).to.deep.equal([
      [0, 3],
      [10_000, 0],
      [20_000, 0],
      [30_000, 0],
    ]);
  });
});
