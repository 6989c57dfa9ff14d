/**
 * The benchmarks of the fan-out: servers on one core, the load generator on another; results per CPU-second of the
 * server (user and system), as raw values and as a ratio to the named baseline of the same run. `node run.js [part of a
 * name]…` runs some of them; BENCH_ROUNDS sets how often each server is measured. The load generator (test/load) needs
 * Go.
 */
import { createHash } from 'node:crypto';
import { startRedis } from '../bus/redis/redis-server.fixture.js';
import { holderWith } from '../keys/holder.fixture.js';
import { KeyCopier } from '../keys/key-copier.js';
import { silentLog } from '../platform/log.fixture.js';
import { type Comparison, compare, type Reading } from './compare.js';
import { BENCH_KEY, floor, floorFromRedis, ours, standalone } from './contenders.js';
import { chosen, prepare } from './processes.js';
import { Report } from './report.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/**
 * Short, because the machine's speed changes within seconds and should be the same for neighbouring measurements; CPU
 * time is counted in steps of 10 ms.
 */
const WINDOW = ['-settle', '100ms', '-warm', '300ms', '-dur', '800ms'];
const MANY = ['-n', '500', ...WINDOW];

const perCpu: Reading = { unit: 'deliveries per CPU-second', of: (result) => result.deliveries_per_cpu_s };
const latency: readonly Reading[] = [
  { unit: 'latency p50, ms', of: (result) => result.latency_ms.p50 },
  { unit: 'latency p99, ms', of: (result) => result.latency_ms.p99 },
  { unit: 'latency p99.9, ms', of: (result) => result.latency_ms.p999 },
  { unit: 'cores', of: (result) => result.server_busy },
];

const loadgen = prepare() ?? process.exit(0);
const report = new Report();
const parts = new Map<string, () => Promise<void>>();

function part(name: string, comparison: Omit<Comparison, 'rounds'>): void {
  parts.set(name, () => compare(loadgen, report, { rounds: ROUNDS, ...comparison }));
}

for (const burst of [1, 4, 32]) {
  part(`burst ${burst}`, {
    title: `500 subscribers, bursts of ${burst}`,
    mode: 'subscribe',
    contenders: [ours('loop'), ours('product'), ours('reference'), floor(loadgen)],
    flags: [...MANY, '-inflight', `${burst}`],
    readings: [perCpu],
  });
}

for (const burst of [1, 4, 32]) parts.set(`redis ${burst}`, () => fromRedis(burst));

async function fromRedis(burst: number): Promise<void> {
  const redis = await startRedis();
  const keys = copier(redis.url);
  await keys.start();
  await compare(loadgen, report, {
    title: `500 subscribers, bursts of ${burst}, in process and from Redis`,
    mode: 'subscribe',
    contenders: [ours('product'), standalone(redis.url), floor(loadgen), floorFromRedis(loadgen, redis.url)],
    flags: [...MANY, '-inflight', `${burst}`],
    readings: [perCpu],
    rounds: ROUNDS,
  });
  keys.close();
  await redis.stop();
}

/** A gateway's part of the key check, with one key. */
function copier(url: string): KeyCopier {
  const holder = holderWith('00000');
  const hash = createHash('sha256').update(`${BENCH_KEY}00000`).digest('hex');
  const source = { all: async () => new Map([[hash, holder]]), holder: async () => null };
  return new KeyCopier({ url, source, log: { ...silentLog, warn: console.error, error: console.error } });
}

for (const rate of [50_000, 200_000, 1_000_000]) {
  part(`latency ${rate}`, {
    title: `${rate} deliveries a second, open loop`,
    mode: 'subscribe',
    contenders: [ours('reference'), ours('product')],
    flags: ['-n', '500', '-settle', '100ms', '-warm', '1s', '-dur', '3s', '-rate', `${rate / 500}`, '-lat-every', '8'],
    readings: latency,
  });
}

/**
 * Without a limit the young generation grows by up to 32 MiB while sockets are accepted, at random; a small limit shows
 * the memory needed.
 */
const YOUNG = { 'as it comes': [], 'young generation of 1 MiB': ['--max-semi-space-size=1'] };
for (const [how, node] of Object.entries(YOUNG)) {
  part(`memory, ${how}`, {
    title: `5,000 idle subscribers, ${how}`,
    mode: 'memory',
    contenders: [ours('loop', node), ours('product', node)],
    flags: ['-n', '5000', '-mem-publish', '1', '-hold', '2s'],
    readings: [{ unit: 'bytes each', of: (result) => result.bytes_per_sub_idle }],
    fresh: true,
  });
}

part('accounts', {
  title: '10,000 accounts with one subscriber each, 100 of them in a turn',
  mode: 'subscribe',
  contenders: [ours('loop'), ours('product'), ours('reference')],
  channels: 10_000,
  flags: ['-n', '10000', '-inflight', '100', ...WINDOW],
  readings: [perCpu],
});

for (const [, run] of chosen(parts)) await run();
process.exit(0);
