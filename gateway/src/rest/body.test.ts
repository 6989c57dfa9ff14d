import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@device-insights/fanout/platform/clock';
import { expect } from 'chai';
import { KeyRing } from '../keys/key-ring.js';
import { addedModel } from '../store/suite/samples.js';
import { detailOf, type Tenant, TestServer } from './rest-server.fixture.js';

const PATH = '/v1/device-models';

describe('the body of a request', () => {
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
  });
  beforeEach(async () => {
    tenant = await server.tenant();
  });
  after(() => server.stop());

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    server.request('POST', PATH, tenant.key, body, headers);
  const named = (name: string, encoding: BufferEncoding = 'utf8') => Buffer.from(`{"name":"${name}"}`, encoding);
  const listed = async () => (await server.request('GET', PATH, tenant.key)).json;

  it('may be any text in UTF-8, with or without a byte order mark', async () => {
    const text = 'Jürgen 💓 \u0080\u{10ffff}';
    expect((await post(named(text))).json).to.include({ name: text });
    expect((await post(`\ufeff{"name":"${text}"}`)).json).to.include({ name: text });
  });

  it('is refused if it is in another encoding, instead of stored with replaced characters', async () => {
    const cut = Buffer.concat([Buffer.from('{"name":"'), Buffer.from('💓').subarray(0, 3), Buffer.from('"}')]);
    for (const body of [named('J\xfcrgen', 'latin1'), cut, Buffer.from([0xff])]) {
      const answer = await post(body);
      expect(answer.status).to.equal(400);
      expect(detailOf(answer)).to.contain('body: must be in UTF-8');
    }
    expect((await post(named('x', 'utf16le'))).status).to.equal(400);
    expect(await listed()).to.deep.equal([]);
  });

  it('is refused if its Content-Type has another charset', async () => {
    for (const charset of ['utf-8', 'UTF8', '"utf-8"'])
      expect((await post(named('x'), { 'content-type': `application/json; charset=${charset}` })).status).to.equal(201);
    for (const charset of ['utf-16', 'iso-8859-1', 'nonsense']) {
      const answer = await post(named('x'), { 'content-type': `application/json; charset=${charset}` });
      expect(answer.status, charset).to.equal(400);
      expect(detailOf(answer)).to.contain('body: must be in UTF-8');
    }
  });

  it('is not taken for the same under an Idempotency-Key because of characters that are no UTF-8', async () => {
    const headers = { 'idempotency-key': 'k' };
    for (const name of ['a\xe4', 'a\xf6']) {
      const answer = await post(named(name, 'latin1'), headers);
      expect([answer.status, detailOf(answer)]).to.deep.equal([
        400,
        'body: must be in UTF-8: it contains bytes of another encoding',
      ]);
    }
    expect((await post(named('a\xf6'), headers)).json).to.include({ name: 'aö' });
  });

  it('waits if it is large and 8 others of its account are arriving, which leave room when their clients leave', async () => {
    const checked = new EventEmitter();
    await using busy = await TestServer.start((store) => {
      const ring = new KeyRing(store, systemClock, { warn: () => {} });
      const key = async (hash: string) => {
        checked.emit('key');
        return ring.key(hash);
      };
      return { keys: { key } };
    });
    const { key } = await busy.tenant();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const begin = async (more: Record<string, string | number>, part: string | Buffer = '{"nam') => {
      const isChecked = once(checked, 'key');
      const call = request(busy.url + PATH, { method: 'POST', headers: { ...headers, ...more } });
      call.on('error', () => {});
      call.write(part);
      await isChecked;
      return call;
    };
    const compressed = gzipSync('{"name":"a"}').subarray(0, 12);
    const slow = [await begin({ 'content-encoding': 'gzip' }, compressed)];
    while (slow.length < 8) slow.push(await begin({ 'content-length': 100_000 }));
    let isLate = true;
    const late = busy.request('POST', PATH, key, { name: 'large', pad: 'x'.repeat(100_000) }).then((answer) => {
      isLate = false;
      return answer;
    });
    for (let n = 0; n < 5; n++) expect((await busy.request('POST', PATH, key, { name: 'small' })).status).to.equal(201);
    const other = await busy.tenant();
    const large = { name: 'large', pad: 'x'.repeat(100_000) };
    expect((await busy.request('POST', PATH, other.key, large)).status).to.equal(201);
    expect(isLate).to.equal(true);
    slow[0]?.destroy();
    expect((await late).status).to.equal(201);
    for (const call of slow) call.destroy();
  });

  it('is not carried out if the key was revoked while it arrived', async () => {
    const checked = new EventEmitter();
    await using slow = await TestServer.start((store) => {
      const ring = new KeyRing(store, systemClock, { warn: () => {} });
      const key = async (hash: string) => {
        const found = await ring.key(hash);
        checked.emit('key');
        return found;
      };
      return { keys: { key } };
    });
    const { key, accountId } = await slow.tenant();
    const model = await addedModel(slow.store, { accountId });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': 12 };
    const sent: { call: ReturnType<typeof request>; answer: Promise<IncomingMessage> }[] = [];
    for (const [method, path] of [
      ['POST', PATH],
      ['PUT', `${PATH}/${model.id}`],
    ] as const) {
      const isChecked = once(checked, 'key');
      const call = request(slow.url + path, { method, headers });
      call.write('{"nam');
      sent.push({ call, answer: once(call, 'response').then(([response]) => response as IncomingMessage) });
      await isChecked;
    }
    for (const { id } of await slow.store.keys(accountId)) await slow.store.revokeKey(id, Date.now());
    for (const { call, answer } of sent) {
      call.end('e":"a"}');
      const { statusCode, headers: got } = (await answer).resume();
      expect([statusCode, got['www-authenticate']]).to.deep.equal([401, 'Bearer']);
    }
    for await (const models of slow.store.deviceModels(accountId)) expect(models).to.deep.equal([model]);
  });
});
