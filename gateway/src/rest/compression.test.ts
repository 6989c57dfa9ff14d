import { get, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { insightRow, seed, sessionRow, type Tenant, TestServer } from './rest-server.fixture.js';

describe('compressed answers', () => {
  let server: TestServer;
  let tenant: Tenant;
  let sessionId: string;

  before(async () => {
    server = await TestServer.start();
    tenant = await server.tenant();
    const session = sessionRow(tenant.accountId, 1_763_600_000_000);
    sessionId = session.id;
    const insights = Array.from({ length: 200 }, (_, n) => insightRow(session, 1_763_600_010_000 + 1000 * n));
    await seed(server.store, session, insights);
  });
  after(() => server.stop());

  /** An answer as it is on the wire. */
  function raw(path: string, accepted: string, key = tenant.key) {
    return new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'accept-encoding': accepted };
      get(`${server.url}${path}`, { headers, agent: false }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({ headers: response.headers, body: Buffer.concat(chunks) });
      }).on('error', reject);
    });
  }

  it('are JSON of more than 1 kB, whole or streamed', async () => {
    const lists = ['/v1/insights?limit=200', `/v1/sessions/${sessionId}/insights`];
    for (const path of [...lists, '/openapi.json']) {
      const [plain, small] = [await raw(path, 'identity'), await raw(path, 'gzip, deflate, br, zstd')];
      expect(plain.headers, path).not.to.have.property('content-encoding');
      const vary = `Origin, Accept-Encoding${lists.includes(path) ? ', Accept' : ''}`;
      expect(small.headers, path).to.include({ 'content-encoding': 'gzip', vary });
      expect(small.body.length, path).to.be.below(plain.body.length / 3);
      expect(gunzipSync(small.body).toString(), path).to.equal(plain.body.toString());
    }
  });

  it('are not those below 1 kB, refusals, or answers to clients that do not accept gzip', async () => {
    for (const path of ['/v1/algos', '/v1/sessions', '/v1/sessions/x', '/v1/stream/health'])
      expect((await raw(path, 'gzip')).headers, path).not.to.have.property('content-encoding');
    expect((await raw('/openapi.json', 'br')).headers).not.to.have.property('content-encoding');
    for (const accepted of ['gzip;q=0', '*;q=0', '*;q=-1', 'br, identity;q=0'])
      for (const path of ['/openapi.json', `/v1/sessions/${sessionId}/insights`]) {
        const { headers, body } = await raw(path, accepted);
        expect(headers, accepted).not.to.have.property('content-encoding');
        expect(JSON.parse(body.toString()), accepted).not.to.have.property('detail');
      }
  });
});
