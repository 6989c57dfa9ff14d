import { startRedis, type TestRedis } from '@device-insights/fanout/test-redis';
import { startTestMongo, type TestMongo } from '@device-insights/gateway/test-mongo';
import { environmentOf } from './compose.js';
import { startNginx, type TestNginx } from './nginx.js';
import { Place } from './reliability/place.js';
import { KEY, type Running } from './running.js';

const hostOf = ({ url }: { readonly url: string }) => new URL(url).host;

/** The service of docker-compose.yml as processes: gateways and fan-out nodes behind nginx, over MongoDB and Redis. */
export class Cluster {
  private constructor(
    private readonly mongo: TestMongo,
    private readonly redis: TestRedis,
    readonly gateways: readonly [Place<Running>, Place<Running>],
    readonly nodes: readonly [Place, Place],
    readonly proxy: TestNginx,
  ) {}

  /**
   * Starts everything, with the environment of the compose file except for addresses.
   * @param database a name that no other test uses
   * @param more variables that replace those of the compose file
   */
  static async start(database: string, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const [mongo, redis] = await Promise.all([startTestMongo(), startRedis()]);
    const local = { HOST: '127.0.0.1', REDIS_URL: redis.url, LOG_LEVEL: 'warn', ...more };
    const store = { MONGODB_URI: mongo.uri(database), BOOTSTRAP_API_KEY: KEY };
    const gateway = (name: string) => Place.gateway({ ...environmentOf(name), ...local, ...store });
    const node = (name: string) => Place.node({ ...environmentOf(name), ...local, LOG_LEVEL: 'info' });
    const gateways = [await gateway('gateway-1'), await gateway('gateway-2')] as const;
    const nodes = await Promise.all([node('fanout-1'), node('fanout-2')]);
    const proxy = await startNginx({
      'gateway-1:8080': hostOf(gateways[0]),
      'gateway-2:8080': hostOf(gateways[1]),
      'fanout-1:8090': hostOf(nodes[0]),
      'fanout-2:8090': hostOf(nodes[1]),
    });
    return new Cluster(mongo, redis, gateways, nodes, proxy);
  }

  async close(): Promise<void> {
    await this.proxy.stop();
    for (const place of [...this.gateways, ...this.nodes]) await place.close();
    await this.redis.stop();
    await this.mongo.stop();
  }
}
