/**
 * The benchmarks of the gateway on its embedded store: it runs alone on one core, the load generator (test/load, needs
 * Go) on another. Prints medians with the value of each round and the goal, if there is one. `node run.js [part of a
 * name]…` runs some of them. BENCH_ROUNDS sets the number of rounds, BENCH_DIR a folder on the disk to measure,
 * BENCH_NODE flags for the gateway's Node (`--cpu-prof`).
 */
import { fileURLToPath } from 'node:url';
import { chosen, prepare, type Running, runLoad, saidPort, startServer } from '@device-insights/fanout/bench';
import { type Goal, Report } from '@device-insights/fanout/bench-report';
import { MeasuredGateway } from './gateway.js';
import { cpuOf, delayOf, type IngestResult, type LiveResult, runLive } from './live.js';
import { restPart } from './rest.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const BARE = fileURLToPath(new URL('bare.js', import.meta.url));
/** Bytes of a frame of 200 ms: the header and 20 instants of three bytes. */
const FRAME_BYTES = 16 + 20 * 3;
/** 92 instants of two bytes and the header: 200 bytes. */
const FLOOD_CHANNEL = '0:100:1:int16:920';
const FLOOD_DEVICES = 50;
const DELAY_LIMIT_MS = 100;
/** Maximum CPU that other processes may use on the gateway's core, cores; above it, delays are not meaningful. */
const MOST_FOREIGN = 0.1;
/** A search ends at this precision, and does not exceed the most sessions of a gateway. */
const NEAR = 1.06;
const MOST_DEVICES = 16_000;

const report = new Report();
/** A part of the benchmark. */
interface Part {
  /** Approximate duration, seconds: fixed, and for each round. */
  readonly once: number;
  readonly round: number;
  run(): Promise<void>;
}
const parts = new Map<string, Part>([
  ['live 1000', { once: 40, round: 75, run: livePart }],
  ['live 3000', { once: 40, round: 80, run: manyPart }],
  ['most', { once: 200, round: 150, run: mostPart }],
  ['flood', { once: 40, round: 10, run: floodPart }],
  ['rest', { once: 90, round: 25, run: () => restPart(report, ROUNDS) }],
]);
const wanted = chosen(parts);
const loadgen = prepare() ?? process.exit(0);

/** Runs all rounds on one gateway, each with its own sessions, after a run that only warms up its engine. */
async function rounds<T>(run: (gateway: MeasuredGateway) => Promise<T>): Promise<T[]> {
  const gateway = await MeasuredGateway.start();
  try {
    await runLive(loadgen, gateway, 1000, { delays: false });
    const results: T[] = [];
    for (let round = 0; round < ROUNDS; round++) results.push(await run(gateway));
    return results;
  } finally {
    await gateway.stop();
  }
}

/** A thousand devices on a quiet and on a busy disk, and the CPU of a bare server that gets the same frames. */
async function livePart(): Promise<void> {
  const devices = 1000;
  const bare = await startServer(process.execPath, [BARE], saidPort(''));
  const runs = await rounds(async (gateway) => ({
    sink: await runBare(bare, devices),
    quiet: await runLive(loadgen, gateway, devices),
    busy: await runLive(loadgen, gateway, devices, { busy: true }),
  })).finally(() => bare.stop());
  const [quiet, busy] = [runs.map((run) => run.quiet), runs.map((run) => run.busy)];
  delays('quiet disk', quiet, { p50: ['<=', 3], p99: ['<=', 20], loop: ['<=', 20] });
  delays('busy disk', busy, { loop: ['<=', 20] });
  for (const share of ['p50', 'p99'] as const) {
    const of = (all: readonly LiveResult[]) => all.map((run) => delayOf(run, share));
    report.ratio(`delay ${share} on the busy disk, to that on the quiet one`, of(busy), of(quiet), ['<=', 3]);
  }
  const [cpu, sinks] = [quiet.map(cpuOf), runs.map(({ sink }) => sink)];
  report.figure('CPU a session-second, whole process', 'ms', cpu, ['<=', 0.17]);
  report.figure('bare ws sink, the same frames', 'ms', sinks);
  report.ratio('CPU to that of the bare ws sink', cpu, sinks, ['<=', 1.5]);
  conditions([...quiet, ...busy]);
}

async function manyPart(): Promise<void> {
  const runs = await rounds(async (gateway) => ({
    together: await runLive(loadgen, gateway, 3000),
    spread: await runLive(loadgen, gateway, 3000, { spread: true }),
  }));
  const [together, spread] = [runs.map((run) => run.together), runs.map((run) => run.spread)];
  delays('windows end together', together, { p99: ['<=', 50] });
  report.figure('CPU a session-second, whole process', 'ms', together.map(cpuOf));
  delays('windows end at any time', spread, { p99: ['<=', 50] });
  report.figure('CPU a session-second, whole process', 'ms', spread.map(cpuOf));
  conditions([...together, ...spread]);
}

function delays(
  where: string,
  runs: readonly LiveResult[],
  goals: { readonly p50?: Goal; readonly p99?: Goal; readonly loop?: Goal },
): void {
  const figure = (name: string, of: (run: LiveResult) => number, goal?: Goal) =>
    report.figure(`${where}: ${name}`, 'ms', runs.map(of), goal);
  figure('delay p50', (run) => delayOf(run, 'p50'), goals.p50);
  figure('delay p99', (run) => delayOf(run, 'p99'), goals.p99);
  figure('event loop delay p99, as in /metrics', ({ loopP99 }) => loopP99, goals.loop);
  figure('fdatasync p50', ({ disk }) => disk.p50);
  figure('fdatasync p99', ({ disk }) => disk.p99);
}

/** How reliable the run is. */
function conditions(runs: readonly LiveResult[]): void {
  const figure = (name: string, of: (run: LiveResult) => number) => report.figure(name, 'cores', runs.map(of));
  figure('the process', ({ server_busy }) => server_busy);
  figure('others on its core', ({ foreign_on_server_core }) => foreign_on_server_core);
  figure("the load's core", ({ client_busy }) => client_busy);
  if (runs.some(({ foreign_on_server_core: foreign }) => foreign > MOST_FOREIGN))
    console.log('  Other processes used its core: these delays are not those of a quiet machine.');
  report.read('insights that could not be matched', 'insights', runs, ({ delay_ms }) =>
    delay_ms ? delay_ms.unmatched + delay_ms.unknown : 0,
  );
}

/** The most devices, which begin at any time, whose p99 stays within the limit. */
async function mostPart(): Promise<void> {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) found.push(await searchMost(found.at(-1) || 1000));
  report.figure(`most devices with a delay p99 of ${DELAY_LIMIT_MS} ms at most`, 'devices', found, ['>=', 5000]);
}

/** Steps up or down until the limit is between two steps, then bisects. */
async function searchMost(start: number): Promise<number> {
  const [low, high] = start === 1000 ? [0.5, 2] : [0.85, 1.18];
  let good = 0;
  let bad = Number.POSITIVE_INFINITY;
  for (let devices = start; bad / good > NEAR && devices >= 100; ) {
    if (await holds(devices)) good = devices;
    else bad = devices;
    if (good >= MOST_DEVICES) break;
    const between = good > 0 && bad < Number.POSITIVE_INFINITY;
    devices = Math.round(between ? Math.sqrt(good * bad) : devices * (good > 0 ? high : low));
  }
  return good;
}

/** Whether a gateway serves this many devices. Each trial has a new one, because a gateway that falls behind disturbs the next trial. */
async function holds(devices: number): Promise<boolean> {
  const gateway = await MeasuredGateway.start();
  const run = await runLive(loadgen, gateway, devices, { spread: true }).catch((error: Error) => error);
  await gateway.stop();
  const p99 = run instanceof Error ? Number.NaN : delayOf(run, 'p99');
  console.log(`  ${devices} devices: p99 ${p99} ms`);
  return p99 <= DELAY_LIMIT_MS;
}

/** CPU time of a bare server for a second of one device, ms. */
async function runBare(server: Running, devices: number): Promise<number> {
  const pace = ['-d', `${devices}`, '-size', `${FRAME_BYTES}`, '-period', '200ms', '-warm', '3s', '-dur', '10s'];
  const flags = ['-proto', 'sink', '-url', `ws://127.0.0.1:${server.port}/`, ...pace];
  const result = await runLoad<IngestResult>(loadgen, 'ingest', server.pids, flags);
  return (result.server_cpu_s / (devices * result.window_s)) * 1000;
}

async function floodPart(): Promise<void> {
  const runs = await rounds((gateway) =>
    runLoad<IngestResult>(loadgen, 'ingest', gateway.process.pids, [
      ...gateway.devices(FLOOD_DEVICES),
      ...['-flood', '-channels', FLOOD_CHANNEL, '-warm', '3s', '-dur', '5s'],
    ]),
  );
  report.read('a session-second', 'us of CPU', runs, (run) => cpuOf(run) * 1000, ['<=', 40]);
  report.read('session-seconds a second', '1/s', runs, ({ data_seconds, window_s }) => data_seconds / window_s);
}

const seconds = wanted.reduce((sum, [, { once, round }]) => sum + once + ROUNDS * round, 0);
console.log(`${ROUNDS} rounds of ${wanted.map(([name]) => name).join(', ')}: about ${Math.ceil(seconds / 60)} minutes`);
for (const [name, part] of wanted) {
  report.part(name);
  await part.run().catch((error: Error) => report.failed(error.message));
}
report.summary();
process.exit(0);
