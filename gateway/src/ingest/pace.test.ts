import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import type { SessionProgress } from '../store/store.js';
import { channel } from './frames.fixture.js';
import { Intake, NO_PROGRESS } from './intake.js';
import { Notices } from './notices.js';

const T0 = 1_763_600_000_000;

/** A frame without a clock: its number, its instants, and when it arrives after T0, ms. */
interface Sent {
  readonly seq: number;
  readonly instants: number;
  readonly at: number;
}

interface Placed extends Sent {
  /** Time of the first instant, and of the end, after T0, ms. */
  readonly t: number;
  readonly end: number;
  readonly trusted: boolean;
}

/** Frames of 10 instants as a device of `hz` makes them, sent when `sentAt` says (of when it was made, ms). */
function frames(hz: number, seconds: number, sentAt = (made: number) => made): Sent[] {
  return Array.from({ length: Math.floor((seconds * hz) / 10) }, (_, k) => ({
    seq: 10 * k,
    instants: 10,
    at: sentAt(((k + 1) * 10_000) / hz),
  }));
}

/** A gateway that receives a channel of 100 Hz by its model. */
class Receiver {
  readonly clock: ManualClock;
  readonly intake: Intake;
  /** First numbers of the frames that were refused as too fast. */
  readonly refused: number[] = [];
  #begun: number;

  constructor(progress: SessionProgress = NO_PROGRESS, at = 0) {
    this.clock = new ManualClock(T0 + at);
    this.#begun = at;
    this.intake = new Intake({
      channels: [channel(), channel()],
      clock: this.clock,
      progress,
      notices: new Notices(this.clock, () => undefined),
    });
  }

  take(sent: readonly Sent[], index = 0): Placed[] {
    return sent.flatMap((frame) => {
      this.clock.skip(frame.at - this.#begun - this.clock.monotonic());
      const payload = new Uint8Array(2 * frame.instants);
      const runs = this.intake.receive({ channel: index, ts: null, encoding: 1, payload, ...frame });
      if ('fault' in runs) {
        expect(runs.fault).to.equal('too_fast');
        this.refused.push(frame.seq);
        return [];
      }
      const [first, last] = [runs[0], runs.at(-1)];
      const end = last ? last.t + (last.payload.length / 2) * last.period : Number.NaN;
      const trusted = runs.every((run) => run.trusted);
      return runs.length > 0 ? [{ ...frame, t: (first?.t ?? Number.NaN) - T0, end: end - T0, trusted }] : [];
    });
  }
}

/** The spacing of the instants in a stretch, ms. */
function spacing(placed: readonly Placed[]): number {
  const [first, last] = [placed[0], placed.at(-1)];
  return first && last ? (last.t - first.t) / (last.seq - first.seq) : Number.NaN;
}

const lead = (placed: readonly Placed[]) => Math.max(...placed.map(({ end, at }) => end - at));
const from = (placed: readonly Placed[], ms: number) => placed.filter(({ at }) => at >= ms);
const allTrusted = (placed: readonly Placed[]) => placed.every(({ trusted }) => trusted);
const noneTrusted = (placed: readonly Placed[]) => placed.every(({ trusted }) => !trusted);

function ascends(placed: readonly Placed[]): boolean {
  return placed.every(({ t }, i) => i === 0 || t >= (placed[i - 1]?.end ?? 0) - 1e-3);
}

describe('Time that is counted', () => {
  it('follows the rate of the model until 10 s of data have arrived, and is trusted from then on', () => {
    const placed = new Receiver().take(frames(100, 60));
    expect(placed.every(({ t, seq }) => Math.abs(t - 100 - 10 * seq) < 1)).to.equal(true);
    expect(noneTrusted(placed.filter(({ at }) => at < 10_000))).to.equal(true);
    expect(allTrusted(from(placed, 12_000))).to.equal(true);
  });

  for (const hz of [50, 90, 110, 200, 300])
    it(`follows a device of ${hz} Hz, at most 1 s ahead, and is not trusted`, () => {
      const placed = new Receiver().take(frames(hz, 60));
      expect(lead(placed)).to.be.at.most(1001);
      expect(spacing(from(placed, 30_000))).to.be.closeTo(1000 / hz, 0.02);
      expect(noneTrusted(placed)).to.equal(true);
      expect(ascends(placed)).to.equal(true);
    });

  it('is trusted with a crystal that is 0.5 % off, and does not drift', () => {
    const placed = new Receiver().take(frames(100.5, 1800));
    expect(allTrusted(from(placed, 12_000))).to.equal(true);
    expect(from(placed, 12_000).every(({ end, at }) => Math.abs(end - at) < 200)).to.equal(true);
  });

  it('keeps the rate through a link that delays by up to 100 ms', () => {
    const noise = (made: number) => made + 100 * ((made * 0.618033988749895) % 1);
    const placed = new Receiver().take(frames(100, 120, noise));
    const trusted = from(placed, 15_000);
    expect(allTrusted(trusted)).to.equal(true);
    expect(spacing(trusted)).to.be.closeTo(10, 0.05);
  });

  it('measures the rate from the arrivals of frames, not from the end of their wait for lost ones', () => {
    const receiver = new Receiver();
    receiver.take(frames(106, 60).filter((_, k) => (k * 0.618033988749895) % 1 > 0.05));
    expect(receiver.intake.relativeRates()[0]).to.be.closeTo(1.06, 0.005);
  });

  it('keeps the rate of a device that sends in bursts every 5 s, in short or long frames', () => {
    const long = Array.from({ length: 24 }, (_, k) => ({ seq: 500 * k, instants: 500, at: 5000 * (k + 1) }));
    for (const sent of [frames(100, 120, (made) => 5000 * Math.ceil(made / 5000)), long]) {
      const receiver = new Receiver();
      const bursts = receiver.take(sent);
      expect(receiver.refused.every((seq) => seq >= 150 && seq < 500)).to.equal(true); // Of the first burst only.
      expect(lead(bursts)).to.be.at.most(1001);
      expect(spacing(from(bursts, 30_000))).to.be.closeTo(10, 0.05);
      expect(allTrusted(from(bursts, 30_000))).to.equal(true);
    }
  });

  for (const begin of [4000, 12_000, 40_000])
    it(`is not moved by a link that stalls for 8 s after ${begin / 1000} s and catches up`, () => {
      const stalled = (made: number) => (made > begin ? Math.max(made, begin + 8000 + (made - begin) / 20) : made);
      const placed = new Receiver().take(frames(100, 90, stalled));
      expect(lead(placed)).to.be.at.most(1001);
      expect(spacing(placed)).to.be.closeTo(10, 0.05);
      expect(allTrusted(from(placed, 25_000))).to.equal(true);
    });

  it('is not counted for stored data, which are refused, and follows the pace of the live data after them', () => {
    for (const storedFrom of [0, 60_000]) {
      const before = frames(100, storedFrom / 1000);
      const first = 10 * before.length;
      const stored = Array.from({ length: 600 }, (_, k) => ({
        seq: first + 10 * k,
        instants: 10,
        at: storedFrom + k / 10,
      }));
      const live = frames(100, 60).map(({ at, seq }) => ({
        seq: first + 6000 + seq,
        instants: 10,
        at: storedFrom + 60 + at,
      }));
      const receiver = new Receiver();
      receiver.take(before);
      const used = receiver.take(stored);
      const after = receiver.take(live);
      expect(used.length).to.be.at.most(26); // Up to 1 s ahead, with 1 s of tolerance, and 0.06 s at 10 times the rate.
      expect(receiver.refused.filter((seq) => seq < first + 6000)).to.have.length(600 - used.length);
      expect(receiver.refused.filter((seq) => seq >= first + 6000)).to.have.length.at.most(12); // Of the first second.
      expect(lead([...used, ...after])).to.be.at.most(1001);
      expect(ascends([...used, ...after])).to.equal(true);
      expect(from(after, storedFrom + 5000).every(({ end, at }) => Math.abs(end - at) < 1100)).to.equal(true);
      expect(noneTrusted(after.filter(({ at }) => at < storedFrom + 8000))).to.equal(true);
      expect(spacing(from(after, storedFrom + 20_000))).to.be.closeTo(10, 0.05);
      expect(allTrusted(from(after, storedFrom + 20_000))).to.equal(true);
    }
  });

  it('uses and acknowledges only the first second or so of ten minutes that arrive at once', () => {
    for (const instants of [1, 10, 50, 1000]) {
      const receiver = new Receiver();
      const at = (k: number) => k / 100 + 50 * Math.floor((instants * k) / 5000); // The receiver is busy now and then.
      receiver.take(Array.from({ length: 60_000 / instants }, (_, k) => ({ seq: instants * k, instants, at: at(k) })));
      expect(receiver.refused[0]).to.be.at.most(150 + instants);
      expect(receiver.intake.nextSeq()[0]).to.be.at.most(150 + instants);
    }
  });

  for (const [stall, seconds] of [
    [3, 20],
    [3, 90],
    [30, 90],
  ] as const)
    for (const hz of [98, 100, 101, 102])
      it(`accepts all data of ${hz} Hz over a link that stalls for ${stall} s, ${seconds - 5} s after the start`, () => {
        const begin = (seconds - 5) * 1000;
        const stalled = (made: number) => (made > begin ? Math.max(made, begin + stall * 1000) : made);
        for (const size of [1, 10]) {
          const receiver = new Receiver();
          const sent = frames(hz, seconds + stall, stalled);
          const joined = sent.filter((_, k) => k % size === size - 1);
          receiver.take(joined.map(({ seq, at }) => ({ seq: seq - 10 * (size - 1), instants: 10 * size, at })));
          expect(receiver.refused).to.deep.equal([]);
        }
      });

  it('accepts all data of a device at twice the rate, whose frames arrive in pairs', () => {
    const receiver = new Receiver();
    receiver.take(frames(200, 60, (made) => 500 * Math.ceil(made / 500)));
    expect(receiver.refused).to.deep.equal([]);
  });

  it('leaves a gap for a pause that the numbers do not show, and finds the rate again', () => {
    const paused = (made: number) => (made > 30_000 ? made + 60_000 : made);
    const placed = new Receiver().take(frames(100, 90, paused));
    expect(from(placed, 105_000).every(({ end, at }) => Math.abs(end - at) < 1100)).to.equal(true);
    expect(spacing(from(placed, 130_000))).to.be.closeTo(10, 0.05);
    expect(allTrusted(from(placed, 130_000))).to.equal(true);
  });

  it('is not changed by a step of the wall clock', () => {
    const receiver = new Receiver();
    const sent = frames(100, 60);
    const before = receiver.take(sent.slice(0, 300));
    receiver.clock.step(-3_600_000);
    const after = receiver.take(sent.slice(300));
    expect(spacing([...before, ...after])).to.be.closeTo(10, 0.01);
    expect(allTrusted(after)).to.equal(true);
  });

  it('continues at another gateway with the known rate', () => {
    const first = new Receiver();
    const sent = frames(200, 120);
    const before = first.take(sent.slice(0, 1200));
    const progress = first.intake.progress();
    expect(progress.counted?.[0]?.period).to.be.closeTo(5, 0.01);
    const second = new Receiver(JSON.parse(JSON.stringify(progress)) as SessionProgress, 70_000);
    const replay = sent.slice(600, 1200).map((frame, k) => ({ ...frame, at: 70_000 + k / 20 }));
    const again = second.take([...replay, ...sent.slice(1200).map((frame) => ({ ...frame, at: frame.at + 10_000 }))]);
    for (const { seq, t } of again.filter((frame) => frame.seq < 12_000))
      expect(t).to.be.closeTo(before.find((frame) => frame.seq === seq)?.t ?? 0, 50);
    expect(lead(again)).to.be.at.most(1001);
    expect(noneTrusted(again)).to.equal(true);
  });

  it('keeps the trust in a rate at another gateway', () => {
    const first = new Receiver();
    const sent = frames(100, 60);
    first.take(sent.slice(0, 400));
    const second = new Receiver(first.intake.progress(), 40_000);
    const placed = second.take(sent.slice(400));
    expect(allTrusted(placed)).to.equal(true);
    expect(placed.every(({ t, seq }) => Math.abs(t - 100 - 10 * seq) < 100)).to.equal(true);
  });

  it('keeps the channels of one device together', () => {
    const receiver = new Receiver();
    const sent = frames(100.5, 120);
    const both = sent.map((frame) => [receiver.take([frame], 0)[0], receiver.take([frame], 1)[0]] as const);
    for (const [one, other] of both) expect((one?.t ?? 0) - (other?.t ?? 0)).to.be.closeTo(0, 20);
  });
});
