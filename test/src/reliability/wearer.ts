import { type Device, DeviceInsights, type SocketConstructor } from '@device-insights/sdk';
import WebSocket from 'ws';
import { KEY } from '../running.js';
import { pulse, RATE_HZ } from './pulse.js';

/** Data that a device has when it first connects, seconds: its readings begin at once. */
const HISTORY_S = 10;
const FRAME_MS = 1000;
/** Timeout of the first connection: many wearers come at once, ms. */
const CONNECT_MS = 60_000;

interface WearerOptions {
  readonly deviceId: string;
  readonly modelId: string;
  /** Gateways; each attempt to connect uses the next one. */
  readonly addresses: readonly { readonly url: string; readonly wsUrl: string }[];
  readonly key?: string;
}

/**
 * A device of the SDK that streams a pulse in real time, one frame of one second each second, and keeps the messages
 * that it receives.
 */
export class Wearer {
  readonly deviceId: string;
  /** Device time of its first sample, ms. */
  readonly epoch = Date.now() - HISTORY_S * 1000;
  readonly codes: number[] = [];
  readonly sessions = new Set<string>();
  readonly device: Device;
  /** All lower numbers were received or given up, according to the service. */
  acknowledged = 0;
  /** Time at which it began to send, ms: older data are history. */
  startedAt = 0;
  #sent = 0;
  #socket: WebSocket | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor({ deviceId, modelId, addresses, key = KEY }: WearerOptions) {
    this.deviceId = deviceId;
    const [first] = addresses;
    const client = new DeviceInsights({
      baseUrl: first?.url ?? '',
      apiKey: key,
      backoff: { baseMs: 50, maxMs: 500 },
      WebSocket: this.#follow(addresses),
    });
    this.device = client.device({ deviceId, deviceModelId: modelId, connectWithinMs: CONNECT_MS });
    this.device.closed.then(() => clearInterval(this.#timer));
  }

  /** Whole seconds of data that the service has acknowledged. */
  get acknowledgedSeconds(): number {
    return Math.floor(this.acknowledged / RATE_HZ);
  }

  /** Sends its history, then continues in real time; resolves once it is connected. */
  async start(): Promise<void> {
    await this.device.ready();
    this.startedAt = Date.now();
    this.#sendUntil(this.startedAt);
    this.#timer = setInterval(() => this.#sendUntil(Date.now()), FRAME_MS);
  }

  /** Loses its connection, as a phone does when it leaves the Wi-Fi. */
  drop(): void {
    this.#socket?.terminate();
  }

  /** Sends the remaining data and ends the session; rejects if the service does not confirm this within `ms`. */
  async end(ms: number): Promise<void> {
    clearInterval(this.#timer);
    const late = setTimeout(() => this.device.close(), ms);
    try {
      await this.device.end();
    } finally {
      clearTimeout(late);
    }
  }

  /** Stops everything at once. */
  abandon(): void {
    clearInterval(this.#timer);
    this.device.close();
  }

  #sendUntil(now: number): void {
    for (; this.epoch + (this.#sent / RATE_HZ) * 1000 + FRAME_MS <= now; this.#sent += RATE_HZ) {
      const ts = this.epoch + (this.#sent / RATE_HZ) * 1000;
      this.device.send({ channel: 0, seq: this.#sent, ts, samples: pulse(this.#sent, RATE_HZ) });
    }
  }

  /** A WebSocket that connects to the next address each time, and reports its messages. */
  #follow(addresses: WearerOptions['addresses']): SocketConstructor {
    let attempts = 0;
    const told = (socket: WebSocket) => {
      this.#socket = socket;
      socket.on('message', (data) => this.#hear(String(data)));
      socket.on('close', (code) => this.codes.push(code));
    };
    const Following = class extends WebSocket {
      constructor(address: string) {
        const { pathname, search } = new URL(address);
        super(`${addresses[attempts++ % addresses.length]?.wsUrl}${pathname}${search}`);
        told(this);
      }
    };
    return Following as unknown as SocketConstructor; // Its events carry more than the browser's.
  }

  #hear(text: string): void {
    const message = JSON.parse(text) as { type: string; session_id?: string; next_seq?: Record<string, number> };
    if (message.type === 'ready' && message.session_id) this.sessions.add(message.session_id);
    if (message.type === 'ack') this.acknowledged = Math.max(this.acknowledged, message.next_seq?.[0] ?? 0);
  }
}
