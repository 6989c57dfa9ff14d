import { REASONS, type Reason } from '@device-insights/contract/ingest';
import { AT_REST, type InsightType } from '../insight.js';

/** What one algorithm says of a window without a trusted reading. */
export interface Verdict {
  readonly reason: Reason;
  /** Confidence of its reading; 0 if there is none. */
  readonly confidence: number;
  /** Slug of the algorithm. */
  readonly algorithm: string;
  /** What was seen that makes the reason, by name. */
  readonly seen: Readonly<Record<string, number>>;
}

/** A type of insight that has no trusted reading now. */
export interface NoReading extends Omit<Verdict, 'confidence'> {
  readonly insight: InsightType;
}

/** Data time without a trusted reading after which its reason is stated, seconds. */
const STATED_AFTER_S: Readonly<Record<InsightType, number>> = { hr: 20, spo2: 20, rr: 60, hrv: 90, rhythm: 90 };
/** Minimum time between two statements for a type, seconds. */
const STATED_EVERY_S = 10;
/** Share of the former windows' votes that is kept from window to window: about 10 windows of memory. */
const KEPT = 0.9;
/** A stated reason gives way to another one with more votes by this factor: two that alternate do not flap. */
const CLEARLY = 2;

/**
 * Finds the reason why there is no trusted reading of one type. Each step without a trusted reading is a vote for the
 * reason of the algorithm that came closest to one.
 */
export class NoReadingWatch {
  /** End of the newest trusted reading, or start of the first data, seconds since the session's first instant. */
  #since: number | null = null;
  #wasTrusted = false;
  readonly #votes = new Map<Reason, { votes: number; verdict: Verdict }>();
  #stated: NoReading | null = null;
  #statedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly insight: InsightType) {}

  /** Why there is no trusted reading; null if there is one, or its lack is too short. */
  get stated(): NoReading | null {
    return this.#stated;
  }

  /**
   * Notes a step.
   * @param start start of the session's data, seconds
   * @param end end of the windows, seconds
   * @param verdicts of the algorithms, at least one; null for a trusted reading
   */
  note(start: number, end: number, verdicts: readonly (Verdict | null)[]): void {
    this.#since ??= start;
    if (verdicts.includes(null)) {
      this.#wasTrusted = true;
      this.#since = Math.max(this.#since, end);
      this.#votes.clear();
      this.#stated = null;
      return;
    }
    this.#vote(verdicts);
    if (end - this.#since >= STATED_AFTER_S[this.insight]) this.#state(end);
  }

  /**
   * States the reason at the end of a session that never had a trusted reading, however short it was (of hr, spo2 and rr).
   * @param otherwise the reason if there was no window
   */
  end(otherwise: Verdict): void {
    if (this.#wasTrusted || this.#stated || AT_REST.has(this.insight)) return;
    this.#say(this.#mostVoted() ?? otherwise);
  }

  #vote(verdicts: readonly (Verdict | null)[]): void {
    const closest = verdicts.reduce((best, each) => (each && (!best || isCloser(each, best)) ? each : best), null);
    if (!closest) return;
    for (const vote of this.#votes.values()) vote.votes *= KEPT;
    const votes = (this.#votes.get(closest.reason)?.votes ?? 0) + 1;
    this.#votes.set(closest.reason, { votes, verdict: closest });
  }

  #state(end: number): void {
    const most = this.#mostVoted();
    if (!most || this.#stated?.reason === most.reason || end - this.#statedAt < STATED_EVERY_S) return;
    const former = this.#stated ? (this.#votes.get(this.#stated.reason)?.votes ?? 0) : 0;
    if ((this.#votes.get(most.reason)?.votes ?? 0) < CLEARLY * former) return;
    this.#statedAt = end;
    this.#say(most);
  }

  #say({ confidence: _, ...verdict }: Verdict): void {
    this.#stated = { insight: this.insight, ...verdict };
  }

  #mostVoted(): Verdict | null {
    let most: { votes: number; verdict: Verdict } | null = null;
    for (const vote of this.#votes.values()) if (!most || vote.votes > most.votes) most = vote;
    return most?.verdict ?? null;
  }
}

/** Whether a verdict came closer to a reading: by its confidence, or else by the later reason. */
function isCloser(one: Verdict, other: Verdict): boolean {
  if (one.confidence !== other.confidence) return one.confidence > other.confidence;
  return REASONS.indexOf(one.reason) > REASONS.indexOf(other.reason);
}
