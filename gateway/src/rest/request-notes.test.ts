import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { requestNotes } from './request-notes.js';
import { type Logged, type Tenant, TestServer } from './rest-server.fixture.js';

describe('the note of each request', () => {
  const clock = new ManualClock(0);
  const registry = new Registry();
  const lines: Logged[] = [];
  const log = { info: (fields: object, text: string) => void lines.push({ fields: { ...fields }, text }) };
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start(() => ({ observe: requestNotes(registry, log, clock) }));
    tenant = await server.tenant();
  });
  beforeEach(() => {
    clock.advance(1000);
    lines.length = 0;
  });
  after(() => server.stop());

  /** A client has its answer a moment before the server has closed it. */
  async function noted(count: number): Promise<void> {
    while (lines.length < count) await new Promise((resolve) => setImmediate(resolve));
  }

  it('has method, route, status, time, request id and the prefix of the key, but not the query or the key', async () => {
    await server.request('GET', `/v1/sessions?limit=3&api_key=${tenant.key}`, tenant.key, undefined, {
      'x-request-id': 'of-the-client',
    });
    await noted(1);
    expect(lines).to.have.length(1);
    const [{ fields, text } = { fields: {}, text: '' }] = lines;
    expect(text).to.equal('request');
    expect(fields).to.include({ method: 'GET', route: '/v1/sessions', status: 200, requestId: 'of-the-client' });
    expect(fields.keyPrefix).to.equal(tenant.key.slice(0, 8));
    expect(fields.ms).to.be.within(0, 60_000);
    expect(JSON.stringify(fields)).to.not.include('limit').and.not.include(tenant.key.slice(4));
  });

  it('has at most 100 characters of the path if no route matched the request', async () => {
    await server.request('GET', `/v1/${'x'.repeat(500)}?secret`, tenant.key);
    await noted(1);
    expect(lines[0]?.fields.path).to.equal(`/v1/${'x'.repeat(96)}`);
  });

  it('is written up to 100 times a second, then counted; requests that change data have their own limit', async () => {
    for (let round = 0; round < 13; round++)
      await Promise.all(Array.from({ length: 20 }, () => server.request('GET', '/v1/nothing')));
    await noted(100);
    const modality_channels = [{ modality: 'ppg', sample_rate_hz: 50, bit_depth: 16, num_channels: 1 }];
    const { status } = await server.request('POST', '/v1/device-models', tenant.key, {
      name: 'band',
      modality_channels,
    });
    expect(status).to.equal(201);
    await noted(101);
    expect(lines.at(-1)).to.deep.include({ text: 'change' });
    expect(lines.at(-1)?.fields).to.include({ method: 'POST', route: '/v1/device-models', status: 201 });
    clock.advance(1000);
    expect(lines.slice(101)).to.deep.equal([{ fields: { times: 160 }, text: 'repeated: request' }]);
    const counted = await registry.metrics();
    expect(counted).to.match(/_count\{method="GET",route="other",status="401"\} 260\n/);
  });
});
