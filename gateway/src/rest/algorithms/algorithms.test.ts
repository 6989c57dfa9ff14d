import { expect } from 'chai';
import { ALGORITHMS, TestServer } from '../rest-server.fixture.js';

const ANSWERED = ALGORITHMS.map(({ id, name, slug, description }) => ({ id, name, slug, description }));

describe('algorithms', () => {
  let server: TestServer;

  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.stop());

  it('lists all algorithms, with exactly four fields, for an account that is entitled to all', async () => {
    const { key, userKey } = await server.tenant();
    for (const one of [key, userKey]) {
      const { status, json } = await server.request('GET', '/v1/algos', one);
      expect(status).to.equal(200);
      expect(json).to.deep.equal(ANSWERED);
    }
  });

  it('lists the algorithms that the account is entitled to', async () => {
    const { accountId, key } = await server.tenant();
    for (const slugs of [['spo2', 'hr-ppg'], ['gone'], []]) {
      await server.store.entitle(accountId, slugs);
      const { json } = await server.request('GET', '/v1/algos', key);
      expect(json).to.deep.equal(ANSWERED.filter(({ slug }) => slugs.includes(slug)));
    }
  });
});
