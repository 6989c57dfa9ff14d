import { REMEMBERED_MS } from '../limits.js';
import { seriesOf } from '../rest/history.js';
import type { LiveInsight } from './insight.js';

/** Insights on their way to the consumer: each one once, and a limited number at a time. */
export class InsightQueue {
  /** Newest `ts` received, ms. */
  newest = -Infinity;
  readonly #waiting: LiveInsight[] = [];
  /** Newest `ts` received of each series, ms; the series that received one last is last. */
  readonly #last = new Map<string, number>();

  /**
   * @param limit maximum number of waiting insights
   * @param wanted whether the consumer wants an insight
   */
  constructor(
    readonly limit: number,
    readonly wanted: (insight: LiveInsight) => boolean,
  ) {}

  get length(): number {
    return this.#waiting.length;
  }

  get full(): boolean {
    return this.length >= this.limit;
  }

  /** Whether an insight was received, or is older than the first one received of its session and type. */
  has(insight: Pick<LiveInsight, 'session_id' | 'type' | 'ts'>): boolean {
    return insight.ts <= (this.#last.get(seriesOf(insight)) ?? 0);
  }

  /** Takes an insight; false if it is known. Those of a session and type arrive in order of `ts`. */
  add(insight: LiveInsight): boolean {
    if (this.has(insight)) return false;
    const series = seriesOf(insight);
    this.#last.delete(series);
    this.#last.set(series, insight.ts);
    this.newest = Math.max(this.newest, insight.ts);
    for (const [oldest, ts] of this.#last) {
      if (ts >= this.newest - REMEMBERED_MS) break;
      this.#last.delete(oldest);
    }
    if (this.wanted(insight)) this.#waiting.push(insight);
    return true;
  }

  shift(): LiveInsight | undefined {
    return this.#waiting.shift();
  }
}
