import type { LiveKey } from '../../src/dashboard/rows.js';
import { api } from './api.js';
import { isType, type Reading } from './readings.js';

/** State of the connection on which readings arrive. */
export type FeedState = 'connecting' | 'connected' | 'away';

interface Options {
  /** Id of the account. */
  readonly account: string;
  readonly onReading: (reading: Reading) => void;
  readonly onState: (state: FeedState) => void;
}

/** A key is renewed after this share of its lifetime. */
const RENEWED_AT = 0.7;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The previous socket stays open for this long after its successor has opened, so that no reading is missed, ms. */
const BESIDE_MS = 3000;

/**
 * The live readings of an account, from the public subscriber socket. It reconnects after a loss, and renews its key, which may
 * only subscribe, before the key expires. A reading may arrive twice.
 */
export class LiveFeed {
  #socket: WebSocket | null = null;
  #timer = 0;
  #renewal = 0;
  #failures = 0;
  #closed = false;

  constructor(private readonly options: Options) {
    options.onState('connecting');
    void this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#renewal);
    this.#socket?.close();
  }

  async #connect(): Promise<void> {
    try {
      const { key, lasts_ms } = await api<LiveKey>('POST', `/accounts/${this.options.account}/live-key`);
      if (this.#closed) return;
      clearTimeout(this.#renewal);
      this.#renewal = window.setTimeout(() => void this.#connect(), lasts_ms * RENEWED_AT);
      this.#open(key);
    } catch {
      this.#again();
    }
  }

  #open(key: string): void {
    const before = this.#socket;
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/stream/subscribe?api_key=${key}`);
    this.#socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Partial<Reading> & { status?: string };
      if (message.status === 'subscribed') {
        this.#failures = 0;
        this.options.onState('connected');
        setTimeout(() => before?.close(), BESIDE_MS);
      } else if (message.type && isType(message.type)) this.options.onReading(message as Reading);
    };
    socket.onclose = () => {
      if (this.#socket === socket && !this.#closed) this.#again();
    };
  }

  #again(): void {
    if (this.#closed) return;
    this.options.onState('away');
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++);
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#connect(), wait * (0.5 + Math.random() / 2));
  }
}
