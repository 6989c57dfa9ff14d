import { Redis } from 'ioredis';
import { until } from '../../platform/until.fixture.js';
import { freePort, startRedis, type TestRedis } from './redis-server.fixture.js';
import { SLOTS } from './slot.js';

/** A Redis Cluster for the tests: three masters, each with a replica. */
export interface TestCluster {
  readonly url: string;
  readonly servers: readonly ClusterServer[];
  stop(): Promise<void>;
}

export interface ClusterServer {
  readonly redis: TestRedis;
  /** A separate client of this server only. */
  readonly admin: Redis;
  readonly id: string;
  readonly clusterPort: number;
}

const MASTERS = 3;
const NODE_TIMEOUT_MS = 1000;

/** Starts a cluster; resolves once every server reports it as complete. */
export async function startCluster(): Promise<TestCluster> {
  const servers = await Promise.all(Array.from({ length: 2 * MASTERS }, startServer));
  const [first] = servers;
  if (!first) throw new Error('no server');
  const masters = servers.slice(0, MASTERS);
  for (const [index, { admin }] of masters.entries()) {
    const slots = [index, index + 1].map((share) => Math.floor((SLOTS * share) / MASTERS));
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', `${slots[0]}`, `${(slots[1] ?? 0) - 1}`);
  }
  for (const [index, { admin }] of servers.entries()) await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
  for (const { redis, clusterPort } of servers.slice(1)) {
    await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', `${redis.port}`, `${clusterPort}`);
  }
  for (const server of servers) await until(async () => (await nodes(server)).length === servers.length);
  for (const [index, { admin }] of servers.slice(MASTERS).entries()) {
    await admin.call('CLUSTER', 'REPLICATE', masters[index]?.id ?? '');
  }
  for (const server of servers) await until(() => isComplete(server));
  return {
    url: `${first.redis.url},${servers[1]?.redis.url}`,
    servers,
    stop: async () => {
      for (const { admin } of servers) admin.disconnect();
      await Promise.all(servers.map(({ redis }) => redis.stop()));
    },
  };
}

/** The server that holds a slot, according to `asked`; undefined while there is none. */
export async function masterOf(slot: number, asked: ClusterServer, all: readonly ClusterServer[]) {
  const ranges = (await asked.admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1];
  return all.find(({ redis }) => redis.port === port);
}

/** Starts a server; tries again with other ports if somebody took one of them first. */
async function startServer(): Promise<ClusterServer> {
  for (let left = 2; left > 0; left--) {
    try {
      return await tryServer();
    } catch (error) {
      console.warn(`      a server of the cluster is started again: ${String(error)}`);
    }
  }
  return tryServer();
}

async function tryServer(): Promise<ClusterServer> {
  const clusterPort = await freePort();
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', `${NODE_TIMEOUT_MS}`];
  const redis = await startRedis([...settings, '--cluster-port', `${clusterPort}`, '--repl-diskless-sync-delay', '0']);
  const admin = new Redis(redis.port, '127.0.0.1', { retryStrategy: () => 20 });
  admin.on('error', () => undefined);
  return { redis, admin, clusterPort, id: String(await admin.call('CLUSTER', 'MYID')) };
}

async function nodes({ admin }: ClusterServer): Promise<string[]> {
  return String(await admin.call('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
}

/** Whether a server sees every slot served, and three masters and three replicas connected. */
async function isComplete(server: ClusterServer): Promise<boolean> {
  const info = String(await server.admin.call('CLUSTER', 'INFO'));
  const replicas = (await nodes(server)).filter((line) => line.includes('slave') && line.includes('connected'));
  const role = String(await server.admin.call('INFO', 'replication'));
  const linked = role.includes('role:master')
    ? role.includes('connected_slaves:1')
    : role.includes('master_link_status:up');
  return info.includes('cluster_state:ok') && replicas.length === MASTERS && linked;
}
