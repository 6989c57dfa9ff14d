import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import { StoreUnavailable } from '../store/store.js';
import { Bench, type Gateway, stream, T0, type TestDevice } from './bench.fixture.js';
import { channel } from './frames.fixture.js';
import { clockShift } from './sessions.js';

const GRACE_MS = 60_000;

describe('Sessions', () => {
  let bench: Bench;
  let a: Gateway;

  beforeEach(async () => {
    bench = await Bench.open({ graceMs: GRACE_MS });
    a = await bench.gateway('gateway-a');
  });

  afterEach(() => bench.close());

  const open = () => bench.store.openSessionOf(bench.account.id, 'band-1');

  async function gone(device: TestDevice, gateway = a): Promise<void> {
    const left = gateway.ingest.connections - 1;
    device.ws.close();
    await until(() => gateway.ingest.connections === left);
  }

  describe('on one gateway', () => {
    it('are resumed within the grace period, at their last position', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.samples(0, 100);
      await first.handled();
      await gone(first);
      bench.clock.advance(GRACE_MS - 1);
      const ready = await connect().ready();
      expect(ready).to.deep.include({ session_id, resumed: true, replay_ms: 0 });
      expect(ready.channels[0]).to.include({ next_seq: 100 });
    });

    it('are closed after it, with the arrival of the last data as their end', async () => {
      const { connect, first, session_id } = await bench.session(a);
      bench.clock.advance(700);
      first.samples(0, 100);
      await first.handled();
      bench.clock.advance(100);
      await gone(first);
      bench.clock.advance(GRACE_MS);
      await until(async () => (await bench.row(session_id)).status === 'closed');
      expect((await bench.row(session_id)).endedAt).to.equal(T0 + 700);
      expect((await connect().ready()).session_id).not.to.equal(session_id);
    });

    it('do not count the grace period from an earlier disconnection', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.samples(0, 100);
      await first.handled();
      await gone(first);
      bench.clock.advance(GRACE_MS - 1);
      const second = connect();
      await second.ready();
      bench.clock.advance(GRACE_MS);
      await gone(second);
      bench.clock.advance(GRACE_MS - 1);
      expect((await connect().ready()).session_id).to.equal(session_id);
    });

    it('are closed as soon as the connection is lost if all their data were refused', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.send({ type: 'ping' });
      first.send({ type: 'samples', channel: 9, seq: 0, samples: [1] });
      first.ws.close();
      await until(async () => (await bench.row(session_id)).status === 'closed');
      expect(await bench.row(session_id)).to.include({ endedAt: T0 });
      expect((await connect().ready()).session_id).not.to.equal(session_id);
    });

    it('have their grace period if data arrived just before the connection was lost', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.samples(0, 100);
      await gone(first);
      bench.clock.advance(GRACE_MS - 1);
      expect(await connect().ready()).to.deep.include({ session_id, resumed: true });
    });

    it('that do not end in the store delay a connection by 5 s and no longer, then 1013', async () => {
      const { connect, first } = await bench.session(a);
      first.samples(0, 100);
      await first.handled();
      const close = a.store.closeSession;
      a.store.closeSession = () => Promise.reject(new StoreUnavailable('down'));
      first.send({ type: 'end' });
      const second = connect();
      let code = 0;
      void second.code().then((it) => {
        code = it;
      });
      while (code === 0) {
        await a.store.touchKeys([], T0); // what was asked for before is done before
        bench.clock.advance(100);
        await new Promise(setImmediate);
      }
      expect(code).to.equal(1013);
      expect(bench.clock.now() - T0).to.be.within(5000, 10_000);
      a.store.closeSession = close;
      bench.clock.advance(500);
      expect(await first.next('ended')).to.include({ type: 'ended' });
      expect(await connect().ready()).to.include({ resumed: false });
    });

    it('are closed at once if the connection was closed while they were opened', async () => {
      const { connect, keyId } = await bench.device(a);
      const openSession = a.store.openSession;
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      a.store.openSession = (row) => held.then(() => openSession(row));
      const device = connect();
      await until(() => a.ingest.sessions === 1);
      await bench.store.revokeKey(keyId, T0);
      await a.keys.poll();
      expect(await device.code()).to.equal(4001);
      await until(() => a.ingest.connections === 0);
      release();
      await until(() => a.ingest.sessions === 0);
      expect(await open()).to.equal(null);
    });

    it('are closed after the grace period if they were claimed and could not be continued', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.samples(0, 100);
      await first.handled();
      await gone(first);
      const b = await bench.gateway('gateway-b');
      b.store.lastInsights = () => Promise.reject(new StoreUnavailable('down'));
      expect(await connect({}, b).code()).to.equal(1013);
      expect(await bench.row(session_id)).to.include({ status: 'open', gateway: 'gateway-b' });
      bench.clock.advance(GRACE_MS);
      await until(async () => (await bench.row(session_id)).status === 'closed');
    });

    it('continue, end and are resumed when the clock is set back by an hour', async () => {
      const { connect, first, session_id } = await bench.session(a);
      const seconds = async (device: TestDevice, from: number, to: number) => {
        for (let second = from; second < to; second++) {
          stream(device, second * 100, (second + 1) * 100);
          expect((await device.handled()).filter(({ type }) => type === 'error')).to.deep.equal([]);
          await until(() => a.publisher.queued === 0);
          bench.clock.advance(1000);
        }
      };
      await seconds(first, 0, 6);
      bench.clock.step(-3_600_000);
      await seconds(first, 6, 8);
      first.ws.close();
      await first.closed;
      const second = connect();
      expect(await second.ready()).to.deep.include({ session_id, resumed: true });
      await seconds(second, 8, 10);
      await bench.end(second);
      const readings = await bench.insights(session_id);
      expect(readings.map(({ actual_end }) => actual_end - T0)).to.deep.equal(
        [4, 5, 6, 7, 8, 9, 10].map((s) => s * 1000),
      );
      for (const [i, { ts }] of readings.entries()) expect(ts).to.be.greaterThan(readings[i - 1]?.ts ?? T0);
      expect((await bench.row(session_id)).endedAt).to.be.within(T0 + 9000, T0 + 10_000);
    });

    it('keep their signal state over a reconnect', async () => {
      const { connect, first, session_id } = await bench.session(a);
      stream(first, 0, 300);
      await first.handled();
      await gone(first);
      const second = connect();
      await second.ready();
      bench.clock.advance(2000);
      stream(second, 300, 600);
      await second.handled();
      await bench.end(second);
      const rates = await bench.insights(session_id);
      expect(rates.map(({ actual_end }) => actual_end - T0)).to.deep.equal([4000, 5000, 6000]);
    });

    it('belong to the newest connection: the older one is closed with 4009', async () => {
      const { connect, first, session_id } = await bench.session(a);
      const second = connect();
      expect(await second.ready()).to.deep.include({ session_id, resumed: true, replay_ms: 0 });
      expect(await first.code()).to.equal(4009);
      second.samples(0, 10);
      await second.handled();
    });

    it('admit only one of many simultaneous connections', async () => {
      const { connect } = await bench.device(a);
      const devices = Array.from({ length: 8 }, () => connect());
      const ready = await Promise.all(devices.map((device) => device.ready()));
      expect(new Set(ready.map(({ session_id }) => session_id)).size).to.equal(1);
      await until(() => a.ingest.connections === 1);
    });

    it('are closed at once if the model differs, and another one is opened', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.samples(0, 10);
      await first.handled();
      const other = await bench.model([channel({ modality: 'ecg' })]);
      const ready = await connect({ device_model_id: other.id }).ready();
      expect(ready).to.deep.include({ resumed: false });
      expect(ready.session_id).not.to.equal(session_id);
      expect(await first.code()).to.equal(4009);
      expect((await bench.row(session_id)).status).to.equal('closed');
    });

    it('are closed at once if the user differs, and another one is opened', async () => {
      const { connect } = await bench.device(a);
      const { key } = await bench.key({ user: 'ann' });
      const first = connect({ api_key: key });
      const { session_id } = await first.ready();
      first.samples(0, 10);
      await first.handled();
      const ready = await connect().ready();
      expect(ready.session_id).not.to.equal(session_id);
      expect(await bench.row(session_id)).to.include({ status: 'closed', user: 'ann' });
      expect(await bench.row(ready.session_id)).to.include({ status: 'open', user: null });
    });

    it("are neither ended nor moved to another model by another user's key", async () => {
      const { connect, query } = await bench.device(a);
      const { session_id } = await connect().ready();
      const { key } = await bench.key({ user: 'ann' });
      const other = await bench.model([channel({ modality: 'ecg' })]);
      expect(await connect({ api_key: key, device_model_id: other.id }).code()).to.equal(4003);
      expect(await bench.row(session_id)).to.include({ status: 'open' });
      const device = await bench.store.device(bench.account.id, query.device_id);
      expect(device?.deviceModelId).not.to.equal(other.id);
    });

    it('are resumed with another key of the same scope', async () => {
      const { connect } = await bench.device(a);
      const { session_id } = await connect().ready();
      const { key } = await bench.key();
      expect((await connect({ api_key: key }).ready()).session_id).to.equal(session_id);
    });

    it('tell both connections if the device id is taken over three times within a minute', async () => {
      const { connect } = await bench.device(a);
      const devices: TestDevice[] = [];
      for (let i = 0; i < 4; i++) {
        const device = connect();
        await device.ready();
        devices.push(device);
      }
      const told = () =>
        devices.map(({ received }) => received.filter(({ code }) => code === 'device_id_twice').length);
      await until(() => told().join() === '0,0,1,1');
      bench.clock.skip(60_000); // Without the pings that the devices would have to answer.
      const later = connect();
      await later.ready();
      expect(await devices[3]?.code()).to.equal(4009);
      expect(told()).to.deep.equal([0, 0, 1, 1]);
      expect(later.received.some(({ code }) => code === 'device_id_twice')).to.equal(false);
    });

    it('name the closed session that has the data of the same time, once, before they end', async () => {
      const { connect } = await bench.device(a);
      const upload = async (start: number) => {
        const device = connect();
        const { session_id } = await device.ready();
        for (let i = 0; i < 15; i++) device.samples(100 * i, 100, { ts: start + 1000 * i });
        device.send({ type: 'end' });
        await until(() => {
          bench.clock.advance(5);
          return device.received.some(({ type }) => type === 'ended');
        });
        return { session_id, notices: device.received.filter(({ code }) => code === 'already_stored') };
      };
      const first = await upload(T0 - 86_400_000);
      expect(first.notices).to.deep.equal([]);
      expect((await upload(T0 - 86_400_000 + 6000)).notices).to.deep.equal([]);
      const again = await upload(T0 - 86_400_000);
      expect(again.notices.map(({ session_id }) => session_id)).to.deep.equal([first.session_id]);
      expect((await upload(T0 - 80_000_000)).notices).to.deep.equal([]);
    });

    it('keep the problems of their data after they have closed, and the device its problem', async () => {
      const { query, first: device, session_id } = await bench.session(a);
      device.send({ type: 'samples', channel: 0, seq: -1, samples: [1] });
      device.samples(0, 100);
      await device.handled();
      await bench.end(device);
      const kept = await bench.store.diagnostics(session_id);
      expect(kept?.refused.map(({ code, count }) => [code, count])).to.deep.equal([['bad_value', 1]]);
      expect(kept?.notices.some(({ code, reason }) => code === 'no_reading' && reason === 'too_little')).to.equal(true);
      expect((await bench.store.device(bench.account.id, query.device_id))?.problem).to.equal('no_reading');
    });

    it('leave no diagnostics if they never had a frame', async () => {
      const { first: device, session_id } = await bench.session(a);
      bench.clock.advance(10_000);
      await device.handled();
      await bench.end(device);
      expect(await bench.store.diagnostics(session_id)).to.equal(null);
    });

    it('are separate for the same device id in two accounts', async () => {
      const { connect } = await bench.device(a);
      const { session_id } = await connect().ready();
      const other = { ...bench.account, id: crypto.randomUUID(), name: 'other' };
      await bench.store.createAccount(other);
      const model = await bench.model([channel()], other.id);
      const { key } = await bench.key({ accountId: other.id });
      const ready = await connect({ api_key: key, device_model_id: model.id }).ready();
      expect(ready.session_id).not.to.equal(session_id);
      expect(await open()).to.include({ id: session_id });
    });

    it('keep the channels of their opening, and the next session has the changed ones', async () => {
      const { connect, model } = await bench.session(a);
      const ecg = channel({ modality: 'ecg' });
      await bench.store.changeDeviceModel(model.id, (m) => ({ ...m, channels: [...m.channels, ecg] }));
      const second = connect();
      expect((await second.ready()).channels).to.have.length(1);
      second.send({ type: 'end' });
      await second.closed;
      expect((await connect().ready()).channels).to.have.length(2);
    });

    it('are replaced by a new one as soon as end is confirmed', async () => {
      const { connect, first, session_id } = await bench.session(a);
      first.send({ type: 'end' });
      await first.next('ended');
      const ready = await connect().ready();
      expect(ready).to.deep.include({ resumed: false, replay_ms: 0 });
      expect(ready.session_id).not.to.equal(session_id);
    });

    it('close with 4009 if the store has given them to another gateway', async () => {
      const { first: device, session_id } = await bench.session(a);
      await bench.store.claimSession(session_id, 1, 'gateway-b');
      device.samples(0, 10);
      expect(await device.code()).to.equal(4009);
    });
  });
});

describe('clockShift', () => {
  it('is the difference of the clocks if that exceeds a second', () => {
    expect(clockShift({ at: T0, deviceClock: T0 - 1001 })).to.equal(1001);
    expect(clockShift({ at: T0, deviceClock: T0 + 1000 })).to.equal(0);
    expect(clockShift({ at: T0, deviceClock: 0 })).to.equal(T0);
    expect(clockShift({ at: T0, deviceClock: null })).to.equal(0);
  });
});
