import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import { sampleSession } from '../../store/suite/samples.js';
import { TestServer } from '../rest-server.fixture.js';
import { routes } from '../routes.js';
import { openapiText } from './document.js';
import { OPENAPI_FILE } from './routes.js';

const Answer = z.object({
  $ref: z.string().optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
});
const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  summary: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), schema: z.unknown() })).default([]),
  responses: z.record(z.string(), Answer),
});
const Document = z.object({
  openapi: z.literal('3.1.0'),
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    responses: z.record(z.string(), Answer),
  }),
});

describe('openapi.json', () => {
  const text = readFileSync(OPENAPI_FILE, 'utf8');
  const raw = JSON.parse(text) as AnySchemaObject;
  const document = Document.parse(raw);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  it('equals the output of `npm run openapi -w gateway`', () => {
    expect(text).to.equal(openapiText());
  });

  it('is served to clients with a key', async () => {
    await using server = await TestServer.start();
    const { key } = await server.tenant();
    expect((await server.request('GET', '/openapi.json', key)).json).to.deep.equal(raw);
    expect((await server.request('GET', '/openapi.json')).status).to.equal(401);
  });

  it('has an operation for every route, and a route for every operation', async () => {
    const server = await TestServer.start();
    await server.stop();
    const router = routes(server.options());
    const routed = router.stack.flatMap(({ path, methods }) =>
      methods.filter((m) => m !== 'HEAD').map((m) => `${m} ${String(path).replace(/:(\w+)/g, '{$1}')}`),
    );
    const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(described.sort()).to.deep.equal(routed.sort());
  });

  it('has operation ids from which a client can be generated', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^(list|get|create|update|delete)[A-Z]\w+$/);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations) expect(tags).to.include.members(operation.tags);
  });

  it('names every path parameter, and every possible answer of each operation', () => {
    for (const { path, operation } of operations) {
      const named = operation.parameters.filter((parameter) => parameter.in === 'path');
      const inPath = named.map(({ name }) => `{${name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).to.deep.equal(inPath);
      const expected = operation.security ? ['200'] : ['401', '500', ...(inPath.length > 0 ? ['403', '404'] : [])];
      expect(Object.keys(operation.responses), path).to.include.members(expected);
    }
  });

  it('names the headers of the answers', async () => {
    await using server = await TestServer.start();
    const { accountId, key } = await server.tenant();
    for (let n = 0; n < 2; n++) await server.store.openSession(sampleSession({ accountId }));
    for (const [status, method, path, query, sent, body] of [
      [200, 'GET', '/v1/sessions', '?limit=1', key],
      [400, 'GET', '/v1/sessions', '?limit=0', key],
      [401, 'GET', '/v1/sessions', ''],
      [201, 'POST', '/v1/device-models', '', key, { name: 'x' }],
    ] as const) {
      const answer = await server.request(method, path + query, sent, body);
      expect(answer.status).to.equal(status);
      const described = document.paths[path]?.[method.toLowerCase()]?.responses[status];
      const { headers = {} } =
        document.components.responses[described?.$ref?.split('/').pop() ?? ''] ?? described ?? {};
      const given = ['X-Request-Id', 'WWW-Authenticate', 'Link'].filter((name) => answer.headers.has(name));
      expect(Object.keys(headers), `${status}`).to.deep.equal(given);
    }
  });

  it('has schemas that accept their own examples', () => {
    let examples = 0;
    for (const [name, { examples: given = [] }] of Object.entries(document.components.schemas)) {
      const validate = validator(raw, name);
      for (const example of given as unknown[]) {
        examples++;
        expect(validate(example), `${name}: ${JSON.stringify(validate.errors)}`).to.equal(true);
      }
    }
    expect(examples).to.be.greaterThan(6);
  });

  it('agrees with the validation', async () => {
    await using server = await TestServer.start();
    const { key } = await server.tenant();
    const [request, response] = [validator(raw, 'NewDeviceModel'), validator(raw, 'DeviceModel')];
    const channel = { modality: 'ecg', sample_rate_hz: 250, bit_depth: 24, num_channels: 1 };
    const bodies = [
      { name: 'x' },
      { name: '💓'.repeat(200), modality_channels: [channel], spo2_calibration: { a: 1, b: 2 } },
      { name: '' },
      { name: '💓'.repeat(201) },
      { name: 'x', description: 1 },
      { name: 'x', modality_channels: [{ ...channel, bit_depth: 33 }] },
      { name: 'x', modality_channels: Array.from({ length: 65 }, () => channel) },
      { name: 'x', spo2_calibration: { a: 1 } },
      {},
    ];
    for (const body of bodies) {
      const { status, json } = await server.request('POST', '/v1/device-models', key, body);
      expect(status === 201, JSON.stringify(body)).to.equal(request(body));
      if (status === 201) expect(response(json), JSON.stringify(response.errors)).to.equal(true);
    }
  });
});

/** A validator of one of the document's schemas. Formats are annotations in JSON Schema 2020-12. */
function validator(document: AnySchemaObject, name: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ $ref: `#/components/schemas/${name}`, components: document.components });
}
