/**
 * The benchmarks of the fan-out: each server in a fresh process on one core, the load generator on another; deliveries per CPU-second
 * of the server, raw and as a ratio to the named baseline of the same run. `node run.js [part of a name]…` runs some of them.
 * LOADGEN is the folder of the load generator's source (Go); default: ../shared/loadgen beside the repository.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../bus/redis-server.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SERVER = fileURLToPath(new URL('server.js', import.meta.url));
const SERVER_CORE = '0';
const LOAD_CORE = '1';
const KEY = `svc_${'0'.repeat(22)}`;
/** Ratios of several rounds are compared by their median: the order of the servers turns from round to round. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);

interface Running {
  readonly pid: number;
  readonly port: number;
  stop(): void;
}

/** What the load generator prints, as far as it is used here. */
interface Result {
  readonly deliveries_per_cpu_s: number;
  readonly server_busy: number;
  readonly lost: number;
  readonly latency_ms: Readonly<Record<string, number>>;
  readonly bytes_per_sub_idle: number;
}

process.setMaxListeners(0); // Each child process is killed with us.
const loadgen = buildLoadgen();

function buildLoadgen(): string {
  const source = resolve(process.env.LOADGEN ?? join(ROOT, '../shared/loadgen'));
  if (!existsSync(source)) {
    console.log(`No load generator at ${source}: set LOADGEN to the folder of its source.`);
    process.exit(0);
  }
  const binary = join(mkdtempSync(join(tmpdir(), 'fanout-bench-')), 'loadgen');
  execFileSync('go', ['build', '-o', binary, '.'], { cwd: source, stdio: 'inherit' });
  return binary;
}

async function startServer(name: string, env: NodeJS.ProcessEnv = {}): Promise<Running> {
  if (name.startsWith('floor')) return startFloor(env.REDIS_URL);
  const child = pinned(SERVER_CORE, process.execPath, ['--expose-gc', SERVER, name], env);
  return running(child, Number(await firstLine(child)));
}

async function startFloor(redisUrl: string | undefined): Promise<Running> {
  const port = await freePort();
  const from = redisUrl ? ['-redis', new URL(redisUrl).host, '-channel', 'di:live:00000'] : [];
  const child = pinned(SERVER_CORE, loadgen, ['floor', '-listen', `127.0.0.1:${port}`, '-write', ...from], {});
  await firstLine(child);
  return running(child, port);
}

function running(child: ChildProcess, port: number): Running {
  return { pid: child.pid ?? 0, port, stop: () => child.kill('SIGKILL') };
}

function pinned(core: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn('taskset', ['-c', core, command, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk) => resolve(String(chunk).trim()));
    child.once('exit', () => reject(new Error('the server ended before it listened')));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Runs the load generator against a server; `args` are its flags. */
async function load(mode: string, server: Running, args: readonly string[]): Promise<Result> {
  const child = pinned(LOAD_CORE, loadgen, [mode, '-pids', `${server.pid}`, ...args], {});
  let printed = '';
  for await (const chunk of child.stdout ?? []) printed += chunk;
  return JSON.parse(printed) as Result;
}

/** Subscribers of all `channels`, and a publisher through the server's own door. */
function socketFlags(name: string, server: Running, channels = 1): string[] {
  const url = `ws://127.0.0.1:${server.port}/stream/subscribe?api_key=${KEY}{c}`;
  const publisher = ['-pub-url', `ws://127.0.0.1:${server.port}/pub`, '-channels', `${channels}`];
  return name === 'floor'
    ? ['-url', url, ...publisher]
    : ['-url', url, ...publisher, '-ready', 'subscribed', '-pub-prefix', '{c}'];
}

/** A publisher that speaks to Redis as a gateway would. */
function redisFlags(name: string, server: Running, redisUrl: string): string[] {
  const url = `ws://127.0.0.1:${server.port}/stream/subscribe?api_key=${KEY}{c}`;
  const to = ['-pub-url', `tcp://${new URL(redisUrl).host}`, '-pub-channel', 'di:live:00000'];
  if (name !== 'redis') return ['-url', url, ...to, '-pub', 'redis'];
  return ['-url', url, '-ready', 'subscribed', ...to, '-pub', 'spublish', '-pub-prefix', '1 bench {seq} - [200]\n'];
}

type Flags = (name: string, server: Running) => string[];

/** Runs each server once a round, in turning order, and prints raw figures and the median ratio to the first. */
async function compare(
  title: string,
  mode: string,
  names: readonly string[],
  flags: Flags,
  read: Reading,
  env = {},
): Promise<void> {
  const raw = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const server = await startServer(name, env);
      const result = await load(mode, server, flags(name, server));
      server.stop();
      raw.get(name)?.push(read.value(result));
      if (read.note) console.log(`  ${name}: ${read.note(result)}`);
    }
  }
  report(title, raw, read);
}

interface Reading {
  readonly unit: string;
  value(result: Result): number;
  note?(result: Result): string;
}

function report(title: string, raw: ReadonlyMap<string, number[]>, { unit }: Reading): void {
  const [baseline] = raw.keys();
  const base = raw.get(baseline ?? '') ?? [];
  console.log(`\n${title} (${unit}; ratio to ${baseline})`);
  for (const [name, values] of raw) {
    const ratio = median(values.map((value, round) => value / (base[round] ?? Number.NaN)));
    console.log(
      `  ${name.padEnd(10)} ${ratio.toFixed(3).padStart(8)}   ${values.map((value) => Math.round(value)).join('  ')}`,
    );
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const perCpu: Reading = { unit: 'deliveries per CPU-second', value: (result) => result.deliveries_per_cpu_s };

const benches: Record<string, () => Promise<void>> = {};

for (const burst of [1, 4, 32]) {
  benches[`burst ${burst}`] = () =>
    compare(
      `500 subscribers, bursts of ${burst}`,
      'subscribe',
      ['loop', 'product', 'reference', 'floor'],
      (name, server) => [...socketFlags(name, server), '-n', '500', '-inflight', `${burst}`],
      perCpu,
    );
}

for (const burst of [1, 4, 32]) {
  benches[`redis ${burst}`] = async () => {
    const redis = await startRedis();
    await compare(
      `500 subscribers, bursts of ${burst}, from Redis`,
      'subscribe',
      ['redis', 'floor-redis'],
      (name, server) => [...redisFlags(name, server, redis.url), '-n', '500', '-inflight', `${burst}`],
      perCpu,
      { REDIS_URL: redis.url },
    );
    await redis.stop();
  };
}

for (const rate of [50_000, 200_000, 1_000_000]) {
  benches[`latency ${rate}`] = () =>
    compare(
      `${rate} deliveries a second, open loop`,
      'subscribe',
      ['reference', 'product'],
      (name, server) => [...socketFlags(name, server), '-n', '500', '-rate', `${rate / 500}`, '-lat-every', '8'],
      {
        unit: 'p99, ms',
        value: (result) => result.latency_ms.p99 ?? Number.NaN,
        note: (result) =>
          `busy ${result.server_busy}, lost ${result.lost}, latency ${JSON.stringify(result.latency_ms)}`,
      },
    );
}

benches.memory = () =>
  compare(
    '5,000 idle subscribers',
    'memory',
    ['loop', 'product'],
    (name, server) => [...socketFlags(name, server), '-n', '5000', '-mem-publish', '1'],
    { unit: 'bytes each', value: (result) => result.bytes_per_sub_idle },
  );

benches.accounts = () =>
  compare(
    '10,000 accounts with one subscriber each',
    'subscribe',
    ['loop', 'product', 'reference'],
    (name, server) => [...socketFlags(name, server, 10_000), '-n', '10000', '-inflight', '100'],
    perCpu,
  );

const wanted = process.argv.slice(2);
if (cpus().length < 2) console.log('One core alone: server and load generator share it, and the figures say little.');
for (const [name, run] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.some((part) => name.includes(part))) await run();
}
process.exit(0);
