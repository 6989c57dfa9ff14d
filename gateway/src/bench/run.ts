/**
 * The benchmarks of the gateway on its embedded store: it runs alone on one core, the load generator (test/load, needs Go) on another;
 * medians, with the values of each round. `node run.js [--json FILE] [part of a name]…` runs some of them; BENCH_ROUNDS is how often each
 * is measured, BENCH_DIR a folder on the disk to be measured, BENCH_NODE flags for the gateway's Node (`--cpu-prof`).
 */
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare, type Running, runLoad, saidPort, startServer } from '@device-insights/fanout/bench';
import { MeasuredGateway } from './gateway.js';
import { cpuOf, delayP99, type IngestResult, type LiveResult, runLive } from './live.js';
import { Report } from './report.js';
import { restPart } from './rest.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const BARE = fileURLToPath(new URL('bare.js', import.meta.url));
/** Header and 20 instants of three bytes: what a device sends of 200 ms. */
const FRAME_BYTES = 16 + 20 * 3;
/** 92 instants of two bytes and the header: 200 bytes. */
const FLOOD_CHANNEL = '0:100:1:int16:920';
const FLOOD_DEVICES = 50;
const DELAY_LIMIT_MS = 100;
/** A search ends when it is this near, and does not go beyond the most sessions that a gateway takes. */
const NEAR = 1.06;
const MOST_DEVICES = 16_000;

const { values: options, positionals: wanted } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
});
const loadgen = prepare() ?? process.exit(0);
const report = new Report();
const parts = new Map<string, () => Promise<void>>();

for (const devices of [1000, 3000]) {
  parts.set(`delay ${devices}`, () => delayPart(devices, false));
}
parts.set('delay 1000, busy disk', () => delayPart(1000, true));
parts.set('most', mostPart);
parts.set('cpu', cpuPart);
parts.set('growth', growthPart);
parts.set('flood', floodPart);
parts.set('rest', () => restPart(report, ROUNDS));

/** Runs every round on one gateway, each with sessions of its own, after a run that only warms its engine. */
async function rounds<T>(run: (gateway: MeasuredGateway) => Promise<T>): Promise<T[]> {
  const gateway = await MeasuredGateway.start();
  await runLive(loadgen, gateway, 1000, { delays: false });
  const results: T[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const result = await run(gateway);
    report.run(result);
    results.push(result);
  }
  await gateway.stop();
  return results;
}

async function delayPart(devices: number, busy: boolean): Promise<void> {
  const runs = await rounds((gateway) => runLive(loadgen, gateway, devices, { busy }));
  const figure = (name: string, unit: string, of: (run: LiveResult) => number) =>
    report.figure(name, unit, runs.map(of));
  figure('delay p50', 'ms', ({ delay_ms }) => delay_ms?.all?.p50 ?? Number.NaN);
  figure('delay p99', 'ms', delayP99);
  figure('event loop delay p99, as /metrics shows it', 'ms', ({ loopP99 }) => loopP99);
  figure(`fdatasync p50, ${busy ? "the other writer's" : 'before the run'}`, 'ms', ({ disk }) => disk.p50);
  figure(`fdatasync p99, ${busy ? "the other writer's" : 'before the run'}`, 'ms', ({ disk }) => disk.p99);
  conditions(runs);
}

/** How far the run can be trusted. */
function conditions(runs: readonly LiveResult[]): void {
  const figure = (name: string, of: (run: LiveResult) => number) => report.figure(name, 'cores', runs.map(of));
  figure('the process', ({ server_busy }) => server_busy);
  figure('others on its core', ({ foreign_on_server_core }) => foreign_on_server_core);
  figure("the load's core", ({ client_busy }) => client_busy);
  report.figure(
    'insights that could not be matched',
    'insights',
    runs.map(({ delay_ms }) => (delay_ms ? delay_ms.unmatched + delay_ms.unknown : 0)),
  );
}

/** The most devices whose p99 stays within the limit: doubled until it does not, then halved in between. */
async function mostPart(): Promise<void> {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) found.push(await searchMost());
  report.figure(`most devices with a delay p99 of ${DELAY_LIMIT_MS} ms at most`, 'devices', found);
}

async function searchMost(): Promise<number> {
  let good = 0;
  let bad = 0;
  for (let devices = 1000; good === 0 || bad === 0 || bad / good > NEAR; ) {
    if (await holds(devices)) good = devices;
    else bad = devices;
    if (good >= MOST_DEVICES || (good === 0 && bad < 100)) break;
    devices = bad === 0 ? good * 2 : Math.round((good || bad / 2) * Math.sqrt(bad / (good || bad / 2)));
  }
  return good;
}

/** A gateway that has fallen behind, or given up, is of no use for the next trial. */
async function holds(devices: number): Promise<boolean> {
  const gateway = await MeasuredGateway.start();
  const run = await runLive(loadgen, gateway, devices).catch((error: Error) => error);
  await gateway.stop();
  const p99 = run instanceof Error ? Number.NaN : delayP99(run);
  report.run(run instanceof Error ? { devices, failed: run.message } : run);
  console.log(`  ${devices} devices: p99 ${p99} ms`);
  return p99 <= DELAY_LIMIT_MS;
}

/** The gateway beside servers that take the same frames and do nothing with them. */
async function cpuPart(): Promise<void> {
  const devices = 1000;
  const bare = await startServer(process.execPath, [BARE], saidPort(''));
  const sinks: number[] = [];
  const echoes: number[] = [];
  const runs = await rounds(async (gateway) => {
    sinks.push(await runBare(bare, 'sink', devices));
    echoes.push(await runBare(bare, 'echo', devices));
    return runLive(loadgen, gateway, devices, { delays: false });
  });
  await bare.stop();
  const cpu = runs.map(cpuOf);
  report.figure(`CPU a session-second at ${devices} devices, whole process`, 'ms', cpu);
  report.figure('bare ws sink, the same frames', 'ms', sinks);
  report.figure('bare ws echo, the same frames', 'ms', echoes);
  report.ratio('to that of the bare ws sink', cpu, sinks);
  report.ratio('to that of the bare ws echo', cpu, echoes);
  conditions(runs);
}

/** CPU of a bare server a second of one device, ms. */
async function runBare(server: Running, protocol: 'sink' | 'echo', devices: number): Promise<number> {
  const pace = ['-d', `${devices}`, '-size', `${FRAME_BYTES}`, '-period', '200ms', '-warm', '3s', '-dur', '10s'];
  const url = `ws://127.0.0.1:${server.port}/${protocol}`;
  const result = await runLoad<IngestResult>(loadgen, 'ingest', server.pids, [
    '-proto',
    protocol,
    '-url',
    url,
    ...pace,
  ]);
  report.run({ protocol, ...result });
  return (result.server_cpu_s / (devices * result.window_s)) * 1000;
}

async function growthPart(): Promise<void> {
  const steps = [500, 1000, 2000, 4000];
  const runs = await rounds(async (gateway) => {
    const results: LiveResult[] = [];
    for (const devices of steps) results.push(await runLive(loadgen, gateway, devices, { delays: false }));
    return results;
  });
  const cpu = steps.map((_, i) => runs.map((results) => (results[i] ? cpuOf(results[i]) : Number.NaN)));
  for (const [i, devices] of steps.entries()) {
    report.figure(`CPU a session-second at ${devices} devices`, 'ms', cpu[i] ?? []);
    if (i > 0) report.ratio(`to that at ${steps[i - 1]}`, cpu[i] ?? [], cpu[i - 1] ?? []);
  }
}

async function floodPart(): Promise<void> {
  const runs = await rounds((gateway) =>
    runLoad<IngestResult>(loadgen, 'ingest', gateway.process.pids, [
      ...gateway.devices(FLOOD_DEVICES),
      ...['-flood', '-channels', FLOOD_CHANNEL, '-warm', '3s', '-dur', '5s'],
    ]),
  );
  report.figure(
    'a session-second',
    'us of CPU',
    runs.map((run) => cpuOf(run) * 1000),
  );
  report.figure(
    'session-seconds a second',
    '1/s',
    runs.map(({ data_seconds, window_s }) => data_seconds / window_s),
  );
}

if (cpus().length < 2) console.log('One core alone: server and load generator share it, and the figures say little.');
for (const [name, run] of parts) {
  if (wanted.length > 0 && !wanted.some((text) => name.includes(text))) continue;
  report.part(name);
  await run();
  if (options.json) report.save(options.json);
}
process.exit(0);
