import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import type { SampleRun } from '../analysis/sample-run.js';
import type { ModalityChannel } from '../store/store.js';
import { Notices } from './notices.js';
import { Trace } from './trace.js';

const CHANNEL: ModalityChannel = { ch_id: '1', modality: 'ppg', sample_rate_hz: 10, bit_depth: 16, num_channels: 2 };
const PERIOD = 100;

describe('the trace of a session', () => {
  let clock: ManualClock;
  let notices: Notices;
  let trace: Trace;

  beforeEach(() => {
    clock = new ManualClock(5000);
    notices = new Notices(clock, () => undefined);
    trace = new Trace([CHANNEL, { ...CHANNEL, num_channels: 1 }], clock, notices);
  });

  const run = (channel: number, t: number, samples: readonly number[], encoding: SampleRun['encoding'] = 1) => {
    const bytes = { 1: 2, 2: 3, 3: 4, 4: 4 }[encoding];
    const payload = new Uint8Array(samples.length * bytes);
    const view = new DataView(payload.buffer);
    for (const [i, value] of samples.entries()) {
      if (encoding === 1) view.setInt16(i * 2, value, true);
      else if (encoding === 3) view.setInt32(i * 4, value, true);
      else if (encoding === 4) view.setFloat32(i * 4, value, true);
      else {
        view.setUint16(i * 3, value & 0xffff, true);
        view.setInt8(i * 3 + 2, value >> 16);
      }
    }
    trace.run({ channel, t, period: PERIOD, trusted: true, lost: 0, encoding, payload });
  };
  const look = (channel: number | null = null) => trace.inspect([1.02, null], 4000, channel);

  it('knows since when a device has been connected or disconnected', () => {
    trace.connected(true);
    clock.advance(700);
    expect(look()).to.include({ connected: true, since: 5000, last_data_at: 4000 });
    trace.connected(false);
    expect(look()).to.include({ connected: false, since: 5700 });
  });

  it('counts accepted frames, and refused frames by cause', () => {
    trace.accepted();
    trace.refused({ fault: 'too_late', detail: 'one' });
    trace.refused({ fault: 'too_late', detail: 'x'.repeat(1000) });
    expect(look().frames).to.equal(1);
    expect(look().refused).to.deep.equal([{ code: 'too_late', count: 2, detail: 'x'.repeat(300) }]);
  });

  it('gives the reason of each type of insight that has no reading', () => {
    const none = { detail: 'no trusted', reason: 'hum' } as const;
    for (const insight of ['hr', 'rr'] as const) notices.raise('no_reading', null, { ...none, insight });
    clock.advance(10_000);
    notices.raise('no_reading', null, { ...none, insight: 'hr', reason: 'no_contact' });
    expect(look().notices.map(({ insight, reason }) => [insight, reason])).to.deep.equal([
      ['hr', 'no_contact'],
      ['rr', 'hum'],
    ]);
    notices.clear('no_reading', null, 'hr');
    expect(look().notices.map(({ insight }) => insight)).to.deep.equal(['rr']);
  });

  it('gives the notices whose cause persists', () => {
    notices.raise('rate_off', 1, { detail: 'off' });
    notices.raise('not_analysed', null, { detail: 'none' });
    expect(look().notices).to.deep.equal([
      { code: 'rate_off', channel: 1, detail: 'off', at: 5000 },
      { code: 'not_analysed', channel: null, detail: 'none', at: 5000 },
    ]);
    notices.clear('rate_off', 1);
    expect(look().notices).to.have.length(1);
  });

  it('keeps each notice with its times and count, over or not, and names the newest problem that persists', () => {
    expect(trace.problem(true)).to.equal(null);
    notices.raise('rate_off', 1, { detail: 'one' });
    clock.advance(10_000);
    notices.raise('rate_off', 1, { detail: 'two' });
    trace.refused({ fault: 'bad_json', detail: 'text' });
    expect([trace.problem(true), trace.problem(false)]).to.deep.equal(['rate_off', 'refused']);
    notices.clear('rate_off', 1);
    expect(trace.problem(true)).to.equal('refused');
    const kept = trace.diagnostics([1.02, null]);
    expect(kept).to.deep.equal({
      notices: [{ code: 'rate_off', channel: 1, firstAt: 5000, lastAt: 15_000, count: 2, detail: 'two', isOver: true }],
      refused: [{ code: 'bad_json', count: 1, detail: 'text' }],
      channels: [
        { index: 0, declaredHz: 10, measuredHz: 10.2 },
        { index: 1, declaredHz: 10, measuredHz: null },
      ],
    });
    const nextNotices = new Notices(clock, () => undefined, kept.notices);
    const next = new Trace([CHANNEL], clock, nextNotices, kept.refused);
    next.refused({ fault: 'bad_json', detail: 'more' });
    expect(next.diagnostics([]).refused).to.deep.equal([{ code: 'bad_json', count: 2, detail: 'more' }]);
    nextNotices.raise('rate_off', 1, { detail: 'three' });
    expect(next.diagnostics([]).notices.map(({ firstAt, count }) => [firstAt, count])).to.deep.equal([[5000, 3]]);
  });

  it('takes it for no problem of the device that a wearer who moves has no hrv and no rhythm', () => {
    for (const insight of ['hrv', 'rhythm'] as const)
      notices.raise('no_reading', null, { detail: 'motion', insight, reason: 'motion' });
    expect(trace.problem(true)).to.equal(null);
    notices.raise('no_reading', null, { detail: 'motion', insight: 'hr', reason: 'motion' });
    expect(trace.problem(true)).to.equal('no_reading');
  });

  it('keeps at most 8 KiB of diagnostics, and of the notices the newest', () => {
    for (let channel = 0; channel < 64; channel++) {
      clock.advance(1);
      notices.raise('rate_off', channel, { detail: 'ä'.repeat(300) });
    }
    const kept = trace.diagnostics([]);
    expect(Buffer.byteLength(JSON.stringify(kept))).to.be.within(7000, 8192);
    expect(kept.notices.at(-1)?.channel).to.equal(63);
  });

  it('gives the measured rate, and the stretches with data of the last ten minutes', () => {
    run(0, 0, [1, 2, 3, 4]);
    run(0, 400, [1, 2]);
    run(0, 1000, [1, 2]);
    const [first, second] = look().channels;
    expect(first).to.deep.include({ declared_hz: 10, measured_hz: 10.2 });
    expect(first?.covered).to.deep.equal([
      [0, 500],
      [1000, 1100],
    ]);
    expect(second).to.deep.include({ measured_hz: null, covered: [] });
    run(0, 601_000, [1, 2]);
    expect(look().channels[0]?.covered).to.deep.equal([
      [1000, 1100],
      [601_000, 601_100],
    ]);
  });

  it('remembers at most 200 stretches, even with more gaps', () => {
    for (let i = 0; i < 5000; i++) run(1, i * 1000, [1]);
    expect(look().channels[1]?.covered).to.have.length(200);
  });

  it('keeps the signal of a channel only while it is displayed', () => {
    run(0, 0, [1, 2]);
    expect(look(0).signal).to.deep.equal({ channel: 0, t: [], lanes: [[], []] });
    run(0, 1000, [5, -6, 7, -8]);
    run(1, 1000, [9]);
    run(0, 2000, [3, 4]);
    expect(look(0).signal).to.deep.equal({
      channel: 0,
      t: [1000, 1025, 1100, 1125, 1200, 2000, 2025],
      lanes: [
        [5, 5, 7, 7, null, 3, 3],
        [-6, -6, -8, -8, null, 4, 4],
      ],
    });
    clock.advance(10_001);
    run(0, 3000, [3, 4]);
    expect(look(0).signal?.t).to.deep.equal([]);
    expect(look(7).signal).to.equal(null);
  });

  it('reads every encoding, and shows missing values as gaps', () => {
    for (const [encoding, value] of [
      [1, -30_000],
      [2, -8_000_000],
      [3, 2_000_000_000],
      [4, 0.5],
    ] as const) {
      look(0);
      look(1);
      run(1, 1000, [value], encoding);
      expect(look(1).signal?.lanes).to.deep.equal([[value, value]]);
    }
    look(0);
    look(1);
    run(1, 1000, [Number.NaN], 4);
    expect(look(1).signal?.lanes).to.deep.equal([[null, null]]);
  });
});
