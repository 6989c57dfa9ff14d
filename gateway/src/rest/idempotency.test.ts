import { type Clock, systemClock } from '@device-insights/fanout/platform/clock';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { z } from 'zod';
import { keyRow, newKey } from '../keys/key.js';
import { StoreUnavailable } from '../store/store.js';
import { detailOf, type Tenant, TestServer } from './rest-server.fixture.js';

const CHANNEL = { modality: 'ecg', sample_rate_hz: 250, bit_depth: 24, num_channels: 1 };
const idOf = (json: unknown) => z.object({ id: z.string() }).parse(json).id;

describe('Idempotency-Key', () => {
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
  });
  beforeEach(async () => {
    tenant = await server.tenant();
  });
  after(() => server.stop());

  const post = (idempotencyKey: string, body: unknown, path = '/v1/device-models', key = tenant.key) =>
    server.request('POST', path, key, body, { 'idempotency-key': idempotencyKey });
  const count = async () =>
    z.array(z.unknown()).parse((await server.request('GET', '/v1/device-models', tenant.key)).json).length;

  it('gives the first response again for the same body, with another key of the account', async () => {
    const first = await post('k', { name: 'a' });
    const key = newKey();
    await server.store.addKey(keyRow(key, { accountId: tenant.accountId, createdAt: Date.now() }));
    const again = await post('k', { name: 'a' }, undefined, key);
    expect([again.status, again.text]).to.deep.equal([201, first.text]);
    expect(again.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(again.headers.get('x-request-id')).not.to.equal(first.headers.get('x-request-id'));
    expect(await count()).to.equal(1);
  });

  it('answers 409 to a different body', async () => {
    await post('k', { name: 'a' });
    const answer = await post('k', { name: 'b' });
    expect(answer.status).to.equal(409);
    expect(detailOf(answer)).to.contain('a different body');
    expect(await count()).to.equal(1);
  });

  it('belongs to one account and one path', async () => {
    const first = await post('k', { name: 'a', modality_channels: [] });
    const second = await post('other', { name: 'a' });
    const other = await server.tenant();
    expect((await post('k', { name: 'b' }, undefined, other.key)).status).to.equal(201);
    for (const json of [first.json, second.json]) {
      const path = `/v1/device-models/${idOf(json)}/modalities`;
      const [one, again] = [await post('k', CHANNEL, path), await post('k', CHANNEL, path)];
      expect([one.status, again.text]).to.deep.equal([201, one.text]);
      expect(z.array(z.unknown()).parse((await server.request('GET', path, tenant.key)).json)).to.have.length(1);
    }
  });

  it('runs only one of several requests at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('k', { name: 'a' })));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(await count()).to.equal(1);
  });

  it('can be used again after a request that failed without effect', async () => {
    expect((await post('k', { name: '' })).status).to.equal(400);
    expect((await post('k', { name: 'good' })).status).to.equal(201);
  });

  it('does not fail a request whose response could not be saved', async () => {
    await using failing = await TestServer.start((store) => ({
      store: { ...store, saveIdempotentResponse: () => Promise.reject(new StoreUnavailable('down')) },
    }));
    const { key } = await failing.tenant();
    const headers = { 'idempotency-key': 'k' };
    expect((await failing.request('POST', '/v1/device-models', key, { name: 'a' }, headers)).status).to.equal(201);
    expect(failing.logged.map(({ text }) => text)).to.deep.equal([
      'a response could not be saved for repeated requests',
    ]);
  });

  it('is remembered for 24 h', async () => {
    const clock = new ManualClock(Date.now());
    await using later = await TestServer.start(() => ({ clock }));
    const { key } = await later.tenant();
    const headers = { 'idempotency-key': 'k' };
    const again = async () => (await later.request('POST', '/v1/device-models', key, { name: 'a' }, headers)).text;
    const first = await again();
    clock.advance(24 * 3_600_000 - 1);
    expect(await again()).to.equal(first);
    clock.advance(1);
    expect(await again()).not.to.equal(first);
  });

  it('answers 409 in the end if the first request does not finish, and when to try again', async () => {
    const hasty: Clock = { ...systemClock, after: (_, run) => systemClock.after(0, run) };
    await using stuck = await TestServer.start((store) => ({
      clock: hasty,
      store: { ...store, claimIdempotencyKey: async () => ({ state: 'pending' }) },
    }));
    const { key } = await stuck.tenant();
    const answer = await stuck.request('POST', '/v1/device-models', key, { name: 'a' }, { 'idempotency-key': 'k' });
    expect(answer.status).to.equal(409);
    expect(detailOf(answer)).to.contain('still running');
    expect(answer.headers.get('retry-after')).to.equal('30');
  });

  it('has 1 to 200 characters', async () => {
    expect((await post('x'.repeat(200), { name: 'a' })).status).to.equal(201);
    for (const key of ['', 'x'.repeat(201)]) {
      const answer = await post(key, { name: 'a' });
      expect(answer.status).to.equal(400);
      expect(detailOf(answer)).to.equal('Idempotency-Key: must be a string of 1 to 200 characters');
    }
  });

  it('is ignored for requests that are safe to repeat anyway', async () => {
    const { json } = await post('k', { name: 'a' });
    const path = `/v1/device-models/${idOf(json)}`;
    for (const name of ['b', 'c']) {
      const answer = await server.request('PUT', path, tenant.key, { name }, { 'idempotency-key': 'k' });
      expect(answer.json).to.deep.include({ name });
    }
  });
});
