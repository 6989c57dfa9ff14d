import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { detailOf, seed, sessionRow, type Tenant, TestServer } from '../rest-server.fixture.js';
import { deviceModel } from './schema.js';

const Model = z.strictObject(deviceModel.shape);
const CHANNEL = { modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 18, num_channels: 2 };
const NOWHERE = '11111111-2222-4333-8444-555555555555';

describe('device models', () => {
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
  });
  beforeEach(async () => {
    tenant = await server.tenant();
  });
  after(() => server.stop());

  const post = (body: unknown, key = tenant.key) => server.request('POST', '/v1/device-models', key, body);
  const put = (id: string, body: unknown, key = tenant.key) =>
    server.request('PUT', `/v1/device-models/${id}`, key, body);
  const read = (id: string, key = tenant.key) => server.request('GET', `/v1/device-models/${id}`, key);
  /** A server whose store counts the changes of models that were computed; each waits for `held`. */
  async function countingServer(held: Promise<unknown> = Promise.resolve()) {
    const counts = { begun: 0, computed: 0 };
    const own = await TestServer.start((store) => ({
      store: {
        ...store,
        async changeDeviceModel(id, change) {
          counts.begun += 1;
          await held;
          return store.changeDeviceModel(id, (model) => {
            counts.computed += 1;
            return change(model);
          });
        },
      },
    }));
    const { key } = await own.tenant();
    const { id } = Model.parse((await own.request('POST', '/v1/device-models', key, { name: 'm' })).json);
    return { own, counts, key, path: `/v1/device-models/${id}` };
  }

  it('are changed one after the other, so that concurrent changes of one model are not repeated', async () => {
    const { own, counts, key, path } = await countingServer();
    const changes = Array.from({ length: 50 }, (_, i) => own.request('PUT', path, key, { name: `${i}` }));
    expect(new Set((await Promise.all(changes)).map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(counts.computed).to.equal(50);
    await own.stop();
  });

  it('are not changed for a client that has left before its turn', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { own, counts, key, path } = await countingServer(held);
    const sockets: Socket[] = [];
    const note = (started: unknown) => sockets.push((started as { socket: Socket }).socket);
    subscribe('http.server.request.start', note);
    const first = own.request('PUT', path, key, { name: 'first' });
    while (counts.begun === 0) await setImmediate();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = { method: 'PUT', headers, body: '{"name":"left"}', signal: leaving.signal };
    const left = fetch(own.url + path, sent).catch(() => null);
    while (sockets.length < 2) await setImmediate();
    unsubscribe('http.server.request.start', note);
    leaving.abort();
    await left;
    while (!sockets[1]?.destroyed) await setImmediate();
    release();
    const last = own.request('PUT', path, key, { description: 'last' });
    expect((await first).status).to.equal(200);
    expect((await last).json).to.include({ name: 'first', description: 'last' });
    expect(counts).to.deep.equal({ begun: 2, computed: 2 });
    await own.stop();
  });

  const made = async (body: unknown = { name: 'm', modality_channels: [CHANNEL, { ...CHANNEL, modality: 'ecg' }] }) => {
    const answer = await post(body);
    expect(answer.status, answer.text).to.equal(201);
    return Model.parse(answer.json);
  };

  /** A 400 whose detail names this field. */
  async function expectFault(answer: Promise<{ status: number; json: unknown; text: string }>, fault: string | RegExp) {
    const got = await answer;
    expect(got.status, got.text).to.equal(400);
    if (typeof fault === 'string') expect(detailOf(got)).to.contain(fault);
    else expect(detailOf(got)).to.match(fault);
  }

  describe('POST', () => {
    it('creates a model: 201 with all its fields, ids and times', async () => {
      const body = { name: 'Band 2', description: 'wrist', firmware_version: '2.1.0', modality_channels: [CHANNEL] };
      const model = await made(body);
      expect(model).to.deep.include({ name: 'Band 2', description: 'wrist', firmware_version: '2.1.0' });
      expect(model.modality_channels).to.deep.equal([{ ...CHANNEL, ch_id: model.modality_channels[0]?.ch_id }]);
      expect(model.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(model.updated_at).to.equal(model.created_at);
      expect(model).not.to.have.property('spo2_calibration');
      expect((await read(model.id)).json).to.deep.equal(model);
    });

    it('needs only a name; the other fields default to empty', async () => {
      const model = await made({ name: 'm' });
      expect(model).to.deep.include({ description: '', firmware_version: '', modality_channels: [] });
    });

    it('ignores unknown fields, including ch_id and prototype names', async () => {
      const text = `{"name":"m","id":"${NOWHERE}","x":[1],"__proto__":{"name":5},"constructor":1,
        "modality_channels":[${JSON.stringify({ ...CHANNEL, ch_id: NOWHERE, y: null })}]}`;
      const model = Model.parse((await post(text)).json);
      expect(model.id).not.to.equal(NOWHERE);
      expect(model.modality_channels[0]?.ch_id).not.to.equal(NOWHERE);
    });

    it('counts characters as Unicode code points', async () => {
      expect((await made({ name: '💓'.repeat(200) })).name).to.equal('💓'.repeat(200));
      await expectFault(post({ name: '💓'.repeat(201) }), 'name: must be a string of 1 to 200 characters');
    });

    it('keeps any text except half a surrogate pair and U+0000', async () => {
      const text = '\u0001\u001f"\\\u2028\u{10FFFF}é\'; DROP TABLE x';
      expect((await made({ name: text, description: text })).name).to.equal(text);
      await expectFault(post('{"name":"\\ud800"}'), 'name: must be');
      await expectFault(post('{"name":"a\\u0000b"}'), 'name: must be');
    });

    it('limits the length of every field', async () => {
      await made({ name: 'x'.repeat(200), description: 'x'.repeat(2000), firmware_version: 'x'.repeat(100) });
      await expectFault(post({ name: '' }), 'name: must be a string of 1 to 200 characters');
      await expectFault(
        post({ name: 'x', description: 'x'.repeat(2001) }),
        'description: must be a string of up to 2000',
      );
      await expectFault(post({ name: 'x', firmware_version: 'x'.repeat(101) }), 'firmware_version: must be');
      const channels = Array.from({ length: 65 }, () => CHANNEL);
      await made({ name: 'x', modality_channels: channels.slice(1) });
      await expectFault(
        post({ name: 'x', modality_channels: channels }),
        'modality_channels: must be a list of at most 64',
      );
    });

    it('names each faulty field and its rule', async () => {
      const answer = await post({ description: 5, modality_channels: [CHANNEL, { modality: 'A b', bit_depth: '8' }] });
      expect(answer.status).to.equal(400);
      expect(detailOf(answer).split('; ')).to.deep.equal([
        'name: is missing: it must be a string of 1 to 200 characters',
        'description: must be a string of up to 2000 characters',
        'modality_channels[1].modality: must be 1 to 64 of the characters a-z, 0-9 and _',
        'modality_channels[1].sample_rate_hz: is missing: it must be a number from 0.1 to 10000',
        'modality_channels[1].bit_depth: must be an integer from 1 to 32',
        'modality_channels[1].num_channels: is missing: it must be an integer from 1 to 64',
      ]);
    });

    it('refuses null, wrong types and bodies that are not objects', async () => {
      for (const name of [null, 1, true, [], {}]) await expectFault(post({ name }), 'name: must be a string');
      for (const body of ['[]', 'null', '1', '"x"', 'true'])
        await expectFault(post(body), 'body: must be a JSON object');
      for (const modality_channels of [null, {}, 'x', [null], [[]], [5]]) {
        await expectFault(post({ name: 'x', modality_channels }), /^modality_channels(\[0\])?: must be/);
      }
    });

    it('limits the fields of channels to their ranges', async () => {
      const good = { sample_rate_hz: [0.1, 10_000, 33.3], bit_depth: [1, 32], num_channels: [1, 64] };
      const absurd = ['1e308', '-1e308', '1e999', '-0', '0', '-1', '9007199254740992', '5e-324', 'null', '"1"'];
      const bad = { sample_rate_hz: ['0.09', '10000.1'], bit_depth: ['33', '1.5'], num_channels: ['65', '1.5'] };
      for (const field of ['sample_rate_hz', 'bit_depth', 'num_channels'] as const) {
        for (const value of good[field]) await made({ name: 'x', modality_channels: [{ ...CHANNEL, [field]: value }] });
        for (const value of [...absurd, ...bad[field]]) {
          const channel = JSON.stringify({ ...CHANNEL, [field]: 'HERE' }).replace('"HERE"', value);
          const body = `{"name":"x","modality_channels":[${channel}]}`;
          await expectFault(post(body), `modality_channels[0].${field}: must be`);
        }
      }
    });

    it('limits modality names to their characters', async () => {
      for (const modality of ['a', 'ppg_ir', '0', '_', 'x'.repeat(64)]) {
        await made({ name: 'x', modality_channels: [{ ...CHANNEL, modality }] });
      }
      for (const modality of ['', 'A', 'a b', 'é', 'ppg\n', 'x'.repeat(65)]) {
        await expectFault(post({ name: 'x', modality_channels: [{ ...CHANNEL, modality }] }), '[0].modality: must be');
      }
    });

    it('answers a huge invalid list at once and briefly', async () => {
      const answer = await post(`{"name":"x","modality_channels":[${'1,'.repeat(400_000)}1]}`);
      expect(answer.status).to.equal(400);
      expect(detailOf(answer).length).to.be.lessThan(200);
      const many = await post({ name: 'x', modality_channels: Array.from({ length: 64 }, () => ({})) });
      expect(detailOf(many)).to.match(/; and \d+ more$/);
    });

    it('keeps an SpO2 calibration, and returns the field only if there is one', async () => {
      const model = await made({ name: 'x', spo2_calibration: { a: 110.5, b: -32.8 } });
      expect(model.spo2_calibration).to.deep.equal({ a: 110.5, b: -32.8, c: 0 });
      expect((await server.store.deviceModel(model.id))?.spo2Curve).to.deep.equal([110.5, -32.8, 0]);
      expect(await made({ name: 'x', spo2_calibration: null })).not.to.have.property('spo2_calibration');
      await expectFault(post({ name: 'x', spo2_calibration: { a: 1 } }), 'spo2_calibration.b: is missing');
      await expectFault(
        post({ name: 'x', spo2_calibration: { a: 1, b: 1001 } }),
        'spo2_calibration.b: must be a number',
      );
      await expectFault(post({ name: 'x', spo2_calibration: [110, -25] }), 'spo2_calibration: must be a JSON object');
    });
  });

  describe('GET', () => {
    it('lists the models of the account, oldest first, for any key of the account', async () => {
      const ids = [];
      for (const name of ['b', 'a', 'c']) ids.push((await made({ name })).id);
      for (const key of [tenant.key, tenant.userKey]) {
        const { status, json } = await server.request('GET', '/v1/device-models', key);
        expect(status).to.equal(200);
        expect(
          z
            .array(Model)
            .parse(json)
            .map(({ id }) => id),
        ).to.deep.equal(ids);
      }
      const other = await server.tenant();
      expect((await server.request('GET', '/v1/device-models', other.key)).json).to.deep.equal([]);
    });

    it('accepts an id in upper and lower case', async () => {
      const { id } = await made();
      expect((await read(id.toUpperCase())).status).to.equal(200);
    });
  });

  it('answers 404 to malformed or unknown ids and 403 to those of another account, for every method', async () => {
    const { id, modality_channels } = await made();
    const channel = modality_channels[0]?.ch_id;
    const stranger = await server.tenant();
    const requests: [method: string, rest: string, body?: unknown][] = [
      ['GET', ''],
      ['PUT', '', {}],
      ['DELETE', ''],
      ['GET', '/modalities'],
      ['POST', '/modalities', CHANNEL],
      ['PUT', `/modalities/${channel}`, {}],
      ['DELETE', `/modalities/${channel}`],
    ];
    for (const [method, rest, body] of requests) {
      for (const unknown of [NOWHERE, 'x', '1', `${id}0`, '%00', '%F0%9F%92%93']) {
        const answer = await server.request(method, `/v1/device-models/${unknown}${rest}`, tenant.key, body);
        expect(answer.status, `${method} ${unknown}${rest}`).to.equal(404);
        detailOf(answer);
      }
      const answer = await server.request(method, `/v1/device-models/${id}${rest}`, stranger.key, body);
      expect(answer.status, `${method} ${rest}`).to.equal(403);
      detailOf(answer);
    }
    expect((await read(id)).status).to.equal(200);
  });

  describe('PUT', () => {
    it('changes any subset of the fields and keeps the others, including the id', async () => {
      const before = await made({ name: 'a', description: 'b', firmware_version: 'c', modality_channels: [CHANNEL] });
      const { status, json } = await put(before.id, { description: '', id: NOWHERE });
      expect(status).to.equal(200);
      const after = Model.parse(json);
      expect(after).to.deep.equal({ ...before, description: '', updated_at: after.updated_at });
      expect(Date.parse(after.updated_at)).to.be.at.least(Date.parse(before.updated_at));
      expect((await read(before.id)).json).to.deep.equal(after);
    });

    it('accepts its own response with changes', async () => {
      const before = await made();
      const { json, status } = await put(before.id, { ...before, name: 'new' });
      expect(status).to.equal(200);
      expect(json).to.deep.include({ name: 'new', modality_channels: before.modality_channels });
    });

    it('changes channels by ch_id, adds channels without one, and removes none', async () => {
      const { id, modality_channels } = await made();
      const [first, second] = modality_channels;
      const added = { modality: 'accel', sample_rate_hz: 50, bit_depth: 16, num_channels: 3 };
      const entries = [added, { ch_id: second?.ch_id.toUpperCase(), bit_depth: 24 }];
      const { status, json } = await put(id, { modality_channels: entries });
      expect(status).to.equal(200);
      const after = Model.parse(json).modality_channels;
      expect(after.slice(0, 2)).to.deep.equal([first, { ...second, bit_depth: 24 }]);
      expect(after[2]).to.deep.include(added);
      expect(after).to.have.length(3);
    });

    it('refuses an unknown ch_id, a repeated ch_id and an incomplete new channel, and then changes nothing', async () => {
      const { id, modality_channels, ...before } = await made();
      const ch_id = modality_channels[0]?.ch_id;
      const wrong: [entry: unknown, fault: string][] = [
        [{ ch_id: NOWHERE }, 'modality_channels[1].ch_id: must be the ch_id of a channel of this model'],
        [{ ch_id }, 'modality_channels[1].ch_id: must not be given twice'],
        [{ ch_id: 'x' }, 'modality_channels[1].ch_id: must be a UUID'],
        [{ ch_id: null }, 'modality_channels[1].ch_id: must be a UUID'],
        [{ modality: 'ecg' }, 'modality_channels[1].sample_rate_hz: is missing'],
        [{ ch_id, bit_depth: 99 }, 'modality_channels[1].bit_depth: must be'],
      ];
      for (const [entry, fault] of wrong) {
        await expectFault(put(id, { name: 'new', modality_channels: [{ ch_id, bit_depth: 1 }, entry] }), fault);
      }
      expect((await read(id)).json).to.deep.equal({ id, modality_channels, ...before });
    });

    it('lets no model grow beyond 64 channels', async () => {
      const channels = Array.from({ length: 40 }, () => CHANNEL);
      const { id } = await made({ name: 'x', modality_channels: channels });
      await expectFault(put(id, { modality_channels: channels }), 'at most 64 channels');
      expect((await put(id, { modality_channels: channels.slice(16) })).status).to.equal(200);
      await expectFault(put(id, { modality_channels: [CHANNEL] }), 'at most 64 channels');
    });

    it('sets, keeps and removes the SpO2 calibration', async () => {
      const { id } = await made();
      const curve = { a: 104, b: -17, c: 0.5 };
      expect((await put(id, { spo2_calibration: curve })).json).to.deep.include({ spo2_calibration: curve });
      expect((await put(id, { name: 'y' })).json).to.deep.include({ spo2_calibration: curve });
      expect((await put(id, { spo2_calibration: null })).json).not.to.have.property('spo2_calibration');
    });

    it('refuses null and wrong types', async () => {
      const { id } = await made();
      for (const field of ['name', 'description', 'firmware_version', 'modality_channels']) {
        for (const value of [null, 5, {}]) await expectFault(put(id, { [field]: value }), `${field}: must be`);
      }
      await expectFault(put(id, { name: '' }), 'name: must be');
    });

    it('applies all concurrent changes of different fields', async () => {
      const { id } = await made();
      const fields = { name: 'n', description: 'd', firmware_version: 'f' };
      await Promise.all(Object.entries(fields).map(([field, value]) => put(id, { [field]: value })));
      expect((await read(id)).json).to.deep.include(fields);
    });
  });

  describe('DELETE', () => {
    it('answers 204 without a body, then 404', async () => {
      const { id } = await made();
      const { status, text, headers } = await server.request('DELETE', `/v1/device-models/${id}`, tenant.key);
      expect([status, text, headers.get('content-type')]).to.deep.equal([204, '', null]);
      expect((await read(id)).status).to.equal(404);
      expect((await server.request('DELETE', `/v1/device-models/${id}`, tenant.key)).status).to.equal(404);
    });

    it('answers 409 while a device references the model', async () => {
      const { id } = await made();
      const device = { accountId: tenant.accountId, deviceId: 'd', deviceModelId: id, createdAt: 0, problem: null };
      await server.store.putDevice(device);
      const answer = await server.request('DELETE', `/v1/device-models/${id}`, tenant.key);
      expect(answer.status).to.equal(409);
      expect(detailOf(answer)).to.contain('reference');
      await server.store.deleteDevice(tenant.accountId, 'd');
      expect((await server.request('DELETE', `/v1/device-models/${id}`, tenant.key)).status).to.equal(204);
    });
  });

  it('keeps the id of a deleted model in past sessions', async () => {
    const { id } = await made();
    const row = { ...sessionRow(tenant.accountId, 0), deviceModelId: id };
    await seed(server.store, row);
    expect((await server.request('DELETE', `/v1/device-models/${id}`, tenant.key)).status).to.equal(204);
    const { json } = await server.request('GET', `/v1/sessions/${row.id}`, tenant.key);
    expect(json).to.deep.include({ id: row.id, device_model_id: id });
  });

  describe('bodies', () => {
    const send = (body: string, headers: Record<string, string>) =>
      server.request('POST', '/v1/device-models', tenant.key, body, headers);

    it('must have the content type of JSON', async () => {
      for (const type of ['application/json', 'application/json; charset=UTF-8', 'application/vnd.api+json']) {
        expect((await send('{"name":"x"}', { 'content-type': type })).status, type).to.equal(201);
      }
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'x',
        '',
      ]) {
        await expectFault(send('{"name":"x"}', { 'content-type': type }), 'body: must be JSON, sent with Content-Type');
      }
    });

    it('must be present and be valid JSON', async () => {
      await expectFault(server.request('POST', '/v1/device-models', tenant.key), 'body: must be JSON');
      for (const body of ['{', '{"name":"x"', "{'name':'x'}", '{"name":"x",}', 'NaN', ' ', '\u0000', '[1,]']) {
        await expectFault(post(body), 'body: must be valid JSON');
      }
      const { id } = await made();
      await expectFault(put(id, '{'), 'body: must be valid JSON');
    });

    it('may be at most 1 MiB long, also without a Content-Length', async () => {
      const ofLength = (n: number) => `{"name":"x","pad":"${'x'.repeat(n - 21)}"}`;
      expect((await post(ofLength(1024 * 1024))).status).to.equal(201);
      await expectFault(post(ofLength(1024 * 1024 + 1)), 'body: must be at most 1048576 bytes');
      await expectFault(post(ofLength(20 * 1024 * 1024)), 'body: must be at most 1048576 bytes');
      const chunked = await fetch(`${server.url}/v1/device-models`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
        body: new Blob([ofLength(2 * 1024 * 1024)]).stream(),
        duplex: 'half',
      });
      expect(chunked.status).to.equal(400);
    });

    it('may be the largest device model, with its texts written as escapes', async () => {
      const heart = (n: number) => '\\ud83d\\udc93'.repeat(n);
      const channel = `{ "modality": "${'m'.repeat(64)}", "sample_rate_hz": 9999.999, "bit_depth": 32, "num_channels": 64 }`;
      const channels = Array.from({ length: 64 }, () => channel).join(',\n');
      const texts = `"name":"${heart(200)}","description":"${heart(2000)}","firmware_version":"${heart(100)}"`;
      expect((await post(`{${texts},"modality_channels":[${channels}]}`)).status).to.equal(201);
    });

    it('may not inflate beyond that, and must be validly compressed', async () => {
      const { gzipSync } = await import('node:zlib');
      const compressed = async (bytes: Buffer, encoding: string) => {
        const response = await fetch(`${server.url}/v1/device-models`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${tenant.key}`,
            'content-type': 'application/json',
            'content-encoding': encoding,
          },
          body: new Uint8Array(bytes),
        });
        return response.status;
      };
      expect(await compressed(gzipSync('{"name":"x"}'), 'gzip')).to.equal(201);
      expect(await compressed(gzipSync(`{"name":"${'x'.repeat(50_000_000)}"}`), 'gzip')).to.equal(400);
      expect(await compressed(Buffer.from('{"name":"x"}'), 'gzip')).to.equal(400);
      expect(await compressed(Buffer.from('{"name":"x"}'), 'nonsense')).to.equal(400);
    });

    it('are ignored for methods without a body', async () => {
      const { id } = await made();
      const answer = await server.request('DELETE', `/v1/device-models/${id}`, tenant.key, '{', {
        'content-type': 'text/plain',
      });
      expect(answer.status).to.equal(204);
    });
  });

  it('are refused if the account has reached its limit, with advice', async () => {
    await using full = await TestServer.start((store) => ({ store: { ...store, addDeviceModel: async () => false } }));
    const { key } = await full.tenant();
    const answer = await full.request('POST', '/v1/device-models', key, { name: 'one more' });
    expect(answer.status).to.equal(409);
    expect(detailOf(answer)).to.include('at most 10000 device models').and.include('delete');
  });
});
