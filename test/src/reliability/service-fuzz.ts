import { once } from 'node:events';
import { App, identity } from '../app.js';
import { eventually } from '../eventually.js';
import { Operator } from '../operator.js';
import { KEY, Running, temporaryFolder } from '../running.js';
import { readStored } from './crowd.js';
import { deviceActor, type FuzzAccount, FuzzTally, type Stage, subscriberActor } from './fuzz-actors.js';
import { restActor } from './fuzz-rest.js';
import { HealthWatch } from './health-watch.js';
import { type ProcessSample, sampleOf } from './process-sample.js';
import { HEART_RATE, PULSE_MODEL } from './pulse.js';
import { Random } from './random.js';
import { Wearer } from './wearer.js';

interface ServiceFuzzOptions {
  readonly seed: number;
  readonly ms: number;
}

export interface ServiceFuzzFigures {
  readonly seed: number;
  readonly seconds: number;
  readonly frames: number;
  readonly connections: number;
  readonly requests: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  /** Results of the good device: hr readings, the largest error (bpm), and the longest delay (ms after the data). */
  readonly good: { readonly readings: number; readonly worstBpm: number; readonly latestMs: number };
  readonly healthLooks: number;
  readonly healthNotOk: number;
  readonly before: ProcessSample;
  readonly after: ProcessSample;
  readonly failures: readonly string[];
}

const ACTORS = [
  [deviceActor, 6],
  [subscriberActor, 4],
  [restActor, 4],
] as const;
const RATES = [25, 50, 100, 250];
const MODALITIES = ['ppg_green', 'ppg_red', 'ppg_ir', 'ecg', 'accel', 'resp', 'unheard_of'];
/** Largest error of the good device's readings, bpm. */
const CLOSE_BPM = 3;
/**
 * Growth of a process's memory that is allowed when all clients have disconnected, bytes: the heap is not released at
 * once.
 */
const MEMORY_LEFT = 150 * 2 ** 20;
const DESCRIPTORS_LEFT = 20;
const LEAVE_MS = 20_000;
const MOST_FAULTS = 10;

/**
 * Sends arbitrary data to a whole service from several accounts at the same time, while one good device streams; then
 * checks all conditions.
 */
export async function fuzzService({ seed, ms }: ServiceFuzzOptions): Promise<ServiceFuzzFigures> {
  const folder = temporaryFolder();
  const env = {
    DATA_DIR: folder.path,
    DASHBOARD: 'on',
    METRICS_PORT: '0',
    SESSION_GRACE_MS: '1000',
    LOG_LEVEL: 'error',
  };
  const service = await Running.start(env);
  try {
    return await new ServiceFuzz(service, new Operator(env), seed).run(ms);
  } finally {
    await service.end('SIGKILL');
    folder.remove();
  }
}

class ServiceFuzz {
  readonly #tally = new FuzzTally();
  readonly #over = new AbortController();
  readonly #failures: string[] = [];

  constructor(
    readonly service: Running,
    readonly operator: Operator,
    readonly seed: number,
  ) {}

  async run(ms: number): Promise<ServiceFuzzFigures> {
    const { service, seed } = this;
    const accounts = await Promise.all(['ann', 'bob', 'cal'].map((name, n) => this.#account(name, Random.of(seed, n))));
    const good = await GoodDevice.connect(service);
    const before = await sampleOf(service);
    const watch = new HealthWatch(`${service.url}/v1/stream/health`);
    const stage = { url: service.url, accounts, tally: this.#tally, over: this.#over.signal };
    const seconds = await this.#play(stage, ms);
    const goodFigures = await good.judge(service, this.#failures);
    const after = await this.#afterwards(before, watch);
    watch.stop();
    const { frames, connections, requests, codes, statuses, faults } = this.#tally;
    const healthNotOk = watch.samples.filter(({ state }) => state !== 'ok').length;
    return {
      seed,
      seconds,
      frames,
      connections,
      requests,
      codes,
      statuses,
      good: goodFigures,
      healthLooks: watch.samples.length,
      healthNotOk,
      before,
      after,
      failures: [...faults.slice(0, MOST_FAULTS), ...this.#failures],
    };
  }

  async #play(stage: Stage, ms: number): Promise<number> {
    const begun = performance.now();
    let stream = 100;
    const actors = ACTORS.flatMap(([act, count]) =>
      Array.from({ length: count }, () => act(stage, Random.of(this.seed, stream++))),
    );
    const timer = setTimeout(() => this.#over.abort(), ms);
    await Promise.race([Promise.all(actors), once(this.#over.signal, 'abort')]);
    clearTimeout(timer);
    await Promise.all(actors);
    return (performance.now() - begun) / 1000;
  }

  /** Checks that the process is alive, healthy, and has released its resources. */
  async #afterwards(before: ProcessSample, watch: HealthWatch): Promise<ProcessSample> {
    const { service } = this;
    await this.#expect('health is well', () => watch.state === 'ok');
    const most = before.descriptors + DESCRIPTORS_LEFT;
    await this.#expect('descriptors are given back', async () => (await sampleOf(service)).descriptors <= most);
    await this.#expect('memory is given back', async () => (await sampleOf(service)).rss <= before.rss + MEMORY_LEFT);
    return sampleOf(service);
  }

  async #expect(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
    await eventually(what, look, LEAVE_MS).catch((error: Error) => this.#failures.push(`${error.message}`));
  }

  async #account(name: string, random: Random): Promise<FuzzAccount> {
    const { key } = await this.operator.issue(name);
    const models = [];
    for (let n = 0; n < 3; n++) {
      const channels = Array.from({ length: 1 + random.below(4) }, () => ({
        modality: random.pick(MODALITIES),
        sample_rate_hz: random.pick(RATES),
        bit_depth: 24,
        num_channels: 1 + random.below(3),
      }));
      const draft = { name: `${name}-${n}`, modality_channels: channels };
      const { body } = await this.service.call<{ id: string }>('POST', '/v1/device-models', draft, key);
      models.push({ id: body.id, channels });
    }
    return { name, key, models };
  }
}

/** A device of a separate account, and its subscriber: both must not be affected. */
class GoodDevice {
  readonly #wearer: Wearer;
  readonly #app: App;
  #latestMs = 0;
  #worstBpm = 0;
  #readings = 0;

  private constructor(service: Running, modelId: string) {
    this.#app = new App([service], KEY, () => {});
    this.#wearer = new Wearer({ deviceId: 'good-1', modelId, addresses: [service] });
  }

  static async connect(service: Running): Promise<GoodDevice> {
    const { body } = await service.call<{ id: string }>('POST', '/v1/device-models', PULSE_MODEL);
    const good = new GoodDevice(service, body.id);
    await good.#wearer.start();
    await eventually('the good device is seen', () => good.#app.insights.length > 0);
    return good;
  }

  async judge(service: Running, failures: string[]): Promise<ServiceFuzzFigures['good']> {
    await this.#wearer.end(LEAVE_MS);
    const stored = await readStored(service.url, KEY);
    await eventually('the good subscriber has all', () => this.#app.insights.length >= stored.length).catch(
      (error: Error) => failures.push(error.message),
    );
    for (const insight of stored.filter(({ type }) => type === 'hr')) this.#weigh(insight as unknown as Reading);
    const shown = new Set(this.#app.insights.map(identity));
    if (stored.some((insight) => !shown.has(identity(insight)))) failures.push('the good subscriber misses insights');
    if (this.#app.insights.some(({ device_id }) => device_id !== 'good-1'))
      failures.push('the good subscriber saw others');
    if (this.#worstBpm > CLOSE_BPM) failures.push(`the good device was read ${this.#worstBpm} bpm off`);
    if (this.#app.codes.length > 0) failures.push(`the good subscriber was closed: ${this.#app.codes}`);
    if (this.#readings < this.#wearer.acknowledgedSeconds - 3) failures.push('the good device misses readings');
    this.#app.close();
    return { readings: this.#readings, worstBpm: this.#worstBpm, latestMs: this.#latestMs };
  }

  #weigh({ value, e2e_latency_ms, actual_end }: Reading): void {
    this.#readings++;
    this.#worstBpm = Math.max(this.#worstBpm, Math.abs(value - HEART_RATE));
    if (actual_end > this.#wearer.startedAt) this.#latestMs = Math.max(this.#latestMs, e2e_latency_ms);
  }
}

interface Reading {
  readonly value: number;
  readonly e2e_latency_ms: number;
  readonly actual_end: number;
}
