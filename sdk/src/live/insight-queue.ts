import { seriesOf } from '../rest/history.js';
import type { LiveInsight } from './insight.js';

/** Time for which an insight is remembered, to recognize a repetition, ms of `ts`: more than a repair reads back. */
const REMEMBERED_MS = 20_000;

/** Insights on their way to the consumer: each one once, and a limited number at a time. */
export class InsightQueue {
  /** Newest `ts` received, ms; all earlier insights, except those of the last seconds, have been received too. */
  newest = Number.NEGATIVE_INFINITY;
  #waiting: LiveInsight[] = [];
  #head = 0;
  readonly #seen = new Map<string, number>();
  /** First `ts` received of each series, ms: what is older belongs to the time before the subscription. */
  readonly #first = new Map<string, number>();
  #pruneAt = 1024;

  /**
   * @param limit most waiting insights
   * @param wanted whether the consumer wants an insight
   */
  constructor(
    readonly limit: number,
    readonly wanted: (insight: LiveInsight) => boolean,
  ) {}

  get length(): number {
    return this.#waiting.length - this.#head;
  }

  get full(): boolean {
    return this.length >= this.limit;
  }

  /** Takes an insight; false if it was already received, or is older than the first one of its session and type. */
  add(insight: LiveInsight): boolean {
    const series = seriesOf(insight);
    const first = this.#first.get(series);
    const id = `${series} ${insight.ts}`;
    if (this.#seen.has(id) || insight.ts < (first ?? insight.ts)) return false;
    if (first === undefined) this.#first.set(series, insight.ts);
    this.#seen.set(id, insight.ts);
    this.newest = Math.max(this.newest, insight.ts);
    if (this.#seen.size >= this.#pruneAt) this.#prune();
    if (this.wanted(insight)) this.#waiting.push(insight);
    return true;
  }

  shift(): LiveInsight | undefined {
    const insight = this.#waiting[this.#head];
    if (!insight) return undefined;
    this.#head++;
    if (this.#head === this.#waiting.length || this.#head > 1000) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return insight;
  }

  #prune(): void {
    for (const known of [this.#seen, this.#first])
      for (const [key, ts] of known) if (ts < this.newest - REMEMBERED_MS) known.delete(key);
    this.#pruneAt = Math.max(1024, 2 * this.#seen.size);
  }
}
