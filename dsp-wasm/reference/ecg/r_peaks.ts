import { bestMatch, greatest, isMatched, type LeadState, measureLead } from './beat_measure.js';
import { BeatPath, type Candidate } from './beat_path.js';
import { around, broadened, energy, type Lead, Level, REACH, sharpened } from './features.js';

/**
 * Streaming R peak detection in plain double precision: the twin of assembly/ecg/r_peaks.ts, which explains the method.
 */

export interface Beat {
  /** Seconds. */
  readonly time: number;
  /** Found more than 0.5 s after it occurred. */
  readonly late: boolean;
}

const HZ = 128;
const BLOCK = 16;
const FIRST_END = 12;
const GUARD = 10;
const DECIDE_AGE = 48;
const DECIDE_LATEST = 64;
const LEARN_CELLS = 256;
const SEARCH_CELLS = 384;
const LOST_CELLS = 1280;
const DEAD_CELLS = 28;
const NOTHING = -1000;
const LEAST = -20;
const WIDE_RATIO = 2.5;
const CLEAR_RATIO = 2.5;
const WIDE_EVIDENCE = 5;

export class RPeaks {
  readonly beats: Beat[] = [];
  private readonly leads: LeadState[];
  private readonly path = new BeatPath();
  private end = FIRST_END;
  private start = -1;
  private seen = -1;
  private empty = -1;
  private ready = false;
  private quiet = 0;
  private lastBeat = 0;
  private lead = 0;
  private evidence: number[] = [];
  private wide: boolean[] = [];

  /** @param grids grid samples of each lead, NaN where empty */
  constructor(private readonly grids: readonly Float64Array[]) {
    this.leads = grids.map((x) => {
      const lead = (c: number) => x[c] ?? Number.NaN;
      const levels = { energy: new Level(), match: new Level(), width: new Level(1 / 8) };
      const y = remembered((c) => sharpened(lead, c));
      return { y, broad: remembered((c) => broadened(lead, c)), ...levels, templates: [] };
    });
  }

  /** Consumes the whole blocks that end at or before grid sample `limit`. */
  advance(limit: number): void {
    for (; this.end <= limit; this.end += BLOCK) this.consumeBlock(this.end);
  }

  private consumeBlock(end: number): void {
    for (let c = end - BLOCK; c < end; c++) this.watchData(c);
    if (this.start < 0) return;
    if (this.ready) this.detect(end);
    else if (end - this.start >= LEARN_CELLS + REACH) this.begin(end);
  }

  private begin(end: number): void {
    this.learnLevels(this.start + LEARN_CELLS);
    this.ready = true;
    this.quiet = this.start;
    this.evidence = [];
    for (let e = end - Math.floor((end - this.start) / BLOCK) * BLOCK; e <= end; e += BLOCK) this.detect(e);
  }

  private watchData(c: number): void {
    if (!Number.isNaN(this.grids[0]?.[c] ?? Number.NaN)) {
      if (this.start < 0) this.start = c;
      this.seen = c;
      return;
    }
    this.empty = c;
    if (this.start >= 0 && c - this.seen > LOST_CELLS) this.forget();
  }

  private forget(): void {
    this.start = -1;
    this.ready = false;
    for (const l of this.leads) l.templates = [];
    this.path.forget();
  }

  private learnLevels(end: number): void {
    for (const l of this.leads) {
      learnFrom(l.energy, (c) => energy(l.y, c), end);
      learnFrom(l.width, (c) => energy(l.broad, c), end);
      if (isMatched(l)) learnFrom(l.match, (c) => bestMatch(l, c), end);
    }
  }

  private detect(end: number): void {
    for (let c = end - BLOCK - REACH; c < end - REACH; c++) this.weigh(c);
    for (let c = end - BLOCK - REACH - GUARD; c < end - REACH - GUARD; c++) {
      const evidence = Math.min(10, Math.max(-10, this.evidence[c] ?? NOTHING));
      if (this.isPeak(c)) this.path.add(c, evidence, this.empty, this.wide[c] ?? false);
    }
    this.decide(end);
    if (end - Math.max(this.lastBeat, this.quiet) <= SEARCH_CELLS) return;
    this.quiet = end;
    this.learnLevels(end - REACH);
  }

  private weigh(c: number): void {
    const narrow = new Evidence();
    const wide = new Evidence();
    for (const l of this.leads) {
      narrow.add(l.energy, energy(l.y, c));
      wide.add(l.width, energy(l.broad, c));
      if (isMatched(l)) narrow.add(l.match, bestMatch(l, c));
    }
    const clear = Math.max(...this.leads.map((l) => l.energy.ratio)) >= CLEAR_RATIO;
    const broad = clear && wide.ratio >= WIDE_RATIO ? wide.logOdds : NOTHING;
    const bounded = broad > WIDE_EVIDENCE ? WIDE_EVIDENCE + 0.01 * (broad - WIDE_EVIDENCE) : broad;
    this.evidence[c] = Math.max(narrow.logOdds, bounded);
    this.wide[c] = narrow.logOdds < 0;
  }

  private isPeak(c: number): boolean {
    const v = this.evidence[c] ?? NOTHING;
    const near = around(c, GUARD).filter((k) => k !== c);
    return (
      v > LEAST && near.every((k) => (k < c ? v > (this.evidence[k] ?? NOTHING) : v >= (this.evidence[k] ?? NOTHING)))
    );
  }

  private decide(end: number): void {
    for (let [next] = this.path.undecided(); next !== undefined; [next] = this.path.undecided()) {
      const candidate = this.path.at(next);
      const age = end - candidate.sample;
      if (age < DECIDE_AGE) return;
      this.beats.push({ time: this.measure(candidate) / HZ, late: age > DECIDE_LATEST });
      this.lastBeat = candidate.sample;
      this.path.decide(next);
    }
  }

  /** Learns from a beat, and returns the grid sample of its R peak. */
  private measure({ sample, wide }: Candidate): number {
    const since = sample - this.lastBeat;
    const guard = Math.min(DEAD_CELLS, Math.floor((3 * since) / 10));
    const isNext = this.beats.length > 0 && since < SEARCH_CELLS;
    const between = isNext ? { from: this.lastBeat + guard, to: sample - guard } : { from: sample, to: sample };
    const peaks = this.leads.map((l) => measureLead(l, sample, wide, between, this.beats.length));
    this.chooseLead();
    return peaks[this.lead] ?? sample;
  }

  private chooseLead(): void {
    const weights = this.leads.map((l) => l.energy.weight + (isMatched(l) ? l.match.weight : 0));
    const best = weights.indexOf(Math.max(...weights));
    if ((weights[best] ?? 0) > 2 * (weights[this.lead] ?? 0)) this.lead = best;
  }
}

/** Weighted mean of the features' positions between noise and beats, and the separation of the best feature. */
class Evidence {
  ratio = 1;
  private total = 0;
  private weight = 0;

  add(level: Level, v: number): void {
    this.ratio = Math.max(this.ratio, level.ratio);
    if (Number.isNaN(v) || level.beat <= 0) return;
    this.total += level.weight * level.position(v);
    this.weight += level.weight;
  }

  get logOdds(): number {
    if (this.weight === 0) return NOTHING;
    const steepness = Math.min(40, Math.max(3, 3 * (this.ratio - 1)));
    return steepness * (this.total / this.weight - 1 / (1 + Math.sqrt(this.ratio)));
  }
}

function learnFrom(level: Level, feature: Lead, end: number): void {
  const values = Array.from({ length: LEARN_CELLS }, (_, i) => feature(end - LEARN_CELLS + i));
  const present = values.filter((v) => !Number.isNaN(v));
  const halves = [0, 1, 2, 3].map((h) => greatest(values.slice(h * 64, h * 64 + 64), 0)).sort((a, b) => b - a);
  const [first = 0, second = 0] = halves;
  if (present.length < LEARN_CELLS / 2) return;
  const mean = present.reduce((sum, v) => sum + v, 0) / present.length;
  level.begin(0.8 * Math.min(first, 2 * second), mean);
}

function remembered(f: Lead): Lead {
  const memo = new Map<number, number>();
  return (sample) => {
    const v = memo.get(sample) ?? f(sample);
    memo.set(sample, v);
    return v;
  };
}
