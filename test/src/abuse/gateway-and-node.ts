import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { startFanoutNode } from '../fanout-node.js';
import { Running, temporaryFolder } from '../running.js';
import type { ServerProcess } from '../server-process.js';

/** A gateway and a stand-alone fan-out node on one Redis, which run for the tests of the suite that calls this. */
export class GatewayAndNode {
  gateway!: Running;
  node!: ServerProcess;

  constructor() {
    const folder = temporaryFolder();
    let redis: TestRedis | undefined;
    before(async () => {
      redis = await startRedis();
      this.gateway = await Running.start({ DATA_DIR: folder.path, REDIS_URL: redis.url, METRICS_PORT: '0' });
      this.node = await startFanoutNode({ REDIS_URL: redis.url });
    }).timeout(600_000); // The first run may have to install the server.
    after(async () => {
      await Promise.all([this.gateway?.end('SIGKILL'), this.node?.end('SIGKILL')]);
      await redis?.stop();
      folder.remove();
    });
  }
}
