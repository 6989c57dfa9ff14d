/** Interval of the checks, ms; an answer that takes longer than the second value counts as none. */
const EVERY_MS = 100;
const PATIENCE_MS = 1500;

type HealthState = 'ok' | 'false' | 'silent';

interface HealthSample {
  /** Time of the request, ms of `performance.now()`. */
  readonly at: number;
  readonly state: HealthState;
  readonly reason: string;
}

/** Asks a server repeatedly for its health: at `/v1/stream/health` or `/healthz`. */
export class HealthWatch {
  readonly samples: HealthSample[] = [];
  readonly #timer: NodeJS.Timeout;
  #asking = false;

  constructor(readonly url: string) {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** The newest answer. */
  get state(): HealthState | null {
    return this.samples.at(-1)?.state ?? null;
  }

  /**
   * Time after `from` at which it was first in one of these states, asked no later than `until`; null if it never was.
   */
  firstAfter(from: number, states: readonly HealthState[], until = Number.POSITIVE_INFINITY): number | null {
    const found = this.samples.find(({ at, state }) => at >= from && at <= until && states.includes(state));
    return found ? found.at - from : null;
  }

  /** Time after `from` from which on it stayed healthy; null if it did not. */
  wellAfter(from: number): number | null {
    if (this.state !== 'ok') return null;
    const last = this.samples.findLastIndex(({ state }) => state !== 'ok');
    return Math.max(0, (this.samples[last + 1]?.at ?? from) - from);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const at = performance.now();
    this.samples.push({ at, ...(await answerOf(this.url)) });
    this.#asking = false;
  }
}

async function answerOf(url: string): Promise<{ state: HealthState; reason: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await response.text();
    const ok = response.status === 200 && (url.endsWith('/healthz') || (JSON.parse(text) as { ok: boolean }).ok);
    return { state: ok ? 'ok' : 'false', reason: ok ? '' : text.trim() };
  } catch (error) {
    return { state: 'silent', reason: String(error) };
  }
}
