import { setTimeout } from 'node:timers/promises';
import { App, type Insight } from '../app.js';
import { eventually } from '../eventually.js';
import type { StoredInsight } from '../stream.js';
import { PULSE_MODEL } from './pulse.js';
import type { Site } from './site.js';
import { Wearer } from './wearer.js';

/** Timeout for all to connect, and for all to end, ms. */
const CONNECT_MS = 60_000;

/** The load of a row: devices that stream, and subscribers that each receive all of them. */
export class Crowd {
  readonly wearers: Wearer[] = [];
  readonly apps: App[] = [];
  #modelId = '';
  /** Time at which each subscriber first received each device since `lookAgain`, ms of `performance.now()`. */
  #seen = new Map<string, Map<number, number>>();

  private constructor(private readonly site: Site) {}

  /** Connects `subscribers`, then `devices`, and resolves when every subscriber has received every device. */
  static async gather(site: Site, devices: number, subscribers: number): Promise<Crowd> {
    const crowd = new Crowd(site);
    for (let n = 0; n < subscribers; n++) {
      const app = new App(turned(site.doors, n), undefined, ({ device_id }) => crowd.#note(n, device_id));
      crowd.apps.push(app);
    }
    await eventually('all are subscribed', () => crowd.apps.every((app) => app.current !== null), CONNECT_MS);
    const { body } = await site.gateway.process.call<{ id: string }>('POST', '/v1/device-models', PULSE_MODEL);
    crowd.#modelId = body.id;
    await Promise.all(Array.from({ length: devices }, () => crowd.join()));
    await eventually('every subscriber sees every device', () => crowd.isSeen, CONNECT_MS);
    return crowd;
  }

  /** One more device; resolves once it is connected. */
  async join(): Promise<void> {
    const n = this.wearers.length;
    const addresses = turned(this.site.gateways, n);
    const deviceId = `wearer-${this.#modelId}-${n}`; // Of this crowd alone.
    const wearer = new Wearer({ deviceId, modelId: this.#modelId, addresses });
    this.wearers.push(wearer);
    await wearer.start();
  }

  /** Whether every subscriber has received every device since `lookAgain`. */
  get isSeen(): boolean {
    return this.wearers.every(({ deviceId }) => this.#seen.get(deviceId)?.size === this.apps.length);
  }

  get insights(): readonly Insight[] {
    return this.apps.flatMap((app) => app.insights);
  }

  lookAgain(): void {
    this.#seen = new Map();
  }

  /**
   * For each device, the time after `since` (ms of `performance.now()`) at which all subscribers had received it;
   * Infinity if one has not.
   */
  delays(since: number): number[] {
    return this.wearers.map(({ deviceId }) => {
      const times = [...(this.#seen.get(deviceId)?.values() ?? [])];
      return times.length === this.apps.length ? Math.max(...times) - since : Number.POSITIVE_INFINITY;
    });
  }

  /** Ends all sessions; returns the number that did not end within `ms`. */
  async end(ms: number): Promise<number> {
    const ends = await Promise.allSettled(this.wearers.map((wearer) => wearer.end(ms)));
    return ends.filter(({ status }) => status === 'rejected').length;
  }

  disperse(): void {
    for (const wearer of this.wearers) wearer.abandon();
    for (const app of this.apps) app.close();
  }

  #note(app: number, deviceId: string): void {
    const seen = this.#seen.get(deviceId) ?? new Map<number, number>();
    this.#seen.set(deviceId, seen);
    if (!seen.has(app)) seen.set(app, performance.now());
  }
}

/** A store that has just recovered may not answer at once: a 500 is retried, as the specification tells clients. */
const RETRY_MS = 500;
const RETRIES = 60;

/** All stored data of the account, page by page, as any client reads them. */
export async function readStored(url: string, key: string): Promise<StoredInsight[]> {
  const stored: StoredInsight[] = [];
  let next: string | null = '/v1/insights?since=2000-01-01T00:00:00Z&limit=1000';
  while (next !== null) {
    const response = await readPage(new URL(next, url), key);
    stored.push(...((await response.json()) as StoredInsight[]));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
  }
  return stored;
}

/** The places, beginning with another one for each `n`. */
export const turned = <T>(places: readonly T[], n: number): T[] => {
  const from = n % places.length;
  return [...places.slice(from), ...places.slice(0, from)];
};

async function readPage(url: URL, key: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (response.status === 200) return response;
    const text = await response.text();
    if (response.status !== 500 || tries === RETRIES) throw new Error(`${url.pathname}: ${response.status} ${text}`);
    await setTimeout(RETRY_MS);
  }
}
