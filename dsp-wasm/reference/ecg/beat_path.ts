/** The best path through candidate beats in plain double precision: the twin of assembly/ecg/beat_path.ts. */

const HZ = 128;
const SHORTEST = 0.24;
const SHORTEST_WIDE = 0.36;
const LONGEST = 2.6;
const STEADINESS = 20;
const SURPRISE = 4;
const REACH_BACK = 40;

export interface Candidate {
  readonly sample: number;
  /** Log odds that it is a beat, by its morphology alone. */
  readonly evidence: number;
  /** Newest grid sample without data when the candidate was added. */
  readonly empty: number;
  /** Whether the evidence comes only from its breadth. */
  readonly wide: boolean;
  score: number;
  period: number;
  before: number;
}

export class BeatPath {
  private candidates: Candidate[] = [];
  private decided = -1;

  add(sample: number, evidence: number, empty: number, wide: boolean): void {
    this.candidates.push({ sample, evidence, empty, wide, score: 0, period: 0.8, before: -1 });
    this.link(this.candidates.length - 1);
  }

  forget(): void {
    this.candidates = [];
    this.decided = -1;
  }

  at(number: number): Candidate {
    const candidate = this.candidates[number];
    if (!candidate) throw new RangeError(`there is no candidate ${number}`);
    return candidate;
  }

  /** Candidates after the newest decided one on the best path, ascending. */
  undecided(): number[] {
    let end = this.decided;
    let score = 0;
    for (let p = Math.max(this.decided + 1, this.candidates.length - REACH_BACK); p < this.candidates.length; p++) {
      if (this.at(p).score <= score) continue;
      score = this.at(p).score;
      end = p;
    }
    const path: number[] = [];
    for (let p = end; p > this.decided; p = this.at(p).before) path.unshift(p);
    return path;
  }

  decide(number: number): void {
    this.decided = number;
    this.at(number).score = 0;
    for (let p = number + 1; p < this.candidates.length; p++) this.link(p);
  }

  private link(number: number): void {
    const candidate = this.at(number);
    candidate.before = -1;
    let best = this.scoreOfBeginning(number);
    for (let p = number - 1; p >= Math.max(0, this.decided, number - REACH_BACK); p--) {
      const score = this.scoreThrough(p, candidate);
      if (score <= best) continue;
      best = score;
      candidate.before = p;
    }
    candidate.score = best + candidate.evidence;
    candidate.period = this.periodAfter(number);
  }

  private scoreOfBeginning(number: number): number {
    if (this.decided < 0) return 0;
    const since = (this.at(number).sample - this.at(this.decided).sample) / HZ;
    return number - this.decided > REACH_BACK || since > LONGEST ? -SURPRISE : Number.NEGATIVE_INFINITY;
  }

  private scoreThrough(p: number, candidate: Candidate): number {
    const { sample, score, period, before } = this.at(p);
    const interval = (candidate.sample - sample) / HZ;
    if (interval > LONGEST || interval < (candidate.wide ? SHORTEST_WIDE : SHORTEST)) return Number.NEGATIVE_INFINITY;
    if (before < 0) return score;
    return score - Math.min(SURPRISE, (STEADINESS * (interval - period) ** 2) / (interval * period));
  }

  private periodAfter(number: number): number {
    const candidate = this.at(number);
    if (candidate.before < 0) return number > 0 ? this.at(number - 1).period : 0.8;
    const { sample, period, before } = this.at(candidate.before);
    const interval = (candidate.sample - sample) / HZ;
    if (before < 0 && interval < 1.6) return Math.max(0.28, interval);
    const bounded = Math.min(1.65 * period, Math.max(0.6 * period, interval));
    return Math.min(1.6, Math.max(0.28, period + 0.2 * (bounded - period)));
  }
}
