import { randomUUID } from 'node:crypto';
import type { Bus, BusMessage } from '@device-insights/fanout/bus';
import { createMemoryBus } from '@device-insights/fanout/bus/memory';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import type { Beat } from '../beat.js';
import { type LiveInsight, liveForm, type Reading, type StoredInsight } from '../insight.js';
import { openTemporaryStore } from '../store/embedded/temporary-store.fixture.js';
import type { SessionCommit } from '../store/store.js';
import { NO_PROGRESS, opened, sampleBlock, sampleInsight } from '../store/suite/samples.js';
import { Gate } from './gate.fixture.js';
import { Publisher } from './publisher.js';
import type { PublishedSession, Stream } from './stream.js';

const START = 1_763_600_000_000;
const HOUR_MS = 3_600_000;

describe('the publisher', () => {
  let clock: ManualClock;
  let gate: Gate;
  let bus: Bus;
  let publisher: Publisher;
  let logged: { fields: Record<string, unknown>; text: string }[];

  beforeEach(async () => {
    clock = new ManualClock(START);
    gate = new Gate(await openTemporaryStore(clock));
    bus = createMemoryBus();
    logged = [];
    publisher = newPublisher();
  });

  afterEach(async () => {
    await bus.close();
    await gate.store.close();
  });

  const newPublisher = (maxQueued?: number, restMs = 0) => {
    const keep = (fields: object, text: string) => logged.push({ fields: { ...fields }, text });
    const log = { info: keep, warn: keep, error: keep };
    return new Publisher({ store: gate, bus, clock, log, restMs, ...(maxQueued ? { maxQueued } : {}) });
  };

  /** Lets commits and publications that need no time run: a write that is asked for later is done later. */
  const settle = async () => {
    for (let i = 0; i < 3; i++) {
      await new Promise(setImmediate);
      await gate.store.touchKeys([], START);
    }
  };

  /** Moves time on in steps, as a system clock would. */
  const pass = async (ms: number) => {
    for (let step = 0; step < ms; step += 10) {
      clock.advance(10);
      await settle();
    }
  };

  /** A session that is open in the store and at the publisher. */
  async function begin(fields: Partial<PublishedSession> = {}): Promise<Rig> {
    const session = await opened(gate.store, {
      accountId: fields.accountId ?? randomUUID(),
      user: fields.user ?? null,
    });
    let lost = 0;
    let closed = 0;
    const published: PublishedSession = { ...session, last: {}, ...fields };
    const stream = publisher.open(published);
    void stream.disowned.then((by) => (by === 'taken' ? lost++ : closed++));
    const reading = (i: number, type: Reading['type'] = 'hr'): Reading => {
      const { ts: _ts, e2e_latency_ms: _latency, ...rest } = sampleInsight(session, START + i * 1000, START, { type });
      return rest;
    };
    return { session: published, stream, reading, lost: () => lost, closed: () => closed };
  }

  interface Rig {
    readonly session: PublishedSession;
    readonly stream: Stream;
    readonly reading: (i: number, type?: Reading['type']) => Reading;
    readonly lost: () => number;
    readonly closed: () => number;
  }

  async function stored(sessionId: string): Promise<StoredInsight[]> {
    const all: StoredInsight[] = [];
    for await (const batch of gate.store.sessionInsights(sessionId)) all.push(...batch);
    return all;
  }

  /** Moments of publication by type, in the order of the windows. */
  async function stampsOf(sessionId: string): Promise<Record<Reading['type'], number[]>> {
    const stamps: Record<Reading['type'], number[]> = { hr: [], rr: [], spo2: [], hrv: [], rhythm: [] };
    for (const { type, ts } of await stored(sessionId)) stamps[type].push(ts);
    return stamps;
  }

  const ascending = (stamps: readonly number[]) => [...new Set(stamps)].sort((a, b) => a - b);

  async function listen(accountId: string): Promise<BusMessage[][]> {
    const batches: BusMessage[][] = [];
    await bus.subscribe(accountId, { messages: (batch) => batches.push([...batch]), loss: () => {} });
    return batches;
  }

  it('stores a reading with the moment of publication, then publishes its live form', async () => {
    const { session, stream, reading } = await begin({ user: 'ann' });
    const batches = await listen(session.accountId);
    const release = gate.hold();
    stream.publish(reading(-2));
    await settle();
    expect(batches).to.deep.equal([]);
    release();
    await stream.flushed();
    const expected = { ...reading(-2), ts: START, e2e_latency_ms: 2000 };
    expect(await stored(session.id)).to.deep.equal([expected]);
    expect(batches).to.deep.equal([[{ text: JSON.stringify(liveForm(expected)), user: 'ann' }]]);
  });

  it('stores the beats of one turn with its readings, once the store accepts them, and publishes none', async () => {
    const { session, stream, reading } = await begin();
    const batches = await listen(session.accountId);
    const { ts: _, ...block } = sampleBlock(START);
    gate.down = true;
    stream.publish(reading(0));
    stream.keep(block);
    await settle();
    gate.down = false;
    await pass(1000);
    await stream.flushed();
    const part = gate.groups.at(-1)?.[0] as SessionCommit;
    expect(part.insights).to.have.length(1);
    expect(part.beats).to.have.length(1);
    expect(part.beats[0]?.ts).to.be.within(START + 1, START + 1000);
    const beats: Beat[] = [];
    for await (const batch of gate.store.sessionBeats(session.id)) beats.push(...batch);
    expect(beats).to.deep.equal(block.beats);
    expect(batches.flat()).to.have.length(1);
    stream.keep({ ...block, start: block.start + 10_000, beats: [] });
    await stream.flushed();
    expect(gate.groups.at(-1)?.[0]?.insights).to.deep.equal([]);
  });

  it('commits at once what comes alone, and together what comes soon after', async () => {
    publisher = newPublisher(undefined, 2);
    const rigs = [await begin(), await begin(), await begin()];
    for (const { stream, reading } of rigs) {
      stream.publish(reading(0));
      await settle();
    }
    expect(gate.groups.map((group) => group.length)).to.deep.equal([1]);
    clock.advance(2);
    for (const { stream } of rigs) await stream.flushed();
    expect(gate.groups.map((group) => group.length)).to.deep.equal([1, 2]);
  });

  it('commits the readings of one turn as one group, and those that arrive meanwhile as the next', async () => {
    const rigs = [await begin(), await begin(), await begin()];
    const release = gate.hold();
    for (const { stream, reading } of rigs) stream.publish(reading(0));
    await settle();
    for (const { stream, reading } of rigs) stream.publish(reading(1, 'rr'));
    await settle();
    expect(gate.groups.map((group) => group.length)).to.deep.equal([3]);
    release();
    await publisher.drain();
    expect(gate.groups.map((group) => group.length)).to.deep.equal([3, 3]);
  });

  it('publishes once for each account and group, in the order of the readings', async () => {
    const accountId = randomUUID();
    const [one, two, stranger] = [await begin({ accountId }), await begin({ accountId }), await begin()];
    const [mine, theirs] = [await listen(accountId), await listen(stranger.session.accountId)];
    one.stream.publish(one.reading(0));
    stranger.stream.publish(stranger.reading(0));
    two.stream.publish(two.reading(0));
    one.stream.publish(one.reading(0, 'rr'));
    await publisher.drain();
    const told = (batches: BusMessage[][]) =>
      batches.map((batch) =>
        batch.map(({ text }) => JSON.parse(text) as LiveInsight).map((i) => [i.session_id, i.type]),
      );
    expect(told(mine)).to.deep.equal([
      [
        [one.session.id, 'hr'],
        [one.session.id, 'rr'],
        [two.session.id, 'hr'],
      ],
    ]);
    expect(told(theirs)).to.deep.equal([[[stranger.session.id, 'hr']]]);
  });

  it('declares a loss if a commit was done but its answer was lost, because its readings were never published', async () => {
    const { session, stream, reading } = await begin();
    const seen: string[] = [];
    const listener = (name: string) => ({
      messages: () => seen.push(`${name}: messages`),
      loss: () => seen.push(`${name}: loss`),
    });
    await bus.subscribe(session.accountId, listener('before'));
    gate.deaf = true;
    stream.publish(reading(0));
    await settle();
    gate.deaf = false;
    await pass(200);
    await stream.flushed();
    await bus.subscribe(session.accountId, listener('after'));
    stream.publish(reading(1));
    await stream.flushed();
    expect(await stored(session.id)).to.have.length(2);
    expect(seen).to.deep.equal(['before: loss', 'after: messages']);
  });

  it('stamps a back-fill with distinct milliseconds, at most 1,000 a second and type, never ahead of the clock', async () => {
    const { session, stream, reading } = await begin();
    clock.advance(5000);
    for (let i = 0; i < 1500; i++) {
      stream.publish(reading(i));
      if (i % 2) stream.publish(reading(i, 'rr'));
    }
    for (let second = 0; second < 3; second++) {
      const now = clock.now();
      await settle();
      const stamps = (await stored(session.id)).filter(({ type }) => type === 'hr').map(({ ts }) => ts);
      expect(Math.max(...stamps)).to.be.at.most(now);
      await pass(1000);
    }
    for (const [type, count] of [
      ['hr', 1500],
      ['rr', 750],
    ] as const) {
      const all = (await stored(session.id)).filter((insight) => insight.type === type);
      expect(all).to.have.length(count);
      for (const [i, { ts }] of all.entries()) {
        expect(ts).to.be.greaterThan(all[i - 1]?.ts ?? START + 4000);
        expect(ts - (all[i - 1000]?.ts ?? 0)).to.be.at.least(1000);
      }
    }
  });

  it('continues at once after the newest stamp, at half the pace, if the clock of another gateway is an hour ahead', async () => {
    const ahead = START + HOUR_MS;
    const { session, stream, reading } = await begin({ last: { hr: { ts: ahead, actualEnd: START } } });
    for (let i = 1; i <= 10; i++) stream.publish(reading(i));
    stream.publish(reading(1, 'rr'));
    await pass(30);
    const stamps = await stampsOf(session.id);
    expect(stamps.rr[0]).to.be.at.most(START + 30);
    expect(stamps.hr).to.have.length(10);
    expect(stamps.hr).to.deep.equal(ascending(stamps.hr));
    expect(stamps.hr[0]).to.be.greaterThan(ahead);
    expect(stamps.hr.at(-1)).to.be.at.most(ahead + 15);
  });

  it('publishes without a pause when the clock is set back by an hour, with increasing stamps', async () => {
    const [old, later] = [await begin(), await begin()];
    const publish = async ({ stream, reading }: Rig, i: number) => {
      stream.publish(reading(i));
      await stream.flushed();
      clock.advance(1000);
    };
    await publish(old, 0);
    clock.step(-HOUR_MS);
    for (let i = 1; i < 10; i++) await publish(old, i);
    await publish(later, 0);
    expect((await stampsOf(old.session.id)).hr).to.deep.equal(
      Array.from({ length: 10 }, (_, i) => START + (i === 0 ? 0 : 500 * i)),
    );
    expect((await stampsOf(later.session.id)).hr).to.deep.equal([START + 5000]);
    clock.advance(2 * HOUR_MS);
    await publish(old, 10);
    expect((await stampsOf(old.session.id)).hr.at(-1)).to.equal(START + HOUR_MS + 11_000);
  });

  it('holds a back-fill to 1,000 a second and type when the clock is set back, and forward', async () => {
    const { session, stream, reading } = await begin();
    for (let i = 0; i < 1200; i++) stream.publish(reading(i));
    await pass(500);
    clock.step(-HOUR_MS);
    await pass(1000);
    clock.step(2 * HOUR_MS);
    await pass(1000);
    const { hr } = await stampsOf(session.id);
    expect(hr).to.have.length(1200);
    expect(hr).to.deep.equal(ascending(hr));
    for (let i = 1000; i < hr.length; i++) expect((hr[i] ?? 0) - (hr[i - 1000] ?? 0)).to.be.at.least(1000);
  });

  it('continues the live readings of others during a back-fill', async () => {
    const [flood, live] = [await begin(), await begin()];
    for (let i = 0; i < 3000; i++) flood.stream.publish(flood.reading(i));
    await settle();
    live.stream.publish(live.reading(0));
    await live.stream.flushed();
    expect((await stored(live.session.id))[0]?.ts).to.equal(START);
    expect((await stored(flood.session.id)).length).to.be.lessThan(3000);
  });

  it('records only the newest progress, with readings or without', async () => {
    const { session, stream, reading } = await begin();
    const release = gate.hold();
    for (const lastDataAt of [1, 2, 3]) stream.record({ ...NO_PROGRESS, lastDataAt });
    await settle();
    release();
    await stream.flushed();
    stream.publish(reading(0));
    stream.record({ ...NO_PROGRESS, lastDataAt: 4 });
    await stream.flushed();
    const progress = gate.groups.map((group) => group.map((part) => part.progress?.lastDataAt));
    expect(progress).to.deep.equal([[3], [4]]);
    expect((await gate.store.session(session.id))?.progress.lastDataAt).to.equal(4);
  });

  it('keeps the newest progress if an older one could not be stored', async () => {
    const { session, stream } = await begin();
    [gate.down, gate.deaf] = [false, true];
    const release = gate.hold();
    stream.record({ ...NO_PROGRESS, lastDataAt: 1 });
    await settle();
    stream.record({ ...NO_PROGRESS, lastDataAt: 2 });
    release();
    await settle();
    gate.deaf = false;
    await pass(200);
    await stream.flushed();
    expect((await gate.store.session(session.id))?.progress.lastDataAt).to.equal(2);
  });

  it('counts no readings of a session that was taken during an outage', async () => {
    const { session, stream, reading } = await begin();
    gate.down = true;
    stream.publish(reading(0));
    await settle();
    await gate.store.claimSession(session.id, 1, randomUUID());
    gate.down = false;
    await pass(200);
    expect(publisher.queued).to.equal(0);
  });

  it('stores and publishes the waiting readings of a session that another gateway closed, and reports that', async () => {
    const { session, stream, reading, closed, lost } = await begin();
    const batches = await listen(session.accountId);
    await gate.store.closeSession(session.id, 1, START);
    stream.publish(reading(0));
    await stream.flushed();
    expect(await stored(session.id)).to.have.length(1);
    expect(batches.flat()).to.have.length(1);
    expect([closed(), lost()]).to.deep.equal([1, 0]);
  });

  it('drops the waiting readings of a session that another gateway took, and reports it once', async () => {
    const [taken, kept] = [await begin(), await begin()];
    await gate.store.claimSession(taken.session.id, 1, randomUUID());
    const release = gate.hold();
    for (const { stream, reading } of [taken, kept]) stream.publish(reading(0));
    await settle();
    for (const { stream, reading } of [taken, kept]) stream.publish(reading(1, 'rr'));
    release();
    await Promise.all([taken.stream.flushed(), kept.stream.flushed()]);
    taken.stream.publish(taken.reading(2));
    await publisher.drain();
    expect(taken.lost()).to.equal(1);
    expect(kept.lost()).to.equal(0);
    expect(await stored(taken.session.id)).to.deep.equal([]);
    expect(await stored(kept.session.id)).to.have.length(2);
    expect(publisher.queued).to.equal(0);
  });

  it('holds readings while the store is down, and asks devices to pause', async () => {
    const { session, stream, reading } = await begin();
    const batches = await listen(session.accountId);
    let relieved = 0;
    gate.down = true;
    stream.publish(reading(0));
    stream.record({ ...NO_PROGRESS, lastDataAt: 1 });
    await settle();
    expect(publisher.accepting).to.equal(false);
    publisher.onRelief(() => relieved++);
    stream.publish(reading(1));
    await pass(10_000);
    expect(gate.groups.length).to.be.within(6, 12);
    expect([batches.length, relieved]).to.deep.equal([0, 0]);
    gate.down = false;
    await pass(2100);
    expect([publisher.accepting, relieved]).to.deep.equal([true, 1]);
    const insights = await stored(session.id);
    expect(insights.map(({ actual_end }) => actual_end)).to.deep.equal([START, START + 1000]);
    for (const { ts } of insights) expect(ts).to.be.within(START + 10_000, START + 12_200);
    expect((await gate.store.session(session.id))?.progress.lastDataAt).to.equal(1);
    expect(batches.flat()).to.have.length(2);
  });

  it('logs that the store is down until the attempts have their longest pause, and that it is back', async () => {
    const { stream, reading } = await begin();
    gate.down = true;
    stream.publish(reading(0));
    await pass(12_000);
    gate.down = false;
    await pass(2100);
    const down = 'the store accepts no insights; they wait in memory';
    expect(logged.map(({ text, fields }) => [text, fields.retryMs])).to.deep.equal([
      ...[100, 200, 400, 800, 1600, 2000].map((retryMs) => [down, retryMs]),
      ['the store accepts insights again', undefined],
    ]);
  });

  it('drops nothing after an unknown failure', async () => {
    const [one, two] = [await begin(), await begin()];
    gate.down = true;
    gate.failure = new TypeError('a fault of the program');
    for (const { stream, reading } of [one, two]) stream.publish(reading(0));
    await settle();
    expect([publisher.accepting, publisher.queued]).to.deep.equal([false, 2]);
    gate.down = false;
    await pass(200);
    expect(publisher.accepting).to.equal(true);
    for (const { session } of [one, two]) expect(await stored(session.id)).to.have.length(1);
  });

  it('continues after a refusal that ends an outage of the store', async () => {
    const { session, stream, reading } = await begin();
    gate.down = true;
    stream.publish({ ...reading(0), value: Number.NaN });
    await settle();
    gate.down = false;
    await pass(200);
    expect(publisher.accepting).to.equal(true);
    stream.publish(reading(1));
    await stream.flushed();
    expect(await stored(session.id)).to.have.length(1);
  });

  it('asks devices to pause while the queue is full', async () => {
    publisher = newPublisher(4);
    const { stream, reading } = await begin();
    const release = gate.hold();
    for (let i = 0; i < 3; i++) stream.publish(reading(i));
    expect(publisher.accepting).to.equal(true);
    stream.publish(reading(3));
    expect(publisher.accepting).to.equal(false);
    const relief = new Promise<void>((resolve) => publisher.onRelief(resolve));
    release();
    await relief;
    expect(publisher.accepting).to.equal(true);
  });

  it('calls back immediately if nothing is pending', async () => {
    await new Promise<void>((resolve) => publisher.onRelief(resolve));
    await publisher.drain();
  });

  it('stores the readings that the bus refuses, and logs their number', async () => {
    const { session, stream, reading } = await begin();
    await bus.close();
    for (let i = 0; i < 4; i++) {
      stream.publish(reading(i));
      await stream.flushed();
      clock.advance(400);
    }
    expect(await stored(session.id)).to.have.length(4);
    expect(logged.map(({ fields }) => fields.insights)).to.deep.equal([1, 1, 1, 1]);
  });

  it('drops readings whose content the store refuses, and keeps the others of the group', async () => {
    const [bad, good] = [await begin(), await begin()];
    bad.stream.publish({ ...bad.reading(0), value: Number.NaN });
    good.stream.publish(good.reading(0));
    await publisher.drain();
    expect(await stored(bad.session.id)).to.deep.equal([]);
    expect(await stored(good.session.id)).to.have.length(1);
    expect(logged.map(({ text }) => text)).to.deep.equal(['the store refused insights; they are dropped']);
    bad.stream.publish(bad.reading(1, 'rr'));
    await bad.stream.flushed();
    expect(await stored(bad.session.id)).to.have.length(1);
  });

  it('keeps all readings if the store is lost while it takes the parts of a refused group one by one', async () => {
    const rigs = [await begin(), await begin(), await begin()];
    gate.refuseGroups = true;
    for (const { stream, reading } of rigs) stream.publish(reading(0));
    await settle();
    expect(publisher.queued).to.equal(2);
    gate.refuseGroups = false;
    await pass(200);
    await publisher.drain();
    for (const { session } of rigs) expect(await stored(session.id)).to.have.length(1);
  });

  it('commits at most 2,000 readings in a group, and 200 of a session', async () => {
    const rigs = await Promise.all(Array.from({ length: 12 }, () => begin()));
    clock.advance(1000);
    for (const { stream, reading } of rigs)
      for (let i = 0; i < 150; i++) for (const type of ['hr', 'rr'] as const) stream.publish(reading(i, type));
    while (publisher.queued > 0) await pass(100);
    const sizes = gate.groups.map((group) => group.map(({ insights }) => insights.length));
    expect(sizes[0]).to.deep.equal(Array(10).fill(200));
    for (const parts of sizes) expect(parts.reduce((sum, count) => sum + count, 0)).to.be.at.most(2000);
  });

  it('resolves flushed() when the earlier readings of the stream are stored, whatever comes later', async () => {
    const { session, stream, reading } = await begin();
    await stream.flushed();
    stream.publish(reading(0));
    const flushed = stream.flushed();
    stream.publish(reading(1));
    await flushed;
    expect(await stored(session.id)).to.have.length.at.least(1);
    stream.close();
    stream.publish(reading(2));
    await pass(20);
    await publisher.drain();
    expect(await stored(session.id)).to.have.length(2);
  });
});
