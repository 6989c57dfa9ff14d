import { randomUUID } from 'node:crypto';
import { strangersUpgrade } from '@device-insights/fanout/platform/raw.fixture';
import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import { StoreUnavailable } from '../store/store.js';
import { Bench, type Gateway } from './bench.fixture.js';
import { channel } from './frames.fixture.js';

describe('the sessions of one account', () => {
  let bench: Bench;
  let a: Gateway;
  let b: Gateway;

  beforeEach(async () => {
    bench = await Bench.open({ maxSessions: 4, maxAccountSessions: 3 });
    [a, b] = [await bench.gateway('gateway-a'), await bench.gateway('gateway-b')];
  });
  afterEach(() => bench.close());

  /** What connects the devices of another account. */
  async function stranger() {
    const account = { ...bench.account, id: randomUUID(), name: 'other' };
    await bench.store.createAccount(account);
    const model = await bench.model([channel()], account.id);
    const { key } = await bench.key({ accountId: account.id });
    return (device_id: string) => bench.connect(a, { device_id, device_model_id: model.id, api_key: key });
  }

  it('leave room for other accounts, however many connect at once', async () => {
    const { connect } = await bench.device(a);
    const devices = Array.from({ length: 12 }, (_, i) => connect({ device_id: `band-${i}` }));
    const outcomes = await Promise.all(devices.map((device) => Promise.race([device.ready(), device.closed])));
    const refused = outcomes.filter((outcome) => 'code' in outcome);
    expect(refused).to.have.length(9);
    for (const { code, reason } of refused) {
      expect(code).to.equal(1013);
      expect(reason).to.include('MAX_ACCOUNT_SESSIONS');
    }
    const connectOther = await stranger();
    await connectOther('one').ready();
    expect(await connectOther('two').closed).to.deep.include({ code: 1013 });
    expect((await connectOther('three').closed).reason).to.match(/\(MAX_SESSIONS\)/);
  });

  it('keep no device of another account out while they wait to be joined, however many', async () => {
    const { model, query } = await bench.device(a);
    const connectOther = await stranger();
    const { deviceModel } = a.store;
    a.store.deviceModel = (id) => (id === model.id ? new Promise(() => undefined) : deviceModel(id));
    const waiting = Array.from({ length: 4096 }, () => strangersUpgrade());
    for (const [request, socket, head] of waiting) {
      request.url = `/?${new URLSearchParams(query)}`;
      a.ingest.handleUpgrade(request, socket, head);
    }
    await until(() => a.ingest.counters.refusedDevices.get('overloaded') === 2048); // The others wait to be joined.
    await connectOther('one').ready();
    expect(a.ingest.counters.refusedDevices.get('overloaded')).to.equal(2048);
    for (const [, socket] of waiting) socket.destroy();
  });

  it('count while they wait for their devices, but not if they never had data', async () => {
    const { connect } = await bench.device(a);
    const devices = [0, 1, 2].map((i) => connect({ device_id: `band-${i}` }));
    for (const device of devices) await device.ready();
    devices[0]?.samples(0, 10);
    await devices[0]?.handled();
    for (const device of devices) device.ws.close();
    await until(() => a.ingest.connections === 0);
    await until(async () => (await bench.store.openSessionOf(bench.account.id, 'band-2')) === null);
    const again = [3, 4].map((i) => connect({ device_id: `band-${i}` }));
    for (const device of again) await device.ready();
    expect((await connect({ device_id: 'band-5' }).closed).reason).to.include('MAX_ACCOUNT_SESSIONS');
    expect(await connect({ device_id: 'band-0' }).ready()).to.include({ resumed: true });
  });

  it('do not count if the store could not open them', async () => {
    const { connect } = await bench.device(a);
    const { openSession } = a.store;
    a.store.openSession = () => Promise.reject(new StoreUnavailable('the disk is full'));
    for (const i of [0, 1, 2]) expect(await connect({ device_id: `lost-${i}` }).code()).to.equal(1013);
    a.store.openSession = openSession;
    for (const i of [0, 1, 2]) await connect({ device_id: `band-${i}` }).ready();
  });

  it('count as often as they have channels of one modality', async () => {
    const { connect } = await bench.device(a, { channels: [channel(), channel()] });
    await connect({ device_id: 'two' }).ready();
    expect((await connect({ device_id: 'two-more' }).closed).reason).to.include('MAX_ACCOUNT_SESSIONS');
    const connectOther = await stranger();
    await connectOther('one').ready();
    await connectOther('two').ready();
    expect((await connectOther('three').closed).reason).to.match(/\(MAX_SESSIONS\)/);
  });

  it('stay with their gateway if another one has no room', async () => {
    const { connect } = await bench.device(a);
    const served = connect({ device_id: 'wanderer' });
    const { session_id } = await served.ready();
    for (const i of [0, 1, 2]) await connect({ device_id: `band-${i}` }, b).ready();
    expect(await connect({ device_id: 'wanderer' }, b).code()).to.equal(1013);
    expect(await bench.row(session_id)).to.include({ gateway: 'gateway-a', status: 'open' });
    await a.ingest.sweep();
    await served.handled();
  });
});

describe('the sessions that an account opens in a day', () => {
  let bench: Bench;

  beforeEach(async () => {
    bench = await Bench.open({ maxDailySessions: 2 });
  });
  afterEach(() => bench.close());

  it('are limited in number, and a device that resumes its session needs none', async () => {
    const { connect } = await bench.device(await bench.gateway());
    await connect({ device_id: 'band-1' }).ready();
    await connect({ device_id: 'band-2' }).ready();
    const { code, reason } = await connect({ device_id: 'band-3' }).closed;
    expect([code, reason]).to.deep.equal([
      1013,
      'this account has reached its daily session limit (MAX_DAILY_SESSIONS); try again later',
    ]);
    expect(await connect({ device_id: 'band-1' }).ready()).to.include({ resumed: true });
    bench.clock.advance(12 * 3_600_000);
    await connect({ device_id: 'band-3' }).ready();
  });
});
