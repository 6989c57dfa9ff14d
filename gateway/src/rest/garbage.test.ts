import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { detailOf, insightRow, seed, sessionRow, type Tenant, TestServer } from './rest-server.fixture.js';

const RUNS = { numRuns: 150 };

/** Numbers as a careless or hostile client writes them. */
const absurd = fc.constantFrom(1e308, -1e308, 5e-324, -0, 0, 2 ** 53, -(2 ** 53), 2 ** 31, 0.1, 64, 65, 1.5);
const value = fc.oneof(fc.jsonValue(), absurd, fc.string({ unit: 'binary', maxLength: 300 }));
/** Near to what is right: the fields of an object, each right, wrong or missing. */
const near = (right: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(right).map(([name, good]) => [name, fc.oneof(good, value)])), {
    requiredKeys: [],
  });
const channel = near({
  ch_id: fc.uuid(),
  modality: fc.stringMatching(/^[a-z0-9_]{1,64}$/),
  sample_rate_hz: fc.double({ min: 0.1, max: 10_000 }),
  bit_depth: fc.integer({ min: 1, max: 32 }),
  num_channels: fc.integer({ min: 1, max: 64 }),
});
const model = near({
  name: fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
  description: fc.string({ maxLength: 2000 }),
  firmware_version: fc.string({ maxLength: 100 }),
  modality_channels: fc.array(channel, { maxLength: 4 }),
  spo2_calibration: near({ a: fc.double(), b: fc.double(), c: fc.double() }),
});
const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  absurd.map(String),
  fc.constantFrom('', 'open', 'hr', '50', '2026-01-01T00:00Z', '%', '%00', '%ff', '+', '"'),
  fc.array(fc.jsonValue(), { maxLength: 3 }).map((v) => cursor(['insights', ...v])),
  fc.array(fc.jsonValue(), { maxLength: 3 }).map((v) => cursor(['sessions', ...v])),
  fc.constantFrom(cursor(['sessions', 1e308, '']), cursor(['insights', -1e308, 'x']), cursor(['insights', 0.5, 'NaN'])),
);

describe('the REST interface under garbage', function () {
  this.timeout(120_000); // hundreds of real requests each
  let server: TestServer;
  let tenant: Tenant;

  before(async () => {
    server = await TestServer.start();
    tenant = await server.tenant();
    const row = sessionRow(tenant.accountId, 1_763_600_000_000);
    await seed(server.store, row, [insightRow(row, 1_763_600_009_000)]);
  });
  after(() => server.stop());

  /** An answer is a success of the right shape or a refusal with a detail; never a 500. */
  async function expectSense(method: string, path: string, sent?: string, headers: Record<string, string> = {}) {
    const answer = await server.request(method, path, tenant.key, sent, headers);
    expect(answer.status, `${method} ${path} ${sent}\n${answer.text}`).to.be.oneOf([200, 201, 400, 404, 409]);
    if (answer.status >= 400) detailOf(answer);
    return answer;
  }

  it('returns accepted values exactly', async () => {
    await fc.assert(
      fc.asyncProperty(model, async (sent) => {
        const answer = await expectSense('POST', '/v1/device-models', JSON.stringify(sent));
        if (answer.status !== 201) return;
        const { id, name } = z.object({ id: z.string(), name: z.string() }).parse(answer.json);
        expect(name).to.equal(sent.name);
        expect((await server.request('GET', `/v1/device-models/${id}`, tenant.key)).json).to.deep.equal(answer.json);
      }),
      RUNS,
    );
  });

  it('gives a documented answer to any query', async () => {
    const names = fc.oneof(fc.constantFrom('limit', 'status', 'type', 'since', 'until', 'cursor'), fc.string());
    const query = fc.array(fc.tuple(names, words), { maxLength: 4 });
    const path = fc.constantFrom('/v1/sessions', '/v1/insights', '/v1/algos', '/v1/device-models');
    await fc.assert(
      fc.asyncProperty(path, query, fc.boolean(), async (to, pairs, encoded) => {
        const search = encoded
          ? String(new URLSearchParams(pairs))
          : pairs
              .map(([name, text]) => `${name}=${text}`)
              .join('&')
              .replace(/[^\x21-\x7e]|#/g, '%');
        await expectSense('GET', `${to}?${search}`);
      }),
      { numRuns: 400 },
    );
  });

  it('gives a documented answer to any header', async () => {
    const text = fc.stringMatching(/^[\x21-\x7e\xa0-\xff]{1,250}$/);
    await fc.assert(
      fc.asyncProperty(text, text, async (key, type) => {
        await expectSense('POST', '/v1/device-models', '{"name":"x"}', { 'idempotency-key': key });
        await expectSense('POST', '/v1/device-models', '{"name":"x"}', { 'content-type': type });
        const answer = await server.request('GET', '/v1/algos', undefined, undefined, { authorization: key });
        expect(answer.status).to.equal(401);
      }),
      RUNS,
    );
  });
});

function cursor(parts: unknown): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}
