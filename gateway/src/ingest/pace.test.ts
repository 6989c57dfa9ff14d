import { ManualClock } from '@device-insights/fanout/process/manual-clock';
import { expect } from 'chai';
import type { SampleRun } from '../analysis/analysis.js';
import type { SessionProgress } from '../store/store.js';
import { channel } from './frames.fixture.js';
import { Intake, NO_PROGRESS } from './intake.js';

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
  #runs: SampleRun[] = [];
  #begun: number;

  constructor(progress: SessionProgress = NO_PROGRESS, at = 0) {
    this.clock = new ManualClock(T0 + at);
    this.#begun = at;
    this.intake = new Intake({
      channels: [channel(), channel()],
      clock: this.clock,
      progress,
      push: (run) => this.#runs.push(run),
    });
  }

  take(sent: readonly Sent[], index = 0): Placed[] {
    return sent.map((frame) => {
      this.clock.skip(frame.at - this.#begun - this.clock.monotonic());
      const payload = new Uint8Array(2 * frame.instants);
      this.intake.receive({ channel: index, ts: null, encoding: 1, payload, ...frame });
      const runs = this.#runs.splice(0);
      const [first, last] = [runs[0], runs.at(-1)];
      const end = last ? last.t + (last.payload.length / 2) * last.period : Number.NaN;
      return { ...frame, t: (first?.t ?? Number.NaN) - T0, end: end - T0, trusted: runs.every((run) => run.trusted) };
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

  it('keeps the rate of a device that sends in bursts every 5 s, in short or long frames', () => {
    const placed = new Receiver().take(frames(100, 120, (made) => 5000 * Math.ceil(made / 5000)));
    const long = Array.from({ length: 24 }, (_, k) => ({ seq: 500 * k, instants: 500, at: 5000 * (k + 1) }));
    for (const bursts of [placed, new Receiver().take(long)]) {
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

  it('is at most 1 s ahead for a device that begins with a stored minute, and then follows its pace', () => {
    const stored = Array.from({ length: 600 }, (_, k) => ({ seq: 10 * k, instants: 10, at: k / 10 }));
    const live = frames(100, 60).map(({ at, seq, ...frame }) => ({ ...frame, seq: 6000 + seq, at: 60 + at }));
    const placed = new Receiver().take([...stored, ...live]);
    expect(lead(placed)).to.be.at.most(1001);
    expect(ascends(placed)).to.equal(true);
    expect(spacing(from(placed, 20_000))).to.be.closeTo(10, 0.05);
    expect(allTrusted(from(placed, 20_000))).to.equal(true);
  });

  it('accepts any amount of data at once without running ahead or stopping', () => {
    const receiver = new Receiver();
    const placed = receiver.take(Array.from({ length: 1000 }, (_, k) => ({ seq: 1000 * k, instants: 1000, at: 0 })));
    expect(lead(placed)).to.be.at.most(2000);
    expect(placed.every(({ t }, i) => i === 0 || t > (placed[i - 1]?.t ?? 0))).to.equal(true);
    expect(noneTrusted(placed)).to.equal(true);
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
    const replay = sent.slice(600, 1200).map((frame, k) => ({ ...frame, at: 70_000 + k }));
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
