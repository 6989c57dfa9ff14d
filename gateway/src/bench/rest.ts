import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, type Running, saidPort, startServer } from '@device-insights/fanout/bench';
import type { Report } from '@device-insights/fanout/bench-report';
import { systemClock } from '@device-insights/fanout/platform/clock';
import type { StoredInsight } from '../insight.js';
import { provideKey } from '../keys/first-key.js';
import { openEmbeddedStore } from '../store/embedded/embedded.js';
import type { Session, Store } from '../store/store.js';
import { partOf, sampleInsight, sampleSession } from '../store/suite/samples.js';
import { dataFolder, KEY, MeasuredGateway } from './gateway.js';

const INSIGHTS = 1_000_000;
const PART = 2000;
const OTHERS_EVERY_MS = 20;
const BARE = fileURLToPath(new URL('bare-rest.js', import.meta.url));

/** Result of reading a whole session. */
interface Reading {
  readonly seconds: number;
  /** CPU of the server, seconds. */
  readonly cpu: number;
  readonly bytes: number;
  /** Largest RSS meanwhile, bytes. */
  readonly resident: number;
  /** Durations of other clients' requests meanwhile, ms. */
  readonly others: readonly number[];
}

/** One session of a million insights: speed of reading it, memory used, and waiting time of other clients. */
export async function restPart(report: Report, rounds: number): Promise<void> {
  const folder = dataFolder();
  const session = await fill(folder);
  const gateway = await MeasuredGateway.start(folder);
  const bare = await startServer(process.execPath, [BARE, join(folder, 'device-insights.db'), session], saidPort(''));
  const path = `/v1/sessions/${session}/insights`;
  const before = resident(gateway.process);
  const [readings, bareReadings, shared]: [Reading[], Reading[], Reading[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    readings.push(await read(gateway.process, path));
    bareReadings.push(await read(bare, '/'));
    shared.push(await read(gateway.process, path, '/v1/sessions?limit=1'));
  }
  await bare.stop();
  await gateway.stop();
  const [seconds, bareSeconds] = [readings.map((it) => it.seconds), bareReadings.map((it) => it.seconds)];
  const [cpu, bareCpu] = [readings.map((it) => it.cpu), bareReadings.map((it) => it.cpu)];
  report.read('one session', 'MB', readings, ({ bytes }) => bytes / 1e6);
  report.figure('time', 's', seconds);
  report.figure('time of bare Koa with the same driver', 's', bareSeconds);
  report.ratio('time to that of bare Koa', seconds, bareSeconds, ['<=', 0.91]);
  report.ratio('CPU to that of bare Koa', cpu, bareCpu);
  report.read('memory growth at most', 'MB', readings, (reading) => (reading.resident - before) / 1e6, ['<=', 50]);
  report.read('others wait meanwhile, median', 'ms', shared, ({ others }) => median(others));
  report.read('others wait meanwhile, at most', 'ms', shared, ({ others }) => Math.max(...others), ['<=', 31]);
}

/** Fills a new store directly; returns the session's id. */
async function fill(folder: string): Promise<string> {
  const store = await openEmbeddedStore(folder, systemClock);
  const session = await openSession(store);
  const { id, epoch } = session;
  for (let from = 0; from < INSIGHTS; from += PART) {
    const insights = Array.from({ length: PART }, (_, i) => insight(session, from + i));
    await store.commit([partOf(session, insights)]);
  }
  await store.closeSession(id, epoch, session.startedAt + INSIGHTS * 1000);
  await store.close();
  return id;
}

async function openSession(store: Store): Promise<Session> {
  const now = Date.now();
  await provideKey(store, KEY, now);
  const account = await store.accountNamed('default');
  if (!account) throw new Error('there is no account');
  const session = sampleSession({ accountId: account.id, deviceId: 'bench', startedAt: now - INSIGHTS * 1000 });
  await store.openSession(session);
  return session;
}

function insight(session: Session, i: number): StoredInsight {
  const fields = { value: 60 + (i % 600) / 10, confidence: (i % 1000) / 1000, coverage: 1 };
  return sampleInsight(session, session.startedAt + i * 1000, undefined, fields);
}

async function read(server: Running, path: string, othersPath?: string): Promise<Reading> {
  let most = 0;
  let reads = true;
  const others = othersPath === undefined ? Promise.resolve([]) : askMeanwhile(server, othersPath, () => reads);
  const watch = setInterval(() => {
    most = Math.max(most, resident(server));
  }, 50);
  const [start, cpuBefore] = [performance.now(), cpuOf(server)];
  const bytes = await download(server, path);
  const [seconds, cpu] = [(performance.now() - start) / 1000, cpuOf(server) - cpuBefore];
  reads = false;
  clearInterval(watch);
  return { seconds, cpu, bytes, resident: most, others: await others };
}

async function askMeanwhile(server: Running, path: string, goesOn: () => boolean): Promise<number[]> {
  const taken: number[] = [];
  while (goesOn()) {
    const start = performance.now();
    await download(server, path);
    taken.push(performance.now() - start);
    await setTimeout(OTHERS_EVERY_MS);
  }
  return taken;
}

function download({ port }: Running, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${KEY}` } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${path} was answered ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
  });
}

/** RSS of the server itself. */
function resident({ pids: [pid] }: Running): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** CPU time of all threads, user and system; the kernel counts in steps of 10 ms. */
function cpuOf({ pids: [pid] }: Running): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [utime = '', stime = ''] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(utime) + Number(stime)) / 100;
}
