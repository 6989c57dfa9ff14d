import { List, listOf, Row, rowOf } from './row';

/** Grid samples of a template, and with those that fill the last vector. */
export const TEMPLATE: i32 = 27;
const TEMPLATE_ROW: i32 = 28;
/** Grid samples of the wave of a kind of beats: 141 ms to each side of a template's centre. */
export const WAVE: i32 = 37;
export const WAVE_ROW: i32 = 40;
/** Templates of a lead: its kinds of beats, as the usual ones, ectopic and paced ones. */
export const TEMPLATES: i32 = 3;
/** Grid samples for which evidence is kept. */
export const RECENT: i32 = 64;
export const MAX_CANDIDATES: i32 = 44;
/** Beats that are kept: 32 s at 195 bpm. */
export const MAX_BEATS: i32 = 104;

/** Levels of one feature: at beats, and the largest between beats. */
@unmanaged
export class Level {
  beat: f32;
  noise: f32;
}

/** The mean shape of one kind of beats on a lead. */
@unmanaged
export class Template {
  /** Beats in it. */
  learnt: i32;
  /** Number of its newest beat. */
  newest: i32;
  /** Where in it the R peak is, grid samples from its centre. */
  peak: f32;
  shape: Row<f32> = rowOf<f32>(TEMPLATE_ROW);
  /** The mean of the lead itself about these beats, each in parts of its size. */
  wave: Row<f32> = rowOf<f32>(WAVE_ROW);
}

/** A peak of the evidence, which may be a beat. */
@unmanaged
export class Candidate {
  /** Index of its grid sample. */
  sample: i32;
  /** Log odds that it is a beat, by its morphology alone. */
  evidence: f32;
  /** Score of the best path that ends here. */
  score: f32;
  /** RR interval that this path expects next, seconds. */
  period: f32;
  /** Number of the candidate before it on that path, plus 1; 0: the path begins here. */
  before: i32;
  /** `Lead.empty` when it came. */
  empty: i32;
  /** `Lead.flat` when it came. */
  flat: i32;
  /** `Lead.held` when it came. */
  held: i32;
  /** Kind of beats whose shape it has, at half the size of the newest beat at least, plus 1; 0: none. */
  kind: i32;
  /** Its energy over its width: about 0.5 for a usual QRS complex, 0.1 for a T wave. */
  sharpness: f32;
  /** Whether only its breadth speaks for it (an ectopic beat). */
  wide: bool;
}

/** A beat, decided. */
@unmanaged
export class Beat {
  /** Time of its R peak, seconds. */
  time: f64;
  /** Seconds since the beat before; 0: unknown (the first beat, or a gap between). */
  interval: f32;
  /** Size of the QRS complex, in units of the lead: comparable between beats. */
  amplitude: f32;
  /** Mean of the lead over 0.7 s about the R peak; NaN where a part of it is missing. */
  baseline: f32;
  /** Probability that it is a beat and that none was missed before it. */
  quality: f32;
  /** Whether the interval holds a flat line, which a QRS complex may be missing from, or noise, which one may be lost in. */
  obscured: bool;
  /** Whether it holds a short flat line, which may have replaced a QRS complex. */
  holds: bool;
  /** Found more than 0.5 s after it came, by a change of mind; not told to the host. */
  late: bool;
  /** Whether its size or length is not that of a QRS complex. */
  strange: bool;
  /** Kind of the beat: those of one kind have their R peaks at the same place. */
  kind: u8;
}

/**
 * A lead: the detector of its R peaks, which knows of no other lead. Grid samples are counted on the grid of the ecg channel; 0 stands
 * for none where 1 is added.
 */
@unmanaged
export class Lead {
  /** First grid sample with data since the start or the last long loss, plus 1. */
  start: i32;
  /** Newest grid sample with data, plus 1. */
  seen: i32;
  /** Newest grid sample without data, plus 1. */
  empty: i32;
  /** Newest grid sample of a flat line, or of one that is too smooth, plus 1. */
  flat: i32;
  /** Newest grid sample of a short flat line, plus 1. */
  held: i32;
  /** Grid samples since the value has been the same, and that value. */
  same: i32;
  value: f32;
  /**
   * Power of the newest changes from sample to sample, and of those over two samples. The first is about 0.3 of the other in an ECG, 1 in
   * white noise, 2 and more where hum of 50 or 60 Hz outweighs all else.
   */
  fast: f32;
  slow: f32;
  /** Whether the levels have been learnt. */
  ready: bool;
  /** Grid sample since which the levels have stood without finding a beat. */
  quiet: i32;
  /** Candidates added so far. */
  candidateCount: i32;
  /** Number of the newest decided candidate, plus 1. */
  decided: i32;
  /** Grid sample of the newest decided candidate. */
  lastBeat: i32;
  /** Beats so far, of which the newest MAX_BEATS are kept. */
  beatCount: i32;
  /** Time of the newest beat, seconds. */
  lastTime: f64;
  /** Where the R peak of the newest beat was, grid samples from the centre of its template. */
  offset: f32;
  /** How well the newest beats fit their template, 0 to 1; 0: not known yet. */
  fit: f32;
  /** Height of the newest beats, without hum. */
  height: f32;
  /** How far the newest beats are shifts of the level: 1 where they are stairs. */
  shift: f32;
  /** How far they are changes of the slope: near 1 where they are cusps. */
  bend: f32;
  /** Mean projection on their template between the newest beats, against theirs, in parts of that of a beat note. */
  rest: f32;
  /** Usual least energy between two beats, as noise leaves it; 0: not known yet. */
  calm: f32;
  /** Energy and breadth of beats that are usual in this session. */
  usualEnergy: f32;
  usualWidth: f32;
  /** Share of the newest intervals that something like a beat, or two, divides into equal parts, 0 to 1. */
  midway: f32;
  /** Mean projection on the template half way between the newest beats, or at thirds of the way, against theirs: 1 where beats are missed. */
  middle: f32;
  /** Newest beats in a row that no noise could hide. */
  clear: i32;
  /** Mean sign of the T waves after the newest beats, -1 to 1; near 0 where there are none. */
  waves: f32;
  energy: Level = new Level();
  /** Of the match with the template. */
  match: Level = new Level();
  /** Of the broad energy. */
  width: Level = new Level();
  templates: List<Template> = listOf<Template>(TEMPLATES);
  /** By grid sample, as a ring of RECENT: log odds of a beat there. */
  evidence: Row<f32> = rowOf<f32>(RECENT);
  /** By grid sample, as a ring of RECENT: energy over width, negative where only breadth speaks for a beat. */
  sharpness: Row<f32> = rowOf<f32>(RECENT);
  /** By grid sample, as a ring of RECENT: kind of beats whose shape the lead has there, at half the size of the newest beat at least, plus 1; 0: none. */
  kinds: Row<i32> = rowOf<i32>(RECENT);
  private candidates: Row<Candidate> = rowOf<Candidate>(MAX_CANDIDATES);
  private beats: Row<Beat> = rowOf<Beat>(MAX_BEATS);

  candidateAt(number: i32): Candidate {
    return this.candidates[<u32>number % <u32>MAX_CANDIDATES];
  }

  /** The beat of that number, oldestBeat <= number < beatCount, or the place of the next one. */
  beatAt(number: i32): Beat {
    return this.beats[<u32>number % <u32>MAX_BEATS];
  }

  /** Number of the oldest beat that is kept. */
  get oldestBeat(): i32 {
    return max(0, this.beatCount - MAX_BEATS);
  }

  /** Number of the first beat of those after a time, s; beatCount for none. */
  firstAfter(time: f64): i32 {
    let number = this.beatCount;
    while (number > this.oldestBeat && this.beatAt(number - 1).time > time) number--;
    return number;
  }
}

/** The detectors of all leads. */
@unmanaged
export class EcgState {
  /** Blocks consumed. */
  blocks: i32;
  /** The lead whose beats are told to the host, and from which respiration is read: the one that detects them best. */
  chosen: i32;
  /** Time of the newest beat that the host has read, seconds. */
  read: f64;
  /** Range of the chosen lead at the newest trusted heart rate; 0 before there is one. */
  contact: f32;
  /** Of the first ECG, as many as it has. */
  leads: List<Lead> = listOf<Lead>(0);

  get best(): Lead {
    return this.leads[this.chosen];
  }
}
