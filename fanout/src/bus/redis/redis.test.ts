import { expect } from 'chai';
import { silentLog } from '../../platform/log.fixture.js';
import { busSuite } from '../suite.js';
import { createRedisBus } from './redis.js';
import { startRedis, type TestRedis } from './redis-server.fixture.js';

describe('Redis bus', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;

  before(async () => {
    redis = await startRedis();
  });

  after(async () => {
    await redis.stop();
  });

  it('is refused where several addresses are not those of a cluster', async () => {
    const other = await startRedis();
    const bus = await createRedisBus({ url: `${redis.url},${other.url}`, log: silentLog });
    const said = await bus.probe(1000).then(
      () => 'nothing',
      (error: unknown) => String(error),
    );
    expect(said).to.include('not a cluster: give only one');
    await bus.close();
    await other.stop();
  });

  busSuite('Redis', () => ({ open: () => createRedisBus({ url: redis.url, log: silentLog }) }));
});
