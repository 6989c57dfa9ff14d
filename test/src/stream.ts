import { type Device, DeviceInsights, type SocketConstructor } from '@device-insights/sdk';
import { play, simulate } from '@device-insights/sdk/simulator';
import type { Insight } from './app.js';
import { KEY, type Running } from './running.js';

/** Default: times faster than real time, some thirty insights a second. */
const SPEED = 10;
/** The device's data begin so long ago, so that they never reach the future, ms. */
const AGE_MS = 3_600_000;

export interface StoredInsight extends Insight {
  readonly actual_end: number;
}

/** Interval of each type, ms of data time. */
const PERIODS = [
  ['hr', 1000],
  ['spo2', 1000],
  ['rr', 2000],
] as const;

/**
 * What a session without gaps should have stored but did not, or stored twice: per type, the windows between the first
 * and the last that do not end one interval after the one before. A type with fewer than four windows counts as missing.
 */
export function missingOf(stored: readonly StoredInsight[]): string[] {
  return PERIODS.flatMap(([type, period]) => {
    const ends = stored.filter((insight) => insight.type === type).map((insight) => insight.actual_end);
    const steps = ends.slice(1).map((end, n) => end - (ends[n] ?? 0));
    const wrong = steps.flatMap((step, n) => (step === period ? [] : [`${type}: ${step} ms after ${ends[n]}`]));
    return ends.length < 4 ? [`${type}: only ${ends.length}`] : wrong;
  });
}

interface StreamOptions {
  readonly key?: string;
  /** Times faster than real time. */
  readonly speed?: number;
  /** Instead of the plain one. */
  readonly WebSocket?: SocketConstructor;
}

/**
 * A device that streams without pause until it is told to end: a simulated wearable, played through the SDK. Each is
 * another device, so that a second try of a test does not continue the session of the first.
 */
export class Stream {
  static #count = 0;
  readonly #stop = new AbortController();
  readonly #playing: Promise<void>;

  private constructor(
    private readonly client: DeviceInsights,
    readonly device: Device,
    readonly sessionId: string,
    speed: number,
  ) {
    const startTime = Date.now() - AGE_MS;
    this.#playing = play(simulate(), device, { speed, startTime, signal: this.#stop.signal });
    this.#playing.catch(() => {}); // Told by `end`.
  }

  /** Connects to a gateway and begins. */
  static async start(
    gateway: { readonly url: string },
    { key = KEY, speed = SPEED, WebSocket }: StreamOptions = {},
  ): Promise<Stream> {
    const backoff = { baseMs: 50, maxMs: 200 };
    const client = new DeviceInsights({ baseUrl: gateway.url, apiKey: key, backoff, ...(WebSocket && { WebSocket }) });
    const { id: deviceModelId } = await client.deviceModels.create(simulate().deviceModel);
    const deviceId = `stream-${++Stream.#count}`;
    const device = client.device({ deviceId, deviceModelId, connectWithinMs: 60_000 });
    return new Stream(client, device, (await device.ready()).session_id, speed);
  }

  /** Ends the session; what is stored of it then is all. `reader` is asked for it, by default the gateway of the start. */
  async end(reader?: Running, key = KEY): Promise<StoredInsight[]> {
    this.#stop.abort();
    await this.#playing;
    await this.device.end();
    const client = reader ? new DeviceInsights({ baseUrl: reader.url, apiKey: key }) : this.client;
    return (await client.sessions.insights(this.sessionId)) as unknown as StoredInsight[];
  }

  /** Whatever the device is at. */
  abandon(): void {
    this.#stop.abort();
    this.device.close();
  }
}
