import { expect } from 'chai';
import { z } from 'zod';
import { detailOf, type Tenant, TestServer } from '../rest-server.fixture.js';
import { channel } from './schema.js';

const Channel = z.strictObject(channel.shape);
const CHANNEL = { modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 18, num_channels: 2 };

describe('modalities', () => {
  let server: TestServer;
  let tenant: Tenant;
  let path: string;

  before(async () => {
    server = await TestServer.start();
    tenant = await server.tenant();
  });
  beforeEach(async () => {
    const body = { name: 'm', modality_channels: [CHANNEL, { ...CHANNEL, modality: 'ecg' }] };
    const { json } = await server.request('POST', '/v1/device-models', tenant.key, body);
    path = `/v1/device-models/${z.object({ id: z.string() }).parse(json).id}/modalities`;
  });
  after(() => server.stop());

  const request = (method: string, rest = '', body?: unknown) => server.request(method, path + rest, tenant.key, body);
  const list = async () => z.array(Channel).parse((await request('GET')).json);

  it('GET lists the channels in their order, with their ch_id', async () => {
    const channels = await list();
    expect(channels.map(({ modality }) => modality)).to.deep.equal(['ppg_green', 'ecg']);
    expect(channels[0]).to.deep.include(CHANNEL);
  });

  it('POST adds a channel at the end and answers 201 with it; a ch_id is ignored', async () => {
    const before = await list();
    const body = { ...CHANNEL, modality: 'accel', ch_id: before[0]?.ch_id };
    const { status, json } = await request('POST', '', body);
    expect(status).to.equal(201);
    const added = Channel.parse(json);
    expect(added.ch_id).not.to.equal(before[0]?.ch_id);
    expect(await list()).to.deep.equal([...before, added]);
  });

  it('POST names missing and wrong fields', async () => {
    const answer = await request('POST', '', { ...CHANNEL, bit_depth: 0, modality: undefined });
    expect(answer.status).to.equal(400);
    expect(detailOf(answer).split('; ')).to.deep.equal([
      'modality: is missing: it must be 1 to 64 of the characters a-z, 0-9 and _',
      'bit_depth: must be an integer from 1 to 32',
    ]);
    expect(await list()).to.have.length(2);
  });

  it('POST refuses a 65th channel', async () => {
    for (let n = 2; n < 64; n++) expect((await request('POST', '', CHANNEL)).status).to.equal(201);
    const answer = await request('POST', '', CHANNEL);
    expect(answer.status).to.equal(400);
    expect(detailOf(answer)).to.contain('at most 64 channels');
  });

  it('PUT changes any subset of the fields: 200 with the channel', async () => {
    const [first, second] = await list();
    const { status, json } = await request('PUT', `/${second?.ch_id}`, { sample_rate_hz: 250.5, ch_id: first?.ch_id });
    expect(status).to.equal(200);
    expect(json).to.deep.equal({ ...second, sample_rate_hz: 250.5 });
    expect(await list()).to.deep.equal([first, { ...second, sample_rate_hz: 250.5 }]);
    expect((await request('PUT', `/${second?.ch_id}`, {})).status).to.equal(200);
  });

  it('PUT refuses wrong values, and then changes nothing', async () => {
    const before = await list();
    for (const change of [{ bit_depth: 33 }, { modality: '' }, { sample_rate_hz: null }, { num_channels: 1.5 }]) {
      expect((await request('PUT', `/${before[0]?.ch_id}`, change)).status).to.equal(400);
    }
    expect(await list()).to.deep.equal(before);
  });

  it('DELETE removes a channel: 204, then 404', async () => {
    const [first, second] = await list();
    const { status, text } = await request('DELETE', `/${first?.ch_id}`);
    expect([status, text]).to.deep.equal([204, '']);
    expect(await list()).to.deep.equal([second]);
    expect((await request('DELETE', `/${first?.ch_id}`)).status).to.equal(404);
  });

  it('answers 404 to a ch_id that is malformed, unknown, or of another model', async () => {
    const other = await server.request('POST', '/v1/device-models', tenant.key, {
      name: 'other',
      modality_channels: [CHANNEL],
    });
    const foreign = z.object({ modality_channels: z.array(Channel) }).parse(other.json).modality_channels[0]?.ch_id;
    for (const id of ['x', '11111111-2222-4333-8444-555555555555', foreign]) {
      for (const [method, body] of [
        ['PUT', {}],
        ['DELETE', undefined],
      ] as const) {
        const answer = await request(method, `/${id}`, body);
        expect(answer.status, `${method} ${id}`).to.equal(404);
        detailOf(answer);
      }
    }
  });
});
