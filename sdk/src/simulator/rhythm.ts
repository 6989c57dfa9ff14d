import { Course, type CourseSpec } from './course.js';
import { Random } from './random.js';

/** The course of the simulated body: rates per minute, SpO2 in per cent. */
export interface Vitals {
  /** Heart rate, bpm. */
  readonly hr: CourseSpec;
  /** Respiratory rate, breaths per minute. */
  readonly rr: CourseSpec;
  /** Oxygen saturation, %. */
  readonly spo2: CourseSpec;
}

/** Depth of respiratory sinus arrhythmia: the heart rate swings by this share with each breath. */
const RSA_DEPTH = 0.05;
/** Slow (Mayer) waves of the heart rate at 0.1 Hz: the same, smaller. */
const MAYER_DEPTH = 0.02;
const MAYER_HZ = 0.1;
/** Standard deviation of the rest of the beat-to-beat variability, in beats. */
const BEAT_JITTER = 0.008;
const JITTER_TABLE = 4096;

/**
 * Heart and lungs: phases that grow by one for each beat and each breath, after the integral pulse frequency modulation
 * model of the sinus node (Rompelman et al. 1977). All variability is a bounded shift of the phase, so that the mean
 * rate over time is exactly that of the course.
 */
export class Rhythm {
  readonly #hr: Course;
  readonly #rr: Course;
  readonly #jitter: Float64Array;
  readonly #beats = new Map<number, number>();

  constructor(vitals: Pick<Vitals, 'hr' | 'rr'>, seed: number) {
    this.#hr = new Course(vitals.hr);
    this.#rr = new Course(vitals.rr);
    const random = Random.of(seed, 0);
    this.#jitter = Float64Array.from({ length: JITTER_TABLE }, () => clamp(random.normal(), 3) * BEAT_JITTER);
  }

  /** Breaths since t = 0, growing; its fraction is the place in the breath. */
  breathPhase(t: number): number {
    return this.#rr.integral(t) / 60;
  }

  /** The respiratory wave at `t` seconds: -1 to 1. */
  breath(t: number): number {
    return Math.sin(2 * Math.PI * this.breathPhase(t));
  }

  /** Heart rate of the course, bpm. */
  rate(t: number): number {
    return this.#hr.at(t);
  }

  /** Beats since t = 0, growing; whole at an R peak. */
  beatPhase(t: number): number {
    const steady = this.#hr.integral(t) / 60;
    const hz = this.#hr.at(t) / 60;
    const rsa = ((RSA_DEPTH * this.#hr.at(t)) / this.#rr.at(t) / (2 * Math.PI)) * this.breath(t);
    const mayer = ((MAYER_DEPTH * hz) / MAYER_HZ / (2 * Math.PI)) * Math.sin(2 * Math.PI * MAYER_HZ * t);
    return steady + rsa + mayer + this.#jitterAt(steady);
  }

  /** Time of beat `number` (its R peak), seconds. */
  beatTime(number: number): number {
    const known = this.#beats.get(number);
    if (known !== undefined) return known;
    const found = this.#findBeat(number);
    this.#beats.set(number, found);
    this.#beats.delete(number - 64);
    return found;
  }

  /** R peaks from `from` up to before `until`, seconds. */
  beats(from: number, until: number): number[] {
    const times: number[] = [];
    for (let n = Math.floor(this.beatPhase(from)); ; n++) {
      const t = this.beatTime(n);
      if (t >= until) return times;
      if (t >= from) times.push(t);
    }
  }

  /** Bisection: the phase grows with time, and differs from the steady one by less than a beat. */
  #findBeat(number: number): number {
    const steady = this.#hr.range.map((hr) => (number * 60) / hr);
    let low = Math.min(...steady) - 60;
    let high = Math.max(...steady) + 60;
    while (high - low > 1e-7) {
      const middle = (low + high) / 2;
      if (this.beatPhase(middle) < number) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  #jitterAt(beats: number): number {
    const whole = Math.floor(beats);
    const share = beats - whole;
    const smooth = share * share * (3 - 2 * share);
    return this.#entry(whole) * (1 - smooth) + this.#entry(whole + 1) * smooth;
  }

  #entry(beat: number): number {
    return this.#jitter[((beat % JITTER_TABLE) + JITTER_TABLE) % JITTER_TABLE] ?? 0;
  }
}

function clamp(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}
