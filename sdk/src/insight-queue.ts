import type { LiveInsight } from './insight.js';

/** How long an insight is remembered, to know it again when it comes a second time, ms of `ts`: more than what a repair reads back. */
const REMEMBERED_MS = 20_000;

/** Insights on their way to the consumer: each one once, at most so many at a time. */
export class InsightQueue {
  /** Newest `ts` that was taken, ms; all that came before it, but for the last seconds, has been taken too. */
  newest = Number.NEGATIVE_INFINITY;
  #waiting: LiveInsight[] = [];
  #head = 0;
  readonly #seen = new Map<string, number>();
  #pruneAt = 1024;

  /**
   * @param limit most insights that wait
   * @param wanted which ones the consumer wants
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

  /** Takes an insight; false where it has been taken before. */
  add(insight: LiveInsight): boolean {
    const id = `${insight.session_id} ${insight.type} ${insight.ts}`;
    if (this.#seen.has(id)) return false;
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
    for (const [id, ts] of this.#seen) if (ts < this.newest - REMEMBERED_MS) this.#seen.delete(id);
    this.#pruneAt = Math.max(1024, 2 * this.#seen.size);
  }
}
