import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { App } from '../app.js';
import type { Running } from '../running.js';
import { turned } from './crowd.js';
import { HealthWatch } from './health-watch.js';
import type { Place } from './place.js';
import { type ProcessSample, sampleOf, storeSize } from './process-sample.js';
import { PULSE_MODEL } from './pulse.js';
import { Random } from './random.js';
import { Site } from './site.js';
import { median, robustSlope } from './slope.js';
import { Wearer } from './wearer.js';

interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Over MongoDB and Redis, with two gateways and two fan-out nodes, instead of one gateway with the embedded store. */
  readonly mongoRedis: boolean;
  readonly devices: number;
  readonly subscribers: number;
  /** Called for each sample of the servers. */
  readonly onSample?: (sample: SoakSample) => void;
}

/** One sample of all servers. */
export interface SoakSample {
  /** Since the start. */
  readonly seconds: number;
  readonly servers: Readonly<Record<string, ProcessSample>>;
  /** Bytes; 0 where the store is not embedded. */
  readonly store: number;
  readonly wal: number;
}

interface ServerFigures {
  readonly server: string;
  /** Slope of the resident memory over the second half, kB per minute. */
  readonly rssSlope: number;
  readonly rssAtHalf: number;
  readonly rssAtEnd: number;
  readonly mostDescriptors: number;
  readonly mostHandles: number;
}

export interface SoakFigures extends Omit<SoakOptions, 'mongoRedis' | 'onSample'> {
  readonly setup: string;
  /** Numbers of sessions that began, subscriptions that began, and requests that were answered. */
  readonly sessions: number;
  readonly subscriptions: number;
  readonly requests: number;
  readonly healthLooks: number;
  readonly healthNotOk: number;
  readonly servers: readonly ServerFigures[];
  readonly storeAtEnd: number;
  readonly mostWal: number;
  readonly failures: readonly string[];
}

const SAMPLE_MS = 10_000;
const READERS = 2;
/** Number of device names: it is fixed, so the devices' rows do not grow; sessions and insights do. */
const NAMES = 200;
/** Limits. A heap that has not settled says nothing about leaks: the slope is checked from this many minutes on. */
const MOST_SLOPE = 200;
const SLOPE_FROM_MINUTES = 20;
const SPARE_DESCRIPTORS = 80;
const MOST_WAL = 64 * 2 ** 20;

/**
 * Connects and disconnects devices, subscribers and readers for a long time, and samples the resources of the servers.
 */
export async function soak(options: SoakOptions): Promise<SoakFigures> {
  const site = await Site.open(options.mongoRedis ? 'pair' : 'one', { SESSION_GRACE_MS: '10000', DASHBOARD: 'on' });
  try {
    return await new Soak(site, options).run();
  } finally {
    await site.close();
  }
}

class Soak {
  readonly #over = new AbortController();
  readonly #samples: SoakSample[] = [];
  readonly #failures: string[] = [];
  readonly #counts = { sessions: 0, subscriptions: 0, requests: 0 };
  #modelId = '';
  #nextStream = 0;

  constructor(
    readonly site: Site,
    readonly options: SoakOptions,
  ) {}

  async run(): Promise<SoakFigures> {
    const { site, options } = this;
    const { body } = await site.gateway.process.call<{ id: string }>('POST', '/v1/device-models', PULSE_MODEL);
    this.#modelId = body.id;
    setMaxListeners(0, this.#over.signal); // One for each that waits.
    const watch = new HealthWatch(site.gateway.healthUrl);
    const loops = [
      ...this.#loops(options.devices, (random, n) => this.#device(random, n)),
      ...this.#loops(options.subscribers, (random) => this.#subscriber(random)),
      ...this.#loops(READERS, (random) => this.#reader(random)),
    ];
    await this.#watch();
    this.#over.abort();
    await Promise.all(loops);
    watch.stop();
    return this.#figures(watch);
  }

  /** `count` of them at a time, each with its own random numbers, again and again until the end. */
  #loops(count: number, live: (random: Random, n: number) => Promise<void>): Promise<void>[] {
    return Array.from({ length: count }, async (_, n) => {
      const random = Random.of(this.options.seed, this.#nextStream++);
      while (!this.#over.signal.aborted)
        await live(random, n).catch((error: Error) => {
          if (!this.#over.signal.aborted && this.#failures.length < 10) this.#failures.push(error.message);
        });
    });
  }

  /** A device for about a minute: it may lose its connection, and ends its session or just disconnects. */
  async #device(random: Random, n: number): Promise<void> {
    const deviceId = `soak-${n + this.options.devices * random.below(NAMES / this.options.devices)}`;
    const wearer = new Wearer({
      deviceId,
      modelId: this.#modelId,
      addresses: turned(this.site.gateways, random.below(this.site.gateways.length)),
    });
    this.#counts.sessions++;
    try {
      await wearer.start();
      await this.#wait(10_000 + random.below(50_000));
      if (random.chance(0.5)) wearer.drop();
      await this.#wait(10_000 + random.below(50_000));
      if (random.chance(0.7)) await wearer.end(20_000);
    } finally {
      wearer.abandon();
    }
  }

  async #subscriber(random: Random): Promise<void> {
    const app = new App(turned(this.site.doors, random.below(this.site.doors.length)));
    this.#counts.subscriptions++;
    await this.#wait(5000 + random.below(55_000));
    app.close();
  }

  async #reader(random: Random): Promise<void> {
    const gateway = random.pick(this.site.gateways).process;
    const { body } = await this.#get<{ id: string }[]>(gateway, `/v1/sessions?limit=${1 + random.below(200)}`);
    if (body.length > 0) await this.#get(gateway, `/v1/sessions/${random.pick(body).id}/insights`);
    await this.#get(gateway, `/v1/insights?limit=${1 + random.below(1000)}`);
    await this.#wait(random.below(2000));
  }

  async #get<T>(gateway: Running, path: string): Promise<{ status: number; body: T }> {
    const response = await gateway.call<T>('GET', path);
    this.#counts.requests++;
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return response;
  }

  async #watch(): Promise<void> {
    const begun = performance.now();
    for (let n = 1; performance.now() - begun < this.options.minutes * 60_000; n++) {
      await setTimeout(Math.max(0, begun + n * SAMPLE_MS - performance.now()));
      const sample = await this.#look((performance.now() - begun) / 1000);
      this.#samples.push(sample);
      this.options.onSample?.(sample);
    }
  }

  async #look(seconds: number): Promise<SoakSample> {
    const { gateways, nodes, setup, dataDir } = this.site;
    const places: [string, Place][] = [
      ...gateways.map((place, n): [string, Place] => [`gateway ${n + 1}`, place]),
      ...nodes.map((place, n): [string, Place] => [`fan-out node ${n + 1}`, place]),
    ];
    const looks = places.map(async ([name, place]) => [name, await sampleOf(place.process)] as const);
    const servers = Object.fromEntries(await Promise.all(looks));
    return { seconds: Math.round(seconds), servers, ...(setup === 'one' ? storeSize(dataDir) : { store: 0, wal: 0 }) };
  }

  #figures(watch: HealthWatch): SoakFigures {
    const { seed, minutes, devices, subscribers } = this.options;
    const servers = Object.keys(this.#samples[0]?.servers ?? {}).map((server) => this.#server(server));
    const mostWal = Math.max(...this.#samples.map(({ wal }) => wal));
    const healthNotOk = watch.samples.filter(({ state }) => state !== 'ok').length;
    if (mostWal > MOST_WAL) this.#failures.push(`the log of the store grew to ${mostWal} bytes`);
    if (healthNotOk > 0) this.#failures.push(`health was not ok ${healthNotOk} times`);
    return {
      setup: this.options.mongoRedis ? 'MongoDB and Redis' : 'embedded store',
      seed,
      minutes,
      devices,
      subscribers,
      ...this.#counts,
      healthLooks: watch.samples.length,
      healthNotOk,
      servers,
      mostWal,
      storeAtEnd: this.#samples.at(-1)?.store ?? 0,
      failures: this.#failures,
    };
  }

  #server(server: string): ServerFigures {
    const half = this.#samples.slice(Math.floor(this.#samples.length / 2));
    const of = (samples: readonly SoakSample[], what: keyof ProcessSample) =>
      samples.map((sample) => sample.servers[server]?.[what] ?? 0);
    const points = half.map(({ seconds, servers }) => ({ x: seconds / 60, y: (servers[server]?.rss ?? 0) / 1024 }));
    const rssSlope = robustSlope(points);
    const mostDescriptors = Math.max(...of(this.#samples, 'descriptors'));
    const { minutes, devices, subscribers } = this.options;
    if (minutes >= SLOPE_FROM_MINUTES && rssSlope > MOST_SLOPE)
      this.#failures.push(`${server}: resident memory grows by ${Math.round(rssSlope)} kB a minute`);
    if (mostDescriptors > devices + subscribers + SPARE_DESCRIPTORS)
      this.#failures.push(`${server}: ${mostDescriptors} descriptors`);
    return {
      server,
      rssSlope,
      mostDescriptors,
      mostHandles: Math.max(...of(this.#samples, 'handles')),
      rssAtHalf: median(of(half.slice(0, 6), 'rss')) ?? 0,
      rssAtEnd: median(of(half.slice(-6), 'rss')) ?? 0,
    };
  }

  /** Waits for a time, or until the end. */
  #wait(ms: number): Promise<void> {
    return setTimeout(ms, undefined, { signal: this.#over.signal }).catch(() => {});
  }
}
