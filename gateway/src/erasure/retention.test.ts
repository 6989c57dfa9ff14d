import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { Session, Store } from '../store/store.js';
import { opened, partOf, sampleAccount, sampleInsight } from '../store/suite/samples.js';
import { keepFor, type RetentionRun } from './retention.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TRUSTED_AFTER_MS = 12 * HOUR_MS;
const FIVE_YEARS_MS = 5 * 365 * DAY_MS;
/** A gateway that has run for twelve hours at this time erases from this time on. */
const NOW = Date.parse('2026-03-01T10:00:00.000Z');

describe('the retention of readings', () => {
  const account = sampleAccount();
  let store: Store;
  let clock: ManualClock;
  let logged: { fields: object; text: string }[];
  let differenceMs: number;
  let runs: Map<RetentionRun, number>;

  beforeEach(async () => {
    clock = new ManualClock(NOW - TRUSTED_AFTER_MS);
    store = await openTemporaryStore(clock);
    await store.createAccount(account);
    logged = [];
    differenceMs = 0;
    runs = new Map();
  });
  afterEach(() => store.close());

  const note = (fields: object, text: string) => void logged.push({ fields, text });
  const log = { info: note, error: note };
  const keep = () => keepFor({ days: 30, store, clock, log, differenceMs: () => differenceMs, runs });

  /** A session that published `count` insights, one an hour, up to so many days ago. */
  async function streamed(days: number, count: number, isClosed: boolean): Promise<Session> {
    const end = NOW - days * DAY_MS;
    const startedAt = end - count * HOUR_MS;
    const session = await opened(store, { accountId: account.id, startedAt });
    const at = (i: number) => startedAt + (i + 1) * HOUR_MS;
    const insights = Array.from({ length: count }, (_, i) => sampleInsight(session, at(i), at(i)));
    await store.commit([partOf(session, insights)]);
    if (isClosed) await store.closeSession(session.id, 1, end);
    return session;
  }

  async function countOf({ id }: Session): Promise<number> {
    let count = 0;
    for await (const batch of store.sessionInsights(id)) count += batch.length;
    return count;
  }

  /** Lets the erasure go on, its pauses included, until it has said what it did. */
  async function erased(): Promise<object | undefined> {
    while (logged.length === 0) {
      clock.advance(1);
      await setImmediate();
    }
    return logged.shift()?.fields;
  }

  /** Lets a time pass, and the looks within it end; returns what was logged. */
  async function pass(ms: number): Promise<string[]> {
    for (let left = ms; left > 0; left -= 600_000) {
      clock.advance(Math.min(left, 600_000));
      // Each waits for the writes and reads before it.
      for (let i = 0; i < 4; i++) await Promise.all([store.forgetGateways(0), store.accounts()]);
    }
    return logged.splice(0).map(({ text }) => text);
  }

  it('erases sessions that ended earlier, in batches, and the old insights of longer ones', async () => {
    const old = await streamed(31, 1203, true);
    const spanning = await streamed(29, 72, true);
    const open = await streamed(0, 31 * 24, false);
    const timer = keep();
    expect(await pass(TRUSTED_AFTER_MS - 1)).to.deep.equal([]);
    expect(await erased()).to.deep.include({ sessions: 1, insights: 1203 + 47 + 23, days: 30 });
    expect(await store.session(old.id)).to.equal(null);
    for (const [session, count] of [
      [spanning, 25],
      [open, 30 * 24 + 1],
    ] as const) {
      expect(await store.session(session.id)).to.include({ id: session.id });
      expect(await countOf(session)).to.equal(count);
    }
    timer.cancel();
  });

  it('runs again every ten minutes, until it is stopped', async () => {
    const session = await streamed(30 - 1 / 96, 1, true); // Too old in a quarter of an hour.
    const timer = keep();
    expect(await pass(TRUSTED_AFTER_MS + 600_000)).to.deep.equal([]);
    expect(await countOf(session)).to.equal(1);
    clock.advance(600_000);
    expect(await erased()).to.deep.include({ sessions: 1, insights: 1 });
    expect([...runs]).to.deep.equal([['done', 3]]);
    timer.cancel();
    await streamed(40, 1, true);
    expect(await pass(DAY_MS)).to.deep.equal([]);
  });

  it('erases nothing in the first twelve hours, whose clock may be wrong until somebody sets it', async () => {
    const session = await streamed(0, 1, true);
    clock.step(FIVE_YEARS_MS);
    const timer = keep();
    expect(await pass(TRUSTED_AFTER_MS - 60_000)).to.deep.equal([]);
    clock.step(-FIVE_YEARS_MS);
    expect(await pass(3 * DAY_MS)).to.have.length(1);
    expect(await countOf(session)).to.equal(1);
    timer.cancel();
  });

  it('erases nothing for twelve hours after the clock jumped by years, nor if it is set back by then', async () => {
    const session = await streamed(0, 1, true);
    const timer = keep();
    await pass(DAY_MS);
    for (const step of [FIVE_YEARS_MS, -FIVE_YEARS_MS]) {
      clock.step(step);
      const lines = await pass(TRUSTED_AFTER_MS);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/the clock was set.*erases nothing/);
    }
    expect(await pass(DAY_MS)).to.deep.equal([]);
    expect(await countOf(session)).to.equal(1);
    clock.step(FIVE_YEARS_MS);
    expect(await pass(DAY_MS)).to.have.length(2);
    expect(await countOf(session)).to.equal(0);
    timer.cancel();
  });

  it('erases nothing while another gateway has a clock that differs by more than a minute', async () => {
    const session = await streamed(31, 1, true);
    differenceMs = 61_000;
    const timer = keep();
    const lines = await pass(3 * DAY_MS);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/differs from another gateway's/);
    expect([...runs]).to.deep.equal([['doubted', 3 * 144]]);
    expect(await countOf(session)).to.equal(1);
    differenceMs = 59_000;
    expect(await pass(DAY_MS)).to.deep.equal(['erased readings that are older than RETENTION_DAYS']);
    timer.cancel();
  });
});
