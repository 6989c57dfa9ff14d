import { randomUUID } from 'node:crypto';
import { CLOSE } from '@device-insights/contract/close-codes';
import { strangersUpgrade } from '@device-insights/fanout/platform/raw.fixture';
import { until } from '@device-insights/fanout/platform/until.fixture';
import { expect } from 'chai';
import { CloseError } from '../errors.js';
import { newKey } from '../keys/key.js';
import { register } from './admission.js';
import { Allowance } from './allowance.js';
import { Bench, type Gateway, T0 } from './bench.fixture.js';
import { channel } from './frames.fixture.js';

describe('Admission of devices', () => {
  let bench: Bench;
  let gateway: Gateway;

  beforeEach(async () => {
    bench = await Bench.open({ maxSessions: 2 });
    gateway = await bench.gateway();
  });

  afterEach(() => bench.close());

  it('answers ready with the session, its channels and the limits', async () => {
    const ppg = channel({ ch_id: randomUUID(), bit_depth: 18, num_channels: 2 });
    const { connect, model } = await bench.device(gateway, { channels: [ppg, channel({ modality: 'accel' })] });
    const ready = await connect().ready();
    const row = await bench.row(ready.session_id);
    expect(row).to.include({ status: 'open', deviceId: 'band-1', deviceModelId: model.id, startedAt: T0, epoch: 1 });
    expect({ ...ready, session_id: '' }).to.deep.equal({
      type: 'ready',
      session_id: '',
      resumed: false,
      server_time: T0,
      channels: [
        { index: 0, ...ppg, next_seq: 0 },
        { index: 1, ...channel({ modality: 'accel' }), next_seq: 0 },
      ],
      replay_ms: 0,
      limits: { max_frame_bytes: 65_536, max_unacked_ms: 30_000, ack_interval_ms: 500 },
    });
  });

  it('creates the row of the device, and moves it to the model of a later connection', async () => {
    const { connect, model } = await bench.device(gateway);
    await connect().ready();
    const rows = () => bench.store.devices(bench.account.id);
    expect(await rows()).to.have.length(1);
    expect((await rows())[0]).to.include({ deviceId: 'band-1', deviceModelId: model.id });
    const other = await bench.model();
    await connect({ device_model_id: other.id }).ready();
    expect((await rows()).map(({ deviceModelId }) => deviceModelId)).to.deep.equal([other.id]);
  });

  it('limits the new devices of a key in a day, but neither known devices nor those of other keys', async () => {
    const { model } = await bench.device(gateway);
    const allowance = new Allowance(bench.clock);
    const add = (deviceId: string, key: string, user: string | null = 'ann') => {
      const device = { deviceId, model, deviceClock: null, at: T0, upload: null };
      const admission = { accountId: bench.account.id, user, keyHash: key, ...device };
      return register(admission, allowance, bench.store);
    };
    await Promise.all(Array.from({ length: 1000 }, (_, i) => add(`band-${i}`, 'of ann')));
    const refusal = await add('one-more', 'of ann').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(CloseError).and.include({ code: 1013 });
    expect(String(refusal)).to.include('too many new devices').and.to.have.length.below(130);
    await add('band-0', 'of ann');
    await add('one-more', 'of bert');
    await Promise.all(Array.from({ length: 1001 }, (_, i) => add(`shared-${i}`, 'shared', null)));
  });

  it('accepts the key in the Authorization header, too', async () => {
    const { query, key } = await bench.device(gateway);
    const { api_key: _, ...rest } = query;
    for (const authorization of [`Bearer ${key}`, `bearer ${key}`]) {
      await bench.connect(gateway, rest, { authorization }).ready();
    }
    expect(await bench.connect(gateway, rest, { authorization: `Basic ${key}` }).code()).to.equal(4001);
  });

  it('logs the address of a client whose key is refused', async () => {
    const { query } = await bench.device(gateway);
    const api_key = newKey();
    const client = bench.connect(gateway, { ...query, api_key }, { 'x-forwarded-for': '203.0.113.9' });
    expect(await client.code()).to.equal(4001);
    const lines = bench.logged.filter(({ text }) => text === 'an API key was refused');
    const fields = {
      deviceId: query.device_id,
      code: 4001,
      reason: CLOSE.authenticationFailed.meaning,
      address: '203.0.113.9',
      keyPrefix: api_key.slice(0, 8),
      account: null,
    };
    expect(lines).to.deep.equal([{ level: 'warn', fields, text: 'an API key was refused' }]);
  });

  it('logs a device that it refuses, and remembers the last 100 of its account', async () => {
    const { connect, model, key } = await bench.device(gateway);
    const { accountId } = model;
    expect(await connect({ device_model_id: randomUUID() }).code()).to.equal(4004);
    expect(await connect({ device_id: '..' }).code()).to.equal(4000);
    expect(await connect({ device_id: '..' }).code()).to.equal(4000);
    const [newest, before] = gateway.ingest.refused.of(accountId);
    const fields = { address: '127.0.0.1', keyPrefix: key.slice(0, 8) };
    expect(newest).to.deep.include({ ...fields, deviceId: '..', code: 4000, count: 2, at: T0 });
    expect(before).to.deep.include({ ...fields, code: 4004, count: 1 });
    const line = bench.logged.findLast(({ text }) => text === 'a device was refused');
    expect(line?.level).to.equal('warn');
    expect(line?.fields).to.deep.include({ ...fields, account: accountId, deviceId: '..', code: 4000 });
    expect(JSON.stringify(line?.fields)).to.include('device_id must be');
    for (let i = 0; i < 101; i++) await connect({ device_id: `${i}/` }).code();
    const all = gateway.ingest.refused.of(accountId).map(({ deviceId }) => deviceId);
    expect([all.length, all[0], all[99]]).to.deep.equal([100, '100/', '1/']);
  });

  it('keeps no place among the waiting for those that it has refused, so that they keep nobody out', async () => {
    const strangers = Array.from({ length: 5000 }, () => strangersUpgrade());
    for (const stranger of strangers) {
      gateway.ingest.handleUpgrade(...stranger);
      await Promise.resolve(); // Its refusal is not immediate.
    }
    await (await bench.device(gateway)).connect().ready();
    for (const [, socket] of strangers) socket.destroy();
  });

  it('accepts thousands of connections in turns, so that others are served meanwhile', async () => {
    const strangers = Array.from({ length: 3000 }, () => strangersUpgrade());
    for (const stranger of strangers) gateway.ingest.handleUpgrade(...stranger);
    expect(gateway.ingest.connections).to.equal(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(gateway.ingest.connections).to.be.within(1, 2999);
    const closed = () => strangers.filter(([, socket]) => socket.destroyed).length; // On a busy machine the first ones.
    await until(() => gateway.ingest.connections + closed() === 3000);
    for (const [, socket] of strangers) socket.destroy();
  });

  it('accepts device ids of all allowed characters, up to 128', async () => {
    const { connect } = await bench.device(gateway);
    await connect({ device_id: 'aZ0._:-' }).ready();
    await connect({ device_id: 'x'.repeat(128) }).ready();
  });

  it('accepts a model id in upper case', async () => {
    const { connect, model } = await bench.device(gateway);
    await connect({ device_model_id: model.id.toUpperCase() }).ready();
  });

  it('closes with 4001 if the key is missing, malformed, unknown, revoked or expired', async () => {
    const { query, connect, keyId } = await bench.device(gateway);
    const { api_key: _, ...rest } = query;
    expect(await bench.connect(gateway, rest).code()).to.equal(4001);
    expect(await connect({ api_key: 'x' }).code()).to.equal(4001);
    expect(await connect({ api_key: newKey() }).code()).to.equal(4001);
    await bench.store.revokeKey(keyId, T0);
    expect(await connect().code()).to.equal(4001);
    const expired = await bench.key({ expiresAt: T0 });
    expect(await connect({ api_key: expired.key }).code()).to.equal(4001);
  });

  it('closes with 4000 if a parameter is missing, malformed or repeated', async () => {
    const { query, connect, key, model } = await bench.device(gateway);
    expect(await bench.connect(gateway, { api_key: key }).code()).to.equal(4000);
    expect(await bench.connect(gateway, { api_key: key, device_id: 'a' }).code()).to.equal(4000);
    const wrong = [
      { device_id: '' },
      { device_id: 'x'.repeat(129) },
      { device_id: 'a b' },
      { device_id: 'ä' },
      { device_model_id: 'x' },
      { device_model_id: `${model.id}0` },
      { clock: '' },
      { clock: 'now' },
      { clock: 'Infinity' },
      { clock: '0x10' },
      { clock: `1${'0'.repeat(400)}` },
    ];
    for (const parameters of wrong) expect(await connect(parameters).code(), JSON.stringify(parameters)).to.equal(4000);
    const repeated: [string, string][] = [...Object.entries(query), ['device_id', 'other']];
    expect(await bench.connect(gateway, repeated).code()).to.equal(4000);
  });

  it('closes with 4004 if the model does not exist, and with 4003 if it belongs to another account', async () => {
    const { connect } = await bench.device(gateway);
    const other = { id: randomUUID(), name: 'other', algorithms: null, createdAt: T0 };
    await bench.store.createAccount(other);
    const foreign = await bench.model([channel()], other.id);
    expect(await connect({ device_model_id: randomUUID() }).code()).to.equal(4004);
    expect(await connect({ device_model_id: foreign.id }).code()).to.equal(4003);
    expect(await bench.store.devices(bench.account.id)).to.deep.equal([]);
  });

  it('closes with 4029 if the account has as many devices as it may have, with advice', async () => {
    const { connect } = await bench.device(gateway);
    await connect().ready();
    const { putDevice } = gateway.store;
    gateway.store.putDevice = (device) => putDevice(device, 1);
    const { code, reason } = await connect({ device_id: 'one-more' }).closed;
    expect(code).to.equal(4029);
    expect(reason).to.include('at most 100000 devices').and.include('delete');
    await connect().ready();
  });

  it('checks the key before the parameters, and the parameters before the model', async () => {
    const { connect } = await bench.device(gateway);
    expect(await connect({ api_key: newKey(), device_id: '' }).code()).to.equal(4001);
    expect(await connect({ device_id: '', device_model_id: randomUUID() }).code()).to.equal(4000);
  });

  it('gives the reason for a close', async () => {
    const { connect } = await bench.device(gateway);
    const { reason } = await connect({ device_id: '' }).closed;
    expect(reason).to.equal('device_id must be 1 to 128 of the characters A-Z a-z 0-9 . _ : - (but not . or ..)');
  });

  it('closes with 1013 if the signal core has no room, and adds no session and no device', async () => {
    const { connect } = await bench.device(gateway);
    await connect({ device_id: 'a' }).ready();
    await connect({ device_id: 'b' }).ready();
    expect(await connect({ device_id: 'c' }).code()).to.equal(1013);
    expect(await bench.store.openSessionOf(bench.account.id, 'c')).to.equal(null);
    expect((await bench.store.devices(bench.account.id)).map(({ deviceId }) => deviceId)).to.deep.equal(['a', 'b']);
    expect(await connect({ device_id: 'b' }).ready()).to.include({ resumed: true });
  });

  it('closes with 1013 if the store does not answer', async () => {
    const { connect } = await bench.device(gateway);
    await gateway.store.close();
    expect(await connect().code()).to.equal(1013);
  });

  it('closes with 1013 while its clock is before 2000, which would have it refuse all times of the device', async () => {
    const { connect } = await bench.device(gateway);
    bench.clock.step(-T0);
    const { code, reason } = await connect().closed;
    expect(code).to.equal(1013);
    expect(reason).to.include('the clock of the gateway').and.include('set it');
    expect(() => gateway.ingest.check()).to.throw('the clock of the gateway');
    bench.clock.step(T0);
    gateway.ingest.check();
    await connect().ready();
  });

  it('closes with 1012 while draining, whatever other faults there are', async () => {
    const { connect } = await bench.device(gateway);
    await gateway.ingest.drain();
    expect(await connect({ api_key: 'x' }).code()).to.equal(1012);
    expect(() => gateway.ingest.check()).to.throw('shutting down');
  });

  it('leaves the session of a device that is being admitted while the drain begins', async () => {
    const { connect } = await bench.device(gateway);
    const { openSession } = gateway.store;
    let open = () => {};
    const asked = new Promise<void>((begun) => {
      gateway.store.openSession = async (row) => {
        begun();
        await new Promise<void>((resolve) => {
          open = resolve;
        });
        return openSession(row);
      };
    });
    const device = connect();
    await asked;
    const drained = gateway.ingest.drain();
    open();
    expect(await device.code()).to.equal(1012);
    await drained;
    await until(() => gateway.ingest.sessions === 0);
  });

  it('writes at most 100 log lines a second of devices that connect, and of sessions that leave', async () => {
    const roomy = await Bench.open({ maxSessions: 103 });
    try {
      const place = await roomy.gateway();
      const { connect } = await roomy.device(place);
      const devices = Array.from({ length: 103 }, (_, i) => connect({ device_id: `band-${i}` }));
      for (const device of devices) await device.ready();
      for (const { ws } of devices) ws.close();
      await until(() => place.ingest.sessions === 0);
      const lines = (text: string) => roomy.logged.filter((line) => line.text === text).map(({ fields }) => fields);
      for (const text of ['device connected', 'session left this gateway']) {
        expect(lines(text)).to.have.length(100);
        roomy.clock.advance(1000);
        expect(lines(`repeated: ${text}`)).to.deep.equal([{ times: 3 }]);
      }
    } finally {
      await roomy.close();
    }
  });

  it('counts its sockets', async () => {
    const { first: device } = await bench.session(gateway);
    expect(gateway.ingest.connections).to.equal(1);
    device.ws.close();
    await device.closed;
    expect(gateway.ingest.connections).to.equal(0);
  });
});
