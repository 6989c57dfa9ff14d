import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import { StoreUnavailable } from '../store/store.js';
import { Bench, type Gateway, stream, T0, type TestDevice } from './bench.fixture.js';

const GRACE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe('Sessions between gateways', () => {
  let bench: Bench;
  let a: Gateway;
  let b: Gateway;

  beforeEach(async () => {
    bench = await Bench.open({ graceMs: GRACE_MS });
    a = await bench.gateway('gateway-a');
    b = await bench.gateway('gateway-b');
  });

  afterEach(() => bench.close());

  /** Lets time pass in which these gateways beat and one looks after the sessions, a second at a time. */
  const sweep = async (gateway: Gateway, ms: number, ...beating: Gateway[]) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      bench.clock.advance(1000);
      for (const { store, name } of [gateway, ...beating]) await store.beat(name, bench.clock.now());
      await gateway.ingest.sweep();
    }
  };

  /** A device of the first gateway, and its session, which has readings in the store. */
  const withReadings = async () => {
    const { connect, first, session_id } = await bench.session(a);
    stream(first, 0, 500);
    await first.handled();
    await until(async () => (await bench.insights(session_id)).length > 0);
    return { connect, first, session_id };
  };

  it('are taken over by the newest connection, with a replay, and the older one is closed with 4009', async () => {
    const { connect, first, session_id } = await withReadings();
    bench.clock.advance(3000);
    stream(first, 500, 600);
    await first.handled();
    bench.clock.advance(4000); // Progress is recorded at the latest then, also while a reading waits to be stored.
    await until(async () => (await bench.row(session_id)).progress.nextSeq[0] === 600);
    const second = connect({}, b);
    const ready = await second.ready();
    expect(ready).to.deep.include({ session_id, resumed: true, replay_ms: 60_000 });
    expect(ready.channels[0]).to.include({ next_seq: 600 });
    await a.ingest.sweep();
    expect(await first.code()).to.equal(4009);
    expect(await bench.row(session_id)).to.include({ gateway: 'gateway-b', epoch: 2 });
  });

  it('lose no reading of a back-fill that another gateway continues, although its data are acknowledged', async () => {
    const { connect, first, session_id } = await bench.session(a);
    stream(first, 0, 30_000, { start: T0 - HOUR_MS });
    let acked = 0;
    first.ws.on('message', (text) => {
      const message = JSON.parse(String(text)) as { next_seq?: Record<string, number> };
      acked = message.next_seq?.[0] ?? acked;
    });
    await until(() => {
      bench.clock.advance(1);
      return acked >= 15_000;
    });
    await a.store.beat(a.name, bench.clock.now()); // On a slow machine the clock has gone far since its last heartbeat.
    first.ws.terminate();
    const second = connect({}, b);
    const { replay_ms } = await second.ready();
    stream(second, acked - replay_ms / 10, 30_000, { start: T0 - HOUR_MS });
    await bench.end(second);
    const ends = (await bench.insights(session_id)).map(({ actual_end }) => (actual_end - T0 + HOUR_MS) / 1000);
    expect(ends).to.deep.equal(Array.from({ length: 297 }, (_, i) => i + 4));
  });

  it('stay open if they begin before the first heartbeat of a gateway that could not reach the store for long', async () => {
    await sweep(b, GRACE_MS + 10_000); // Gateway a takes part in nothing.
    const { first: device, session_id } = await bench.session(a);
    await sweep(b, 3000);
    expect((await bench.row(session_id)).endedAt).to.equal(null);
    stream(device, 0, 500);
    await device.handled();
  });

  it('publish no window twice after a replay, and continue on the same seconds', async () => {
    const { connect, first, session_id } = await bench.session(a);
    for (let seq = 0; seq < 700; seq += 100) {
      stream(first, seq, seq + 100);
      await first.handled();
      bench.clock.advance(1000);
    }
    await until(async () => (await bench.insights(session_id)).length >= 3);
    await a.store.beat(a.name, bench.clock.now());
    const second = connect({}, b);
    await second.ready();
    await a.store.beat(a.name, bench.clock.now() + 1);
    stream(second, 0, 1000);
    await second.handled();
    bench.clock.advance(1000);
    await bench.end(second);
    const ends = (await bench.insights(session_id)).map(({ actual_end }) => actual_end - T0);
    expect(ends).to.deep.equal([4000, 5000, 6000, 7000, 8000, 9000, 10_000]);
    expect(bench.published.filter(({ text }) => text.includes('"hr"'))).to.have.length(ends.length);
  });

  describe('that were claimed', () => {
    let heard: string[];

    /** A device whose first readings are out, and the account's channel as a subscriber has it: what came, and losses. */
    const begin = async () => {
      heard = [];
      const messages = (batch: readonly unknown[]) => void heard.push(...batch.map(() => 'reading'));
      await bench.bus.subscribe(bench.account.id, { messages, loss: () => void heard.push('loss') });
      const { connect, first, session_id } = await bench.session(a);
      stream(first, 0, 500);
      await first.handled();
      // Readings of one type in two commits have stamps in two milliseconds.
      while (heard.length < 2) await pass(50);
      bench.clock.advance(1000);
      await a.store.beat(a.name, bench.clock.now());
      heard.length = 0;
      return { connect, session_id };
    };
    const goOn = async (second: TestDevice) => {
      await second.ready();
      stream(second, 0, 600);
      await second.handled();
    };
    /** Lets time pass, as a system clock would. */
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 50) {
        bench.clock.advance(50);
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
    };

    it('from a dead gateway publish after its possible loss has been declared, once for each account', async () => {
      const { connect, session_id } = await begin();
      await connect({ device_id: 'band-2' }).ready();
      const second = connect({}, b);
      await goOn(second);
      await connect({ device_id: 'band-2' }, b).ready();
      await pass(2000);
      expect(heard).to.deep.equal([]);
      await pass(1000);
      await until(async () => (await bench.insights(session_id)).length === 3);
      expect(heard).to.deep.equal(['loss']); // The subscription is over.
      // What is stored already may be published only now.
      await bench.bus.subscribe(bench.account.id, { messages: () => undefined, loss: () => void heard.push('loss') });
      await connect({ device_id: 'band-3' }, b).ready();
      await pass(5000);
      expect(heard).to.deep.equal(['loss']);
    });

    it('from a living gateway publish after its next heartbeat, without a loss', async () => {
      const { connect } = await begin();
      const second = connect({}, b);
      await goOn(second);
      await pass(900);
      expect(heard).to.deep.equal([]);
      await a.store.beat(a.name, bench.clock.now());
      await pass(300);
      await until(() => heard.length > 0);
      expect(heard).to.deep.equal(['reading']);
    });

    it('from a gateway that handed them over publish at once, without a loss', async () => {
      const { connect } = await begin();
      await a.ingest.drain();
      const second = connect({}, b);
      await goOn(second);
      await pass(300);
      await until(() => heard.length > 0);
      expect(heard).to.deep.equal(['reading']);
      const c = await bench.gateway('gateway-c');
      await connect({}, c).ready();
      await pass(4000);
      await until(() => heard.length > 1);
      expect(heard).to.deep.equal(['reading', 'loss']); // The second owner has handed nothing over.
    });

    it('closed for a dead gateway that never published also declare its loss', async () => {
      const losses: string[] = [];
      await bench.bus.subscribe(bench.account.id, { messages: () => {}, loss: () => void losses.push('loss') });
      const { connect } = await bench.device(a);
      await connect().ready();
      await sweep(b, GRACE_MS + 2000);
      expect(losses).to.deep.equal(['loss']);
    });
  });

  describe('closed because their gateway was cut off from the store', () => {
    /** A device of a gateway that can write nothing until `mend`, whose session is closed with readings waiting. */
    const cutOff = async () => {
      const { connect, first, session_id } = await withReadings();
      const { commit } = a.store;
      bench.clock.advance(1000);
      let fail: () => void = () => undefined;
      a.store.commit = () =>
        new Promise((_, reject) => {
          fail = () => reject(new StoreUnavailable('cut off'));
        });
      stream(first, 500, 800);
      await first.handled();
      bench.clock.advance(500);
      await first.next('ack');
      a.store.commit = () => Promise.reject(new StoreUnavailable('cut off'));
      fail();
      await until(() => !a.publisher.accepting);
      await sweep(b, GRACE_MS + 2000);
      expect((await bench.row(session_id)).status).to.equal('closed');
      const mend = () => {
        a.store.commit = commit;
      };
      return { connect, first, session_id, mend };
    };
    /** Ends of windows, s. */
    const ends = async (id: string) => (await bench.insights(id)).map(({ actual_end }) => (actual_end - T0) / 1000);
    const waits = async (condition: () => boolean | Promise<boolean>) =>
      until(() => {
        bench.clock.advance(50);
        return condition();
      });
    const ALL = [4, 5, 6, 7, 8];

    it('keep every reading of acknowledged data, and their device continues in a new session', async () => {
      const { connect, first, session_id, mend } = await cutOff();
      const before = await bench.row(session_id);
      mend();
      let code = 0;
      void first.closed.then((it) => {
        code = it.code;
      });
      await waits(() => code !== 0);
      expect(code).to.equal(1013);
      expect(await ends(session_id)).to.deep.equal(ALL);
      const row = await bench.row(session_id);
      expect(row).to.include({ status: 'closed', endedAt: row.progress.lastDataAt });
      expect(row.endedAt).to.be.greaterThan(before.endedAt ?? Number.NaN);
      const { resumed, replay_ms } = await connect().ready();
      expect({ resumed, replay_ms }).to.deep.equal({ resumed: false, replay_ms: 0 });
    });

    it('take nothing that was not acknowledged, which the device sends again in the new one', async () => {
      const { first, session_id, mend } = await cutOff();
      stream(first, 800, 1200);
      await new Promise((resolve) => first.ws.ping(undefined, undefined, resolve));
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      mend();
      let isClosed = false;
      void first.closed.then(() => {
        isClosed = true;
      });
      await waits(() => isClosed);
      const acks = first.received.flatMap(
        ({ next_seq }) => (next_seq as Record<string, number> | undefined)?.[0] ?? [],
      );
      expect(acks.filter((next) => next > 800)).to.deep.equal([]);
      expect(await ends(session_id)).to.deep.equal(ALL);
    });

    it('keep them if their device has gone on at another gateway, and comes back', async () => {
      const { connect, session_id, mend } = await cutOff();
      const second = await connect({}, b).ready();
      expect(second).to.include({ resumed: false });
      mend();
      await waits(() => a.publisher.accepting);
      await b.store.beat(b.name, bench.clock.now() + 1);
      expect(await connect().ready()).to.include({ session_id: second.session_id, resumed: true });
      expect(await ends(session_id)).to.deep.equal(ALL);
    });

    it('are left without a device that has connected again, if nothing waited to be stored', async () => {
      const { connect, first, session_id } = await bench.session(a);
      await sweep(b, GRACE_MS + 2000);
      expect((await bench.row(session_id)).status).to.equal('closed');
      expect((await connect().ready()).resumed).to.equal(false);
      expect(await first.code()).to.equal(4009);
    });
  });

  it('start at the first frame after a replay, whatever the store has', async () => {
    const { connect, first } = await bench.session(a);
    first.samples(0, 100);
    await first.handled();
    const second = connect({}, b);
    await second.ready();
    second.samples(40, 10);
    await second.handled();
    bench.clock.advance(500);
    expect(await second.next('ack')).to.deep.include({ next_seq: { 0: 50 } });
  });

  it('can return to the first gateway', async () => {
    const { connect } = await bench.device(a);
    const { session_id } = await connect().ready();
    await connect({}, b).ready();
    const third = await connect({}, a).ready();
    expect(third).to.deep.include({ session_id, resumed: true, replay_ms: 60_000 });
    await b.ingest.sweep();
    await until(() => b.ingest.connections === 0);
  });

  it('are closed if user or model differ, and the other gateway notices it', async () => {
    const { connect } = await bench.device(a);
    const { key } = await bench.key({ user: 'ann' });
    const first = connect({ api_key: key });
    const { session_id } = await first.ready();
    const ready = await connect({}, b).ready();
    expect(ready).to.deep.include({ resumed: false, replay_ms: 0 });
    expect((await bench.row(session_id)).status).to.equal('closed');
    await a.ingest.sweep();
    expect(await first.code()).to.equal(4009);
  });

  it('of a dead gateway are closed by another one when their grace period has passed', async () => {
    const { first, session_id } = await bench.session(a);
    bench.clock.advance(2000);
    first.samples(0, 100);
    await first.handled();
    await until(async () => (await bench.row(session_id)).progress.lastDataAt !== null);
    await sweep(b, GRACE_MS - 2000);
    expect((await bench.row(session_id)).status).to.equal('open');
    await sweep(b, 1000);
    expect(await bench.row(session_id)).to.include({ status: 'closed', endedAt: T0 + 2000 });
  });

  it('of a dead gateway are resumed by their device within the grace period, and not later', async () => {
    const { connect, first, session_id } = await bench.session(a);
    first.samples(0, 100);
    await first.handled();
    await until(async () => (await bench.row(session_id)).progress.lastDataAt !== null);
    bench.clock.advance(GRACE_MS);
    await b.store.beat('gateway-b', bench.clock.now());
    expect(await connect({}, b).ready()).to.deep.include({ session_id, resumed: true });
    const c = await bench.gateway('gateway-c');
    bench.clock.advance(GRACE_MS + 1);
    await c.store.beat('gateway-c', bench.clock.now());
    const later = await connect({}, c).ready();
    expect(later.resumed).to.equal(false);
    expect((await bench.row(session_id)).status).to.equal('closed');
  });

  it('of living gateways are left alone', async () => {
    const { connect } = await bench.device(a);
    const { session_id } = await connect().ready();
    await sweep(b, GRACE_MS + 5000, a);
    expect((await bench.row(session_id)).status).to.equal('open');
  });

  it('of living gateways are left alone when a gateway with a wrong clock has forgotten them', async () => {
    const { connect } = await bench.device(a);
    const { session_id } = await connect().ready();
    await sweep(b, 2000, a);
    await b.store.forgetGateways(Number.MAX_SAFE_INTEGER);
    const c = await bench.gateway('gateway-c');
    for (const gateway of [b, c]) await gateway.ingest.sweep();
    expect((await bench.row(session_id)).status).to.equal('open');
    await sweep(c, GRACE_MS + 5000, a, b);
    expect((await bench.row(session_id)).status).to.equal('open');
  });

  for (const [direction, step] of [
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ] as const)
    it(`are left to the living and closed for the dead when the clock is set ${direction}`, async () => {
      const [living, dead] = [await bench.device(a), await bench.device(a, { deviceId: 'band-2' })];
      const first = await living.connect().ready();
      const c = await bench.gateway('gateway-c');
      const second = await dead.connect({}, c).ready();
      await sweep(b, 3000, a, c);
      bench.clock.step(step);
      await sweep(b, GRACE_MS - 1000, a);
      expect((await bench.row(second.session_id)).status).to.equal('open');
      await sweep(b, 2000, a);
      expect((await bench.row(first.session_id)).status).to.equal('open');
      expect((await bench.row(second.session_id)).status).to.equal('closed');
    });

  it('are released by their gateway when they are taken over while its clock is set back', async () => {
    const { connect, first } = await bench.session(a);
    await a.ingest.sweep();
    bench.clock.step(-HOUR_MS);
    await connect({}, b).ready();
    await a.ingest.sweep();
    expect(await first.code()).to.equal(4009);
  });

  it('survive a drain: received data are stored, and the device gets 1012 and continues at another gateway', async () => {
    const { connect, first, session_id } = await bench.session(a);
    stream(first, 0, 400);
    await first.handled();
    first.samples(400, 50);
    await first.handled();
    await a.ingest.drain();
    expect(await first.code()).to.equal(1012);
    expect(a.ingest.connections).to.equal(0);
    const row = await bench.row(session_id);
    expect(row).to.include({ status: 'open', epoch: 1 });
    expect(row.progress).to.deep.include({ nextSeq: { 0: 450 }, firstInstant: T0 });
    expect(await bench.insights(session_id)).to.have.length(1);
    expect(await connect({}, b).ready()).to.deep.include({ session_id, resumed: true });
  });
});
