import { expect } from 'chai';
import type { Health } from '../../health.js';
import { TestServer } from '../rest-server.fixture.js';

describe('health', () => {
  const answer = async (health: () => Promise<Health>, method = 'GET') => {
    await using server = await TestServer.start(() => ({ health }));
    return await server.request(method, '/v1/stream/health');
  };

  it('needs no key and names the working parts', async () => {
    const { status, json } = await answer(async () => ({ ok: true, ingest: true, subscribe: true }));
    expect(status).to.equal(200);
    expect(json).to.deep.equal({ ok: true, ingest: true, subscribe: true });
  });

  it('is 200 also when a part does not work, with the reason and without the cause', async () => {
    const bad = { ok: false, ingest: false, subscribe: true, reason: 'ingest: the store is down' };
    const { status, json } = await answer(async () => ({ ...bad, cause: 'connect ECONNREFUSED 10.0.0.7:27017' }));
    expect(status).to.equal(200);
    expect(json).to.deep.equal(bad);
  });

  it('is 200 and false if the check itself fails, without internal details', async () => {
    const { status, text, json } = await answer(() => Promise.reject(new Error('secret')));
    expect(status).to.equal(200);
    expect(json).to.deep.include({ ok: false, ingest: false, subscribe: false });
    expect(text).not.to.contain('secret');
  });

  it('answers HEAD without a key, too', async () => {
    expect((await answer(async () => ({ ok: true, ingest: true, subscribe: true }), 'HEAD')).status).to.equal(200);
  });
});
