import { silentLog } from '../../process/log.fixture.js';
import { busSuite } from '../suite.js';
import { createRedisBus } from './redis.js';
import { startRedis, type TestRedis } from './test-server.js';

describe('Redis bus', function () {
  this.timeout(120_000); // The first run may have to install the server.
  let redis: TestRedis;

  before(async () => {
    redis = await startRedis();
  });

  after(async () => {
    await redis.stop();
  });

  busSuite('Redis', () => ({ open: () => createRedisBus({ url: redis.url, log: silentLog }) }));
});
